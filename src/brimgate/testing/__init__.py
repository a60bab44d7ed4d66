"""Public fakes and generated data: real shapes and sizes, deterministic, for tests and demos."""

from brimgate.testing.bookings import bookings

__all__ = ["bookings"]
