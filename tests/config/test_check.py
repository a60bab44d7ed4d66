"""`brimgate check`, and what is shown of a configuration: all of it, and no secret."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given

from brimgate.config.declarations import Config, ContextProtection, Override, Upstream
from brimgate.config.masking import MASK, masked_arguments
from brimgate.config.show import difference, effective, needs_restart, without_secrets
from brimgate.config.sources import load_file, parse
from tests.config.running import check
from tests.config.strategies import configs
from tests.config.test_keys import BRIEF
from tests.in_process import Here


def here_check(here: Here, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """`brimgate check` in this process."""
    done = here("check", *arguments, **variables)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


# What is in force reads back


@pytest.mark.property
@given(configs)
@example(Config(context_protection=ContextProtection(highlight_share=0.123456789, token_multiplier=1 / 3)))
@example(
    Config(
        upstreams={"Null": Upstream("Null", ("NULL", "~", "", "\x7f", "\u2028", "😀\U000e0001", "- a", "#"))}
    )
)
@example(
    Config(context_protection=ContextProtection(tools={"x" * 1_500: Override(), "<<": Override(hidden=True)}))
)
def test_what_is_shown_reads_back_as_the_same_but_for_secrets(config: Config) -> None:
    shown = without_secrets(config)
    again = parse(effective(config).encode(), "f")
    assert again == shown and effective(again) == effective(config)
    has_secrets = shown.auth != config.auth or shown.telemetry != config.telemetry
    if not has_secrets and all(one == shown.upstreams[name] for name, one in config.upstreams.items()):
        assert shown == config
    assert without_secrets(shown) == shown


@pytest.mark.property
@given(configs, configs)
def test_a_difference_is_told_where_there_is_one_and_only_there(one: Config, other: Config) -> None:
    assert difference(one, one) == [] == needs_restart(other, other)
    # An entry with nothing in it says nothing: it has no line of its own.
    assert (
        bool(difference(one, other))
        or effective(one).count("\n") != effective(other).count("\n")
        or one == other
    )


def test_another_order_of_patterns_is_a_difference_as_the_later_wins() -> None:
    old, new = (
        Config(context_protection=ContextProtection(tools=dict.fromkeys(names, Override())))
        for names in ("ab", "ba")
    )
    assert difference(old, new) == ["context_protection.tools: in another order"]


def test_check_prints_what_is_in_force_as_a_file_and_says_that_it_is_valid(tmp_path: Path) -> None:
    path, again = tmp_path / "f.yaml", tmp_path / "again.yaml"
    path.write_text(BRIEF)
    done = check(str(path), BRIMGATE_ROLLOUT="40")
    assert (done.returncode, done.stderr) == (0, f"brimgate: {path}: valid\n")
    again.write_text(done.stdout)
    config = load_file(path)
    assert load_file(again) == replace(
        config, context_protection=replace(config.context_protection, rollout=40)
    )
    assert check(str(again)).stdout == done.stdout
    assert check(str(tmp_path / "nowhere.yaml")).returncode == 2


def test_check_without_a_file_takes_the_variable_or_the_defaults(here: Here, tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("context_protection: {rollout: 40}")
    assert "  rollout: 40\n" in here_check(here, BRIMGATE_CONFIG=str(path)).stdout
    nothing = here_check(here)
    assert (nothing.returncode, nothing.stderr) == (0, "brimgate: the defaults: valid\n")
    assert parse(nothing.stdout.encode(), "f") == Config()


def test_check_refuses_a_wrong_file_with_every_mistake_and_prints_nothing(here: Here, tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("mode: x\ntools:\n  a: {page_size: 0}\n")
    done = here_check(here, str(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"brimgate: {path}:1: mode: must be one of production, development, not 'x'",
        f"{path}:3: tools.a.page_size: must be auto or a whole number of at least 1, not 0",
    ]
    assert here_check(here, str(tmp_path / "nowhere.yaml")).returncode == 2
    assert here_check(here, BRIMGATE_ROLLOUT="x").returncode == 2


def test_check_against_another_file_shows_what_changes(here: Here, tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text("upstreams: {a: {command: x, env: {A: one, B: same}}}\ntools: {gone: {page_size: 3}}\n")
    new.write_text(
        "upstreams: {a: {command: y, env: {A: two, B: same, C: new}}}\ntools: {come: {page_size: 4}}\nmode: development\n"
    )
    done = here_check(here, str(new), "--against", str(old))
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == [
        "context_protection.tools.come.default_page_size: (not set) → 4",
        "context_protection.tools.gone.default_page_size: 3 → (not set)",
        "mode: production → development",
        "upstreams.a.command: x → y",
        "upstreams.a.env.A: changed",
        f'upstreams.a.env.C: (not set) → "{MASK}"',
    ]
    assert here_check(here, str(new), "--against", str(new)).stdout == "no difference\n"
    assert here_check(here, str(new), "--against", str(tmp_path / "nowhere")).returncode == 2


def test_keys_that_are_only_read_at_the_start_are_told_also_where_they_are_secret() -> None:
    old = Config(upstreams={"a": Upstream("x", ("--token", "abc"), {"A": "one"}), "b": Upstream("x")})
    new = Config(
        log_format="json",
        upstreams={
            "a": Upstream("x", ("--token", "xyz"), {"A": "two"}, tools={"t": Override(default_page_size=3)}),
            "b": Upstream("x"),
        },
    )
    assert needs_restart(old, new) == ["log_format", "upstreams.a.args", "upstreams.a.env.A"]
    assert difference(old, new)[1:3] == ["upstreams.a.args: changed", "upstreams.a.env.A: changed"]


# Secrets


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["--token", "abc", "--port", "80"], ["--token", MASK, "--port", "80"]),
        (["--password", "-abc"], ["--password", MASK]),
        (["--auth", "--verbose"], ["--auth", "--verbose"]),
        (["--api-key=abc"], [f"--api-key={MASK}"]),
        (["--apiKey", "abc"], ["--apiKey", MASK]),
        (["--githubPAT=abc"], [f"--githubPAT={MASK}"]),
        (["-e", "OPENAI_API_KEY=a=b c"], ["-e", f"OPENAI_API_KEY={MASK}"]),
        (["SECRET_KEY_2=abc"], [f"SECRET_KEY_2={MASK}"]),
        (["--header", "Authorization: Bearer abc"], ["--header", f"Authorization: {MASK}"]),
        (["--header=X-Auth-Token:abc"], [f"--header=X-Auth-Token:{MASK}"]),
        (["postgres://me:p@ss/w@host:5432/db"], [f"postgres://me:{MASK}@host:5432/db"]),
        (["--dsn=mysql://me:pw@host/db"], [f"--dsn={MASK}"]),
        (["--url=https://me:pw@host/"], [f"--url=https://me:{MASK}@host/"]),
        (["https://0123456789abcdef0123@host/x"], [f"https://{MASK}@host/x"]),
        (["https://host/x?a=1&access_token=abc&b=2"], [f"https://host/x?a=1&access_token={MASK}&b=2"]),
        (['{"clientSecret": "a\\"bc", "port": 80}'], [f'{{"clientSecret": "{MASK}", "port": 80}}']),
        (["sh", "-c", "server --token abc --port 80"], ["sh", "-c", f"server --token {MASK} --port 80"]),
        (["-c", "curl -H 'Authorization: Bearer abc' x"], ["-c", f"curl -H 'Authorization: {MASK}' x"]),
        (["ghp_0123456789abcdef"], [MASK]),
        (["--note=sk-abcdefgh01234"], [f"--note={MASK}"]),
        (["login", "token", "abc"], ["login", "token", MASK]),
        (["api-key", "abc", "def"], ["api-key", MASK, "def"]),
        (["serve", "0a1b2c3d4e5f60718293a4b5"], ["serve", MASK]),
        (["550e8400-e29b-41d4-a716-446655440000"], [MASK]),
        # What is none stays readable.
        (["--token", "${TOKEN}", "--port"], ["--token", "${TOKEN}", "--port"]),
        (["mcp-server-2024-filesystem", "2026-01-31"], ["mcp-server-2024-filesystem", "2026-01-31"]),
        (["-y", "@scope/server", "--max-tokens", "5"], ["-y", "@scope/server", "--max-tokens", "5"]),
        (["--token-file", "/run/secret", "key"], ["--token-file", "/run/secret", "key"]),
        (
            ["http://localhost:3000/a?b=c", "ssh://git@host/x"],
            ["http://localhost:3000/a?b=c", "ssh://git@host/x"],
        ),
    ],
)
def test_arguments_that_look_like_secrets_are_masked(arguments: list[str], shown: list[str]) -> None:
    assert list(masked_arguments(arguments)) == shown


@pytest.mark.timeout(30)  # a pattern that goes back and forth would take hours
@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ("a", "a" * 200_000),
        ("a=", "a=" * 100_000),
        ("://", "://" * 66_666),
        ("token='", f"token={MASK}"),
        ('token="\\', f"token={MASK}"),
        ("-eyJ", f"-{MASK}"),
        ("x://a:b@ ", f"x://a:{MASK}@ " * 22_222),
        ("--token ", f"--token {MASK} " * 12_500),
    ],
    ids=lambda value: str(value)[:12],
)
def test_a_hostile_argument_is_masked_in_linear_time(part: str, shown: str) -> None:
    assert masked_arguments([part * (200_000 // len(part))]) == (shown,)


def test_no_secret_is_in_anything_that_check_prints(here: Here, tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    text = """
upstreams:
  a:
    command: https://me:hunter2@host/server
    args: [--token, hunter2, --api-key=hunter2, "postgres://u:hunter2@h/d", -e, PASSWORD=hunter2]
    env: {ANYTHING: hunter2, OTHER: "multi\\nhunter2"}
"""
    old.write_text(text)
    new.write_text(text.replace("hunter2", "hunter3"))
    for done in (
        here_check(here, str(old)),
        here_check(here, str(new), "--against", str(old)),
        here_check(here, str(old), "--against", str(new)),
    ):
        assert done.returncode == 0 and "hunter" not in done.stdout + done.stderr, done.stdout
    assert "upstreams.a.args: changed" in here_check(here, str(new), "--against", str(old)).stdout
    new.write_text(text.replace("env: {", "env: [").replace('"}', '"]'))
    assert "hunter" not in here_check(here, str(new)).stderr


def test_check_refuses_what_serve_would_refuse_about_callers(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("auth: {mode: static, keys: {ann: secret}}\n")
    done = check(str(path))
    assert done.returncode == 2 and "auth.keys.ann" in done.stderr and "brimgate key new" in done.stderr
    assert "secret" not in done.stderr + done.stdout
