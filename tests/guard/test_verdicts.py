"""What is remembered of tokens: one check for all who show the same one, whenever they come."""

import asyncio

import pytest

from brimgate.errors import Unauthenticated
from brimgate.guard.principal import Principal
from brimgate.guard.verdicts import Verdicts

ANN = Principal("token:1", "ann")


class Counted:
    """A check that counts how often it is made."""

    def __init__(self, refusal: Unauthenticated | None = None) -> None:
        self.made, self._refusal = 0, refusal

    async def __call__(self) -> tuple[Principal, float]:
        self.made += 1
        await asyncio.sleep(0)
        if self._refusal is not None:
            raise self._refusal
        return ANN, 100.0


@pytest.mark.parametrize("turns", range(6))
def test_who_comes_as_a_check_ends_costs_no_second_one(turns: int) -> None:
    """They saw nothing known before, and ask only now: the answer may have come in between."""

    async def main() -> None:
        verdicts, check = Verdicts(100, 100), Counted()
        first = asyncio.ensure_future(verdicts.settle("f", check))
        for _ in range(turns):
            await asyncio.sleep(0)
        assert await verdicts.settle("f", check) == ANN
        assert await first == ANN
        assert check.made == 1

    asyncio.run(main())


def test_who_comes_after_a_refusal_is_refused_without_a_check() -> None:
    async def main() -> None:
        verdicts, check = Verdicts(100, 100), Counted(Unauthenticated("unknown"))
        for _ in range(2):
            with pytest.raises(Unauthenticated):
                await verdicts.settle("f", check)
        assert check.made == 1

    asyncio.run(main())
