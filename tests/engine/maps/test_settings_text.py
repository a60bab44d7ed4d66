"""Configuration: where its parts are, and which block is not like the others."""

import pytest

from brimgate.engine.maps.settings_text import DETECTOR, recognise, survey
from brimgate.engine.maps.survey import Survey, TextLines


def deployment(number: int, replicas: int = 2, probe: str = "/health", extra: str = "") -> str:
    check = f"          livenessProbe:\n            path: {probe}\n" if probe else ""
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: svc-{number}\nspec:\n  replicas: {replicas}\n"
        f"  template:\n    spec:\n{extra}      containers:\n        - name: svc-{number}\n"
        f"          image: ghcr.io/acme/svc-{number}:1.{number % 3}\n{check}"
    )


def look(text: str) -> Survey:
    lines = TextLines.of(text)
    assert recognise(lines) > 0.5
    return survey(lines)


def told(text: str) -> list[tuple[int, str]]:
    return [(one.place, one.text) for one in look(text).findings]


def test_like_documents_are_compared_by_every_key() -> None:
    documents = [deployment(number) for number in range(20)]
    documents[7] = deployment(7, replicas=50)
    documents[11] = deployment(11, probe="")
    documents[15] = deployment(15, extra="      hostNetwork: true\n")
    result = look("---\n".join(documents))
    assert result.title == "Kubernetes YAML: 20 objects in 278 lines: Deployment 20"
    found = [(one.place, one.text) for one in result.findings]
    assert found[0] == (104, "Deployment svc-7: spec.replicas 50, far from the others (others 2 ×19)")
    assert found[1] == (155, "Deployment svc-11 lacks containers.livenessProbe, the others have it")
    assert found[2][0] == 217 and "hostNetwork true" in found[2][1]
    assert len(found) == 3
    assert any("spec.replicas 2 ×19, 50 ×1 (104 Deployment svc-7)" in line.text for line in result.lines)


def test_keys_have_their_line_ranges() -> None:
    result = look(
        "name: x\nserver:\n  host: a\n  tls:\n    on: true\n    min: 1.2\n  log:\n    level: info\nlast: 1\n"
    )
    assert [line.text for line in result.lines] == [
        "1 name · 2-8 server · 9 last",
        "server 2-8: tls 4-6 · log 7-8",
    ]
    assert result.findings == []


def test_faults_of_yaml_are_told() -> None:
    text = "a:\n  b: 1\n  c: 2\n  b: 3\nd:\n    e: 1\n   f: 2\n\tg: 3\ntext: |\n  b: 1\n  b: 2\n"
    assert told(text) == [
        (4, "b a second time, first at 2: 1, then 3"),
        (7, "indentation of 3 fits no key above it"),
        (8, "a tab in the indentation"),
    ]


def test_an_env_file_has_repeated_keys_switches_and_secrets() -> None:
    text = (
        "APP_PORT=80\nAPP_DEBUG=true\nAPP_TIMEOUT=30\nDB_PASSWORD=x7!kQp2zz\nAPP_TIMEOUT=60\nVERIFY_SSL=false"
        "\nSKIP_TLS_VERIFY=false\n"
    )
    assert told(text) == [
        (2, "APP_DEBUG true"),
        (4, "secret value (DB_PASSWORD): ****"),
        (5, "APP_TIMEOUT a second time, first at 3: 30, then 60"),
        (6, "VERIFY_SSL false"),
    ]


def test_sections_of_ini_and_tables_of_toml_are_compared() -> None:
    sections = [
        f"[worker:{n}]\nqueue = q{n}\nconcurrency = {400 if n == 5 else 4}\nretries = 3\n" for n in range(12)
    ]
    assert told("\n".join(sections)) == [
        (28, "worker:5: concurrency 400, far from the others (others 4 ×11)")
    ]
    tables = [f'[[bin]]\nname = "b{n}"\npath = "src/b{n}.rs"\n' for n in range(6)]
    assert look("\n".join(tables)).lines[0].text == "1-23 bin ×6"


def test_an_image_of_another_registry_without_a_fixed_version_stands_out() -> None:
    services = [
        f"  app{n}:\n    image: registry.acme.io/app{n}:2.{n}\n    restart: always\n" for n in range(9)
    ]
    services[4] = "  app4:\n    image: docker.io/app4:latest\n    restart: always\n"
    ((line, text),) = told("services:\n" + "".join(services))
    assert line == 15
    assert (
        "image tagged latest (docker.io/app4:latest)" in text
        and "registry docker.io (others registry.acme.io ×8)" in text
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"a": 1}\n{"a": 2}\n{"a": 3}\n',
        "def f():\n    x = 1\n    return x\n\nclass A:\n    y: int = 2\n",
        "2026-01-01 10:00:00 INFO start: ok\n" * 5,
        "level=info msg=a n=1\nlevel=info msg=b n=2\nlevel=warn msg=c n=3\n",
        "Alice: hello\nBob: hi there\nAlice: how are you\nBob: fine\n",
        '- generic [ref=e1]:\n  - button "Save" [ref=e2]\n  - link "Home" [ref=e3]:\n    - /url: /\n',
        "a,b,c\n1,2,3\n4,5,6\n",
    ],
)
def test_other_kinds_are_left_to_others(text: str) -> None:
    assert recognise(TextLines.of(text)) == 0


@pytest.mark.parametrize(
    "text", ["", "\x00\x01", "- - - -\n-\n- :\n: :\n", "a: " * 9_000, "[\n]\n= =\n", "é: {{\n" * 50]
)
def test_odd_input_is_survived(text: str) -> None:
    assert DETECTOR.survey(TextLines.of(text)).title
