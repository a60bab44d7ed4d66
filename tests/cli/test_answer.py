"""What of the result of a call is the answer."""

import base64
import json
from typing import Any

import pytest

from brimgate.cli.calls.answer_text import read_answer


def result(*blocks: Any, **more: Any) -> bytes:
    return json.dumps({"content": list(blocks)} | more).encode()


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


@pytest.mark.parametrize(
    ("given", "document"),
    [
        (result(text("plain")), b"plain"),
        (result(text('{"a": 1.10}')), b'{"a": 1.10}'),
        (result(text('roses\n"red"'), structuredContent={"result": 'roses\n"red"'}), b'roses\n"red"'),
        (result(text('{"a": 1}'), structuredContent={"result": {"a": 1}}), b'{"a": 1}'),
        (result(text("see the data"), structuredContent={"a": 1}), b'{"a": 1}'),
        (result(text("1"), text("2"), structuredContent={"result": [1, 2]}), b"[1, 2]"),
        (result(text("a"), text("b")), b"a\nb"),
        (result(text('{"a":1}'), text('{"b":2}')), b'[{"a":1},{"b":2}]'),
        (result(), b""),
        (b'"bare"', b'"bare"'),
    ],
    ids=[
        "a text", "JSON", "a text twice", "wrapped", "both differ", "a list", "two texts", "two objects", "nothing", "bare",
    ],
)  # fmt: skip
def test_the_document_a_reader_wants(given: bytes, document: bytes) -> None:
    assert read_answer(given).document == document


def test_binary_data_is_printed_as_its_size() -> None:
    blob = {
        "uri": "a:",
        "mimeType": "application/pdf",
        "blob": base64.b64encode(b"%PDF-" + bytes(9_000)).decode(),
    }
    answer = read_answer(result(text("look"), {"type": "resource", "resource": blob}))
    size = "<9,005 bytes: --json prints them>"
    assert json.loads(answer.printed) == [
        text("look"),
        {"type": "resource", "resource": blob | {"blob": size}},
    ]
    assert json.loads(answer.as_json) == [text("look"), {"type": "resource", "resource": blob}]


def test_an_image_stays_with_its_text() -> None:
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    assert json.loads(read_answer(result(text("look"), image)).document) == [text("look"), image]


def test_as_json_numbers_stay_as_they_were_spelled_and_a_text_is_a_string() -> None:
    assert read_answer(result(text('{ "a" : 1.10 }'))).as_json == b'{"a":1.10}'
    assert read_answer(result(text("so\n"))).as_json == b'"so\\n"'
    assert read_answer(result(text("x"), isError=True)).is_error
