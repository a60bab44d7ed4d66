"""Attributes and sequences that are computed on access."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, overload

_T = TypeVar("_T")


class lazy(Generic[_T]):  # noqa: N801  # used as a decorator, like `property`
    """`functools.cached_property` without its lock, which all instances share until Python 3.12.

    Work on a large answer in one thread must not block work on a small one in another. Two threads that ask the
    same instance at the same time both compute the value and get equal results.
    """

    def __init__(self, work_out: Callable[[Any], _T]) -> None:
        self._work_out = work_out
        self.__doc__ = work_out.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "lazy[_T]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...
    def __get__(self, instance: object | None, owner: type) -> "lazy[_T] | _T":
        if instance is None:
            return self
        value = self._work_out(instance)
        instance.__dict__[self._name] = value
        return value


class LazySequence(Sequence[_T]):
    """A sequence whose parts are made each time they are asked for."""

    def part(self, at: int) -> _T:
        """Return one part; `at` is between 0 and the length."""
        raise NotImplementedError

    @overload
    def __getitem__(self, at: int) -> _T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[_T]: ...
    def __getitem__(self, at: int | slice) -> _T | Sequence[_T]:
        if isinstance(at, slice):
            return [self.part(one) for one in range(*at.indices(len(self)))]
        at = at if at >= 0 else at + len(self)
        if not 0 <= at < len(self):
            raise IndexError(at)
        return self.part(at)
