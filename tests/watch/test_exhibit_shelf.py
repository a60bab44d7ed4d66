"""Which answers are kept to be looked at: the largest of each hour, and of equal ones the newest."""

from brimgate.watch.exhibit import EACH_HOUR, Exhibit, ExhibitShelf


def exhibit(at: float, tokens: int = 5_000) -> Exhibit:
    return Exhibit(at, tokens, int(at // 3_600), "ann", "crm", "list", "{}", "sent")


def test_of_answers_of_one_size_the_newest_are_kept() -> None:
    shelf = ExhibitShelf()
    for at in range(26):
        shelf.add(exhibit(float(at)))
    kept = [at for at in range(26) if shelf.find(float(at), 5_000)]
    assert kept == list(range(26 - EACH_HOUR, 26))


def test_a_larger_answer_stays_when_smaller_ones_come() -> None:
    shelf = ExhibitShelf()
    shelf.add(exhibit(0.0, 90_000))
    for at in range(1, 30):
        shelf.add(exhibit(float(at)))
    assert shelf.find(0.0, 90_000)
