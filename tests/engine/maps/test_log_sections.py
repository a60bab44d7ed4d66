"""A log of several programs, one after the other, is told by its sections; lines that are mixed make none."""

from brimgate.engine.maps.log_sections import log_sections


def server(count: int) -> list[str]:
    return [
        f"2026-03-0{1 + at // 400} 10:{at // 60 % 60:02}:{at % 60:02},120 INFO [main] served {at}"
        for at in range(count)
    ]


def worker(count: int) -> list[str]:
    return [
        f"26/02/11 08:{at // 60 % 60:02}:{at % 60:02} WARN queue.Worker: {at} jobs left"
        for at in range(count)
    ]


def test_sections_are_told_with_their_lines_times_and_an_example() -> None:
    lines = [*server(600), *worker(500), "    at queue.Worker.run(Worker.java:12)"]
    assert [one.text for one in log_sections(lines)] == [
        "1-600: 2026-03-01 10:00:00 … 2026-03-02 10:09:59: INFO [main] served 0…",
        "601-1101: 26/02/11 08:00:00 … 26/02/11 08:08:19: WARN queue.Worker: 0 jobs left…",
    ]


def test_one_line_of_another_form_is_no_section() -> None:
    lines = server(600)
    lines[300] = worker(1)[0]
    assert log_sections(lines) == []


def test_services_that_write_in_turns_make_no_sections() -> None:
    lines = [line for pair in zip(server(300), worker(300), strict=True) for line in pair]
    assert log_sections(lines) == []


def test_a_log_of_one_form_and_odd_text_have_none() -> None:
    assert (
        log_sections(server(300)) == log_sections([]) == log_sections(["", "\x00", "2026-99-99"] * 50) == []
    )
