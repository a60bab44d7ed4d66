"""A model in place of the scripted reader: `python -m bench.overflow --model COMMAND`.

COMMAND is started for each turn. It gets one line of JSON on standard input:

    {"question": "…", "messages": [{"call": {"name": …, "arguments": {…}}, "reply": "…"}, …], "tools": [{"name": …}, …]}

`messages` begins with the call of the tool, which was made already, and its reply as the arm gives it; `tools` are those that
may be called. COMMAND answers with one line, the last of its output:

    {"call": {"name": "brimgate_read", "arguments": {"cursor": "…"}}}    or    {"answer": "…"}

The call is made, and its reply is the next message. The answer is right if it has every row of the exact answer, by the rule
of `evidence`. Whatever is not such a line, an end with another code than 0, and more than 25 calls or 200,000 tokens are wrong.
"""

import json
import shlex
import subprocess
from typing import Any, Final, cast

from bench.overflow.evidence import stands_within_lines
from bench.overflow.peers import ToolCall
from bench.overflow.question import Question, Shape
from bench.overflow.reader import MOST_CALLS, MOST_TOKENS, Arm, Outcome, Step, tokens_of

_WAIT_SECONDS: Final = 600


class Unusable(Exception):
    """The command of the model did not answer as it should."""


def is_right(question: Question, answer: str) -> bool:
    """Tell whether the answer of a model has every row."""
    return all(stands_within_lines(row, answer) for row in question.answer)


def ask(arm: Arm, shape: Shape, question: Question, command: str) -> Outcome:
    """Let a model answer one question."""
    outcome = Outcome(shape.name, question, tokens_in=tokens_of(arm.definitions_text()))
    first = arm.first()
    outcome.add(first, is_first=True)
    messages = [_message(call) for call in first.calls]
    try:
        while outcome.calls <= MOST_CALLS and outcome.tokens <= MOST_TOKENS:
            said = turn(command, {"question": question.text, "messages": messages, "tools": arm.tools()})
            if "answer" in said:
                outcome.is_right = is_right(question, str(said["answer"]))
                break
            call = _called(arm, said)
            outcome.add(Step("tool", call.name, (call,)), is_first=False)
            messages.append(_message(call))
    except Unusable as error:
        outcome.trail.append(str(error))
    return outcome


def ask_all(arm: Arm, shape: Shape, command: str) -> list[Outcome]:
    return [ask(arm, shape, question, command) for question in shape.questions]


def turn(command: str, given: dict[str, Any]) -> dict[str, Any]:
    """Start the command once, and read what it says."""
    line = json.dumps(given, ensure_ascii=False) + "\n"
    try:
        out = subprocess.run(
            shlex.split(command),
            input=line,
            capture_output=True,
            text=True,
            check=True,
            timeout=_WAIT_SECONDS,
        )
        said: Any = json.loads(out.stdout.strip().rpartition("\n")[2])
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise Unusable(f"{command}: {error}") from error
    given_back = cast("dict[str, Any]", said if isinstance(said, dict) else {})
    if "answer" not in given_back and not isinstance(given_back.get("call"), dict):
        raise Unusable(f"{command}: neither a call nor an answer")
    return given_back


def _called(arm: Arm, said: dict[str, Any]) -> ToolCall:
    name = str(said["call"].get("name", ""))
    arguments: Any = said["call"].get("arguments") or {}
    if name not in {tool["name"] for tool in arm.tools()} or not isinstance(arguments, dict):
        return ToolCall(
            name, {}, f"there is no tool {name!r}, or its arguments are not an object", is_error=True
        )
    asked = cast("dict[str, Any]", arguments)
    return ToolCall(name, asked, arm.call(name, asked))


def _message(call: ToolCall) -> dict[str, Any]:
    return {"call": {"name": call.name, "arguments": call.arguments}, "reply": call.reply}
