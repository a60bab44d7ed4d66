"""The side that clients talk to."""
