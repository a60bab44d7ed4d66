"""The order of the sources: defaults, file, environment, command line; and how each is refused by its name."""

import json
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest

from brimgate.config.declarations import Config
from brimgate.config.show import written
from brimgate.config.sources import (
    OTHER_VARIABLES,
    is_store_url,
    load,
    store_url,
    unknown_variables,
    variables,
)
from brimgate.engine.options import Key
from brimgate.errors import ConfigError
from tests.config.running import SERVER, check, gateway
from tests.in_process import Here
from tests.relay.conversation import record_of, texts


def inner(kind: Any) -> Any:
    return (
        next(one for one in get_args(kind) if one is not type(None)) if type(None) in get_args(kind) else kind
    )


def two_values(key: Key) -> tuple[Any, Any]:
    """Two values that a key may have beside its default."""
    kind = inner(key.type)
    if get_origin(kind) is Literal:
        others = [one for one in get_args(kind) if one != key.default]
        return others[0], others[-1] if len(others) > 1 else key.default
    if get_origin(kind) is tuple:
        return ("fire",), ("water", "air")
    if kind is bool:
        return not key.default, bool(key.default)
    if key.option.auto:
        return (300, 400) if key.option.minimum == 300 else (60, 70)
    if kind is int:
        most = key.option.maximum or key.default + 20
        return (key.default + 10, key.default + 20) if key.default + 20 <= most else (60, 70)
    if kind is float:
        least = key.option.minimum or 0
        return (least + 0.5, least + 0.25)
    if key.path == ("store",):
        return "memory", "redis://127.0.0.1:1"
    if key.path == ("telemetry", "webhook_url"):
        return "https://hook.example.com/a", "https://hook.example.com/b"
    return "alpha", "beta"


def as_text(value: Any) -> str:
    return ",".join(value) if isinstance(value, tuple) else written(value).strip('"')


def as_file(key: Key, value: Any) -> str:
    line = f"{key.path[-1]}: {written(value)}"
    return f"{line}\n" if len(key.path) == 1 else f"{key.path[0]}: {{{line}}}\n"


def value_of(config: Config, key: Key) -> Any:
    value: Any = config
    for part in key.path:
        value = getattr(value, part)
    return value


ids = [key.variable for key in variables()]


@pytest.mark.parametrize("key", variables(), ids=ids)
def test_the_environment_goes_before_the_file_and_the_command_line_before_both(
    key: Key, tmp_path: Path
) -> None:
    path = tmp_path / "f.yaml"
    in_file, in_environment = two_values(key)
    path.write_text(as_file(key, in_file))
    given = {key.variable: f" {as_text(in_environment)} "}
    assert value_of(load(path, environment={}), key) == in_file
    assert value_of(load(path, environment=given), key) == in_environment
    for name in key.names:
        last = load(path, environment=given, overrides={name: as_text(in_file)})
        assert value_of(last, key) == in_file


@pytest.mark.parametrize(
    "key", [key for key in variables() if inner(key.type) is not str], ids=lambda key: key.name
)
def test_a_bad_value_is_refused_by_the_name_of_its_source(key: Key) -> None:
    if get_origin(inner(key.type)) is tuple:
        assert value_of(load(environment={key.variable: ",,"}), key) == ()
        return
    with pytest.raises(ConfigError, match=rf"^{key.variable}: {key.name}: must be .* not '?wrong"):
        load(environment={key.variable: "wrong"})
    with pytest.raises(ConfigError, match=rf"^--set {key.name}: {key.name}: must be .* not '?wrong"):
        load(environment={}, overrides={key.name: "wrong"})


def test_all_bad_variables_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        load(environment={"BRIMGATE_MODE": "x", "BRIMGATE_ROLLOUT": "101", "BRIMGATE_CHUNK_SIZE": ""})
    assert [line.split(":")[0] for line in str(caught.value).splitlines()] == [
        "BRIMGATE_MODE",
        "BRIMGATE_ROLLOUT",
        "BRIMGATE_CHUNK_SIZE",
    ]


def test_a_contradiction_is_told_by_the_source_that_brought_it(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("context_protection: {default_page_size: 40}")
    with pytest.raises(ConfigError, match=r"^BRIMGATE_DEFAULT_PAGE_SIZE: .*201 is more than max_page_size"):
        load(path, environment={"BRIMGATE_DEFAULT_PAGE_SIZE": "201"})
    with pytest.raises(ConfigError, match=r"f\.yaml:1: .*40 is more than max_page_size \(30\)"):
        load(path, environment={"BRIMGATE_MAX_PAGE_SIZE": "30"})
    with pytest.raises(ConfigError, match=r"f\.yaml:1: .*40 is more than max_page_size \(20\)"):
        load(path, environment={}, overrides={"max_page_size": "20"})
    assert load(environment={}, overrides={"max_page_size": "30"}), "auto is never more"
    assert load(path, {"BRIMGATE_MAX_PAGE_SIZE": "30"}, {"default_page_size": "20"})


def test_an_unknown_key_on_the_command_line_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(
        ConfigError, match=r"^--set default_pagesize: unknown key; did you mean .*default_page_size\?"
    ):
        load(environment={}, overrides={"default_pagesize": "5"})


def test_variables_that_no_option_has_are_found_and_those_that_mean_something_else_are_not() -> None:
    known = dict.fromkeys([*ids, *OTHER_VARIABLES], "")
    assert unknown_variables(known | {"BRIMGATE_PAGESIZE": "5", "BRIMGATES": "", "PATH": ""}) == [
        "BRIMGATE_PAGESIZE"
    ]


# As a process


def page(client: Any) -> dict[str, Any]:
    client.greet()
    return record_of(client.call("rows")["result"])


def test_a_running_relay_takes_the_file_then_the_environment_then_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("context_protection: {default_page_size: 3}")
    variable = {"BRIMGATE_DEFAULT_PAGE_SIZE": "4"}
    with gateway(env={"BRIMGATE_CONFIG": str(path)}) as client:
        assert page(client)["shown"]["items"] == 3
    with gateway("--config", str(path), env=variable) as client:
        assert page(client)["shown"]["items"] == 4
    with gateway("--config", str(path), "--set", "default_page_size=5", env=variable) as client:
        assert page(client)["shown"]["items"] == 5


def test_options_with_names_of_their_own_go_before_the_environment() -> None:
    variables_ = {
        "BRIMGATE_MODEL": "claude-5",
        "BRIMGATE_TOKEN_FAMILY": "llama3",
        "BRIMGATE_LOG_LEVEL": "error",
    }
    variables_ |= {"BRIMGATE_LOG_FORMAT": "text", "BRIMGATE_OUTPUT_TOKEN_THRESHOLD": "5000"}
    counts: dict[str, int] = {}
    for options in (("--family", "chars4"), ("--family", "o200k"), ("--model", "gpt-5"), ()):
        # A family that is set goes before any model: the command line cannot unset it, so it is not in the way here.
        given = {
            name: text
            for name, text in variables_.items()
            if "--model" not in options or "FAMILY" not in name
        }
        with gateway(*options, env=given) as client:
            counts[" ".join(options)] = page(client)["total"]["tokens"]
    assert counts["--model gpt-5"] == counts["--family o200k"]
    assert len(set(counts.values())) == 3
    with gateway("--budget", "900", "--log-level", "info", "--log-format", "json", env=variables_) as client:
        assert page(client)["estimatedTokens"] <= 900
        assert json.loads(client.wait_for_log("rows"))["level"] == "INFO"


@pytest.mark.parametrize(
    ("options", "given", "says"),
    [
        (
            (),
            {"BRIMGATE_ROLLOUT": "many"},
            "BRIMGATE_ROLLOUT: context_protection.rollout: must be a whole number",
        ),
        (("--set", "rollout=many"), {}, "--set rollout: context_protection.rollout: must be a whole number"),
        (("--set", "rollout"), {}, "--set rollout: must be KEY=VALUE"),
        (("--set", "rolout=5"), {}, "--set rolout: unknown key; did you mean rollout?"),
        (("--budget", "5"), {}, "--budget must be at least 300 tokens, not 5"),
        (("--config", "nowhere.yaml"), {}, "nowhere.yaml: No such file or directory"),
    ],
)
def test_a_relay_does_not_start_with_a_wrong_setting(
    here: Here, options: tuple[str, ...], given: dict[str, str], says: str
) -> None:
    done = here("run", *options, "--", *SERVER, **given)
    assert done.returncode == 2 and done.stdout == b""
    assert done.stderr.decode().startswith(f"brimgate: {says}")


def test_a_variable_that_no_option_has_is_warned_of_and_changes_nothing() -> None:
    with gateway(env={"BRIMGATE_PAGESIZE": "5"}) as client:
        client.greet()
        assert texts(client.call("echo", text="hello")["result"]) == ["hello"]
        assert "WARNING unknown_variable name=BRIMGATE_PAGESIZE" in client.wait_for_log("unknown_variable")
    checked = check(BRIMGATE_PAGESIZE="5")
    assert checked.returncode == 0 and "BRIMGATE_PAGESIZE: no option has this name" in checked.stderr


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("redis://127.0.0.1", True),
        ("redis://:secret@host:6379/0", True),
        ("rediss://user:p%2Fw@[::1]:6380/2?ssl_cert_reqs=required", True),
        ("unix:///run/valkey.sock?db=1", True),
        ("redis://:${NAME}@host:6379/0", True),
        ("redis://host:99999", False),
        ("redis://host:abc", False),
        ("redis://host/abc", False),
        ("redis://h:1/0?password=s3cret", False),
        ("redis://:a/b#c@host", False),
        ("redis://", False),
        ("http://host", False),
        ("redis://two words", False),
    ],
)
def test_the_url_of_a_store_is_checked(url: str, is_one: bool) -> None:
    assert is_store_url(url) == is_one


def test_a_password_that_breaks_its_url_is_told_and_not_shown() -> None:
    config = load(environment={"BRIMGATE_STORE": "redis://:${SECRET}@host:6379/0", "SECRET": "s3/cr#et"})
    with pytest.raises(ConfigError, match="%XX") as refused:
        store_url(config, {"SECRET": "s3/cr#et"})
    assert "cr#et" not in str(refused.value)
    assert store_url(config, {"SECRET": "plain"}) == "redis://:plain@host:6379/0"
    assert store_url(load(environment={}), {"REDIS_URL": " redis://h "}) == "redis://h"
    assert store_url(load(environment={"BRIMGATE_STORE": "memory"}), {"REDIS_URL": "redis://h"}) == ""
    with pytest.raises(ConfigError, match="REDIS_URL"):
        store_url(load(environment={}), {"REDIS_URL": "localhost:6379"})
