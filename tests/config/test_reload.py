"""A file that changes under a running relay: what is right applies to the next call, what is wrong changes nothing."""

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.config.running import SERVER, gateway, upstream_yaml
from tests.relay.conversation import record_of
from tests.relay.rawclient import RawClient

RELOADS = int(os.environ.get("BRIMGATE_RELOADS", "400"))


def sized(size: int | str, more: str = "") -> str:
    return f"context_protection: {{default_page_size: {size}}}\n{more}"


def shown(client: RawClient) -> int:
    return record_of(client.call("rows", count=150)["result"])["shown"]["items"]


def awaited(client: RawClient, event: str) -> str:
    """The next line of the log about this; those before it are forgotten."""
    client.log.clear()
    return client.wait_for_log(event)


def running(path: Path, *options: str, **settings: Any) -> RawClient:
    client = gateway("--config", str(path), *options, **settings)
    client.greet()
    return client


# However a file is changed


def written_in_place(path: Path, text: str) -> None:
    path.write_text(text)


def written_in_pieces(path: Path, text: str) -> None:
    """Opened, emptied, written bit by bit: what stands there in between must not count."""
    with path.open("w") as file:
        for part in text:
            file.write(part)
            file.flush()


def renamed_over(path: Path, text: str) -> None:
    other = path.with_suffix(".new")
    other.write_text(text)
    other.replace(path)


def renamed_over_with_an_old_date(path: Path, text: str) -> None:
    other = path.with_suffix(".old")
    other.write_text(text)
    os.utime(other, (1_000_000_000, 1_000_000_000))
    other.replace(path)


def deleted_and_made_again(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text)


def moved_away_and_made_again(path: Path, text: str) -> None:
    path.rename(path.with_suffix(".bak"))
    path.write_text(text)


WAYS = [
    written_in_place,
    written_in_pieces,
    renamed_over,
    renamed_over_with_an_old_date,
    deleted_and_made_again,
    moved_away_and_made_again,
]


def test_a_file_applies_to_the_next_call_however_it_was_changed(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(sized(30))
    with running(path) as client:
        now = shown(client)
        for number, change in enumerate([*WAYS, *reversed(WAYS), *WAYS]):
            size = 5 + number
            change(path, sized(size))
            assert f"default_page_size: {now} → {size}" in awaited(client, "config_reloaded"), change
            now = shown(client)
            assert now == size, change


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")
def test_a_link_that_leads_elsewhere_applies_as_kubernetes_does_it(tmp_path: Path) -> None:
    """f.yaml → ..data/f.yaml, and ..data → a folder of the day: only the link in the middle is swapped."""
    for size in (5, 6, 7):
        (tmp_path / f"..day{size}").mkdir()
        (tmp_path / f"..day{size}" / "f.yaml").write_text(sized(size))
        os.utime(tmp_path / f"..day{size}" / "f.yaml", (1_000_000_000, 1_000_000_000))
    (tmp_path / "..data").symlink_to("..day5")
    path = tmp_path / "f.yaml"
    path.symlink_to("..data/f.yaml")
    with running(path) as client:
        assert shown(client) == 5
        for size in (6, 7, 5):
            (tmp_path / "..data_tmp").symlink_to(f"..day{size}")
            (tmp_path / "..data_tmp").replace(tmp_path / "..data")
            line = awaited(client, "config_reloaded")
            assert shown(client) == size
            assert float(line.split("latency_ms=")[1]) < 60_000, (
                "counted from the swap, not from the file's date"
            )


def test_of_two_files_of_one_size_within_a_moment_the_last_applies(tmp_path: Path) -> None:
    """Also where the file's time does not tell them apart: it is set to the same here."""
    path = tmp_path / "f.yaml"
    path.write_text(sized(10))
    with running(path) as client:
        for round_ in range(10):
            first, last = 20 + round_, 40 + round_
            for size in (first, last):
                path.write_text(sized(size))
                os.utime(path, (1_700_000_000, 1_700_000_000))
            while f"→ {last}" not in awaited(client, "config_reloaded"):
                pass
            assert shown(client) == last


def test_a_file_that_is_gone_leaves_what_is_in_force_until_there_is_one_again(tmp_path: Path) -> None:
    path, watched = tmp_path / "f.yaml", tmp_path / "g.yaml"
    path.write_text(sized(5))
    with running(path) as client:
        path.unlink()
        assert shown(client) == 5
        watched.write_text(sized(6))
        watched.replace(path)
        awaited(client, "config_reloaded")
        assert shown(client) == 6


def test_a_file_that_is_empty_and_stays_so_means_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(sized(5))
    with running(path) as client:
        path.write_text("")
        assert "5 → auto" in awaited(client, "config_reloaded")
        assert shown(client) > 50


@pytest.mark.skipif(sys.platform == "win32", reason="sh")
def test_a_file_that_changes_while_the_relay_starts_applies(tmp_path: Path) -> None:
    """Its server changes it, which is started as soon as the file has been read."""
    path = tmp_path / "f.yaml"
    path.write_text(sized(5))
    (tmp_path / "new.yaml").write_text(sized(6))
    command = ["sh", "-c", f'mv {tmp_path}/new.yaml {path}; exec "$@"', "sh", *SERVER]
    with running(path, command=command) as client:
        awaited(client, "config_reloaded")
        assert shown(client) == 6


# What is wrong


WRONG_FILES = [
    (
        "context_protection:\n  default_page_size: 0\n",
        "f.yaml:2: context_protection.default_page_size: must be",
    ),
    (
        "context_protection:\n  default_page_sise: 3\n",
        "f.yaml:2: context_protection.default_page_sise: unknown key",
    ),
    (
        "context_protection:\n  default_page_size: 50\n  max_page_size: 3\n",
        "f.yaml:2: context_protection.default_page_size: 50 is more",
    ),
    ("context_protection: {default_page_size: 3", "f.yaml:2: not YAML"),
    ("upstreams: {a: {}}\n", "f.yaml:1: upstreams.a.command: is missing"),
    ("\0", "f.yaml:1: a character that YAML does not allow"),
    ("[" * 200_000, "f.yaml:1: nested deeper than 20 levels"),
]


def test_a_wrong_file_is_refused_with_its_line_and_key_and_the_one_before_stays(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(sized(5))
    with running(path) as client:
        for number, (text, says) in enumerate(WRONG_FILES):
            # In one step: a writer that is held up for long after it has emptied the file is another test.
            renamed_over(path, text)
            line = awaited(client, "config_rejected")
            assert " brimgate: ERROR config_rejected " in line and says in line
            assert shown(client) == 5 + number
            renamed_over(path, sized(6 + number))
            awaited(client, "config_reloaded")
            assert shown(client) == 6 + number


# What a change is, and is not


def test_the_log_tells_what_changed_and_no_secret(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    arguments = [*SERVER[1:], "--token", "hunter2", "--api-key=hunter2", "https://me:hunter2@host/"]
    text = upstream_yaml(args=arguments, env={"A": "hunter2", "B": "same"})
    path.write_text(text + "log_format: json\n")
    with running(path, command=[]) as client:
        path.write_text(text.replace("hunter2", "hunter3") + "log_format: json\n" + sized(5))
        changed = json.loads(awaited(client, "config_reloaded"))
        assert changed["changes"] == [
            "upstreams.faulty.args: changed",
            "upstreams.faulty.env.A: changed",
            "context_protection.default_page_size: auto → 5",
        ]
        needed = json.loads(client.wait_for_log("config_needs_restart"))
        assert needed["keys"] == ["upstreams.faulty.args", "upstreams.faulty.env.A"]
        path.write_text(text.replace("hunter2", "hunter4").replace('"env"', '"enw"'))
        awaited(client, "config_rejected")
        assert shown(client) == 5
        client.close()
        with pytest.raises(EOFError):
            client.wait_for_log("never said")
        assert not any("hunter" in line for line in client.log)


def test_another_order_of_patterns_applies(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text('tools: {"r*": {page_size: 3}, "*s": {page_size: 4}}')
    with running(path) as client:
        assert shown(client) == 4
        path.write_text('tools: {"*s": {page_size: 4}, "r*": {page_size: 3}}')
        assert "context_protection.tools: in another order" in awaited(client, "config_reloaded")
        assert shown(client) == 3


def test_environment_and_command_line_go_before_a_changed_file_too(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(sized(5))
    with running(path, "--set", "default_page_size=9", env={"BRIMGATE_ROLLOUT": "100"}) as client:
        path.write_text("context_protection: {default_page_size: 6, rollout: 0, chunk_size: 77}\n")
        line = awaited(client, "config_reloaded")
        assert "chunk_size: auto → 77" in line and "page_size" not in line and "rollout" not in line
        assert shown(client) == 9


def test_the_level_of_the_log_changes_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("log_level: error\n")
    with running(path) as client:
        assert shown(client) > 50
        path.write_text("log_level: info\n")
        assert "log_level: error → info" in awaited(client, "config_reloaded")
        assert shown(client) > 50
        assert "tool=rows" in client.wait_for_log("tool=rows")


def test_a_call_under_way_keeps_the_rules_it_began_with(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(sized(5))
    with running(path) as client:
        held = client.begin("tools/call", {"name": "hold"})
        client.call("echo")
        path.write_text(sized(6))
        awaited(client, "config_reloaded")
        later = client.begin("tools/call", {"name": "release"})
        sizes = [record_of(client.answer_to(key)["result"])["shown"]["items"] for key in (held, later)]
        assert sizes == [5, 6]


@pytest.mark.parametrize(
    ("before", "after", "seen"),
    [
        pytest.param(
            "read_tool: more",
            "read_tool: less",
            lambda client: client.request("tools/list")["result"]["tools"][-1]["name"],
        ),
        (
            "max_result_bytes: 100000",
            "max_result_bytes: 70000",
            lambda client: "result" in client.call("too_long", bytes=80_000),
        ),
    ],
)
def test_what_is_only_read_at_the_start_stays_and_the_log_says_so(
    before: str, after: str, seen: Callable[[RawClient], Any], tmp_path: Path
) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(f"{before}\n")
    with running(path) as client:
        first = seen(client)
        path.write_text(f"{after}\n{sized(5)}")
        assert after.split(":")[0] in awaited(client, "config_needs_restart")
        assert shown(client) == 5
        assert seen(client) == first


# The bar


class Load(threading.Thread):
    """Calls without a pause; every answer is kept as the size of its page, or as what was wrong with it."""

    def __init__(self, client: RawClient) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._over = threading.Event()
        self.sizes: list[int] = []
        self.failures: list[Any] = []

    def run(self) -> None:
        while not self._over.is_set():
            answer = self._client.call("rows", count=120)
            try:
                self.sizes.append(record_of(answer["result"])["shown"]["items"])
            except (KeyError, TypeError):
                self.failures.append(answer)

    def end(self) -> None:
        self._over.set()
        self.join(60)
        assert not self.is_alive()


WRONG = (
    "context_protection: {{default_page_size: {size}, rollout: 101}}\n",
    "context_protection: {{default_page_size: {size}, unknown: 1}}\n",
    "context_protection: {{default_page_size: {size}\n",
    "context_protection: {{default_page_size: {size}}}\nread_tool: two words\n",
    "context_protection: {{default_page_size: {size}}}\ncontext_protection: {{default_page_size: {size}}}\n",
)


@pytest.mark.slow
def test_hundreds_of_changes_under_load_a_third_of_them_wrong_fail_no_call(tmp_path: Path) -> None:
    """Right files hold even sizes, wrong ones odd: an odd page was made by a file that was wrong."""
    path = tmp_path / "f.yaml"
    path.write_text(sized(2))
    with running(path) as client:
        load = Load(client)
        load.start()
        applied, refused, size = 0, 0, 2
        for number in range(RELOADS):
            change = (written_in_place, renamed_over)[number % 2]
            if number % 3 == 2:
                change(path, WRONG[number % len(WRONG)].format(size=2 * (number % 20) + 3))
                awaited(client, "config_rejected")
                refused += 1
            else:
                size = 2 * (number % 20) + 4
                change(path, sized(size))
                assert f"→ {size}" in awaited(client, "config_reloaded")
                applied += 1
        load.end()
        assert shown(client) == size
    assert not load.failures
    assert applied + refused == RELOADS and refused == RELOADS // 3
    assert len(load.sizes) > RELOADS // 2 and not any(size % 2 for size in load.sizes), set(load.sizes)
