"""Build logs: errors in full, warnings by kind, how it ended."""

from brimgate.engine.maps.build_log import DETECTOR
from brimgate.engine.maps.survey import Survey, TextLines

GCC = "\n".join(
    [f"src/m{n}.c:{n}:5: warning: unused variable 'x{n}' [-Wunused-variable]" for n in range(30)]
    + [
        "src/pay.c:88:12: warning: format '%d' expects argument of type 'int' [-Wformat=]",
        "src/pay.c:90:3: error: implicit declaration of function 'charge'",
        "src/pay.c:91:3: note: declared here",
        "make[1]: *** [Makefile:12: pay.o] Error 1",
        "make: *** [Makefile:4: all] Error 2",
    ]
)
MYPY = """app/a.py:12: error: Incompatible types in assignment  [assignment]
app/b.py:3: error: Name "x" is not defined  [name-defined]
app/c.py:9: note: See docs
Found 3 errors in 2 files (checked 40 source files)
"""
CARGO = """   Compiling shop v0.1.0 (/app)
   Compiling serde v1.0.200
   Compiling libc v0.2.1
warning: unused import: `std::fs`
 --> src/lib.rs:1:5
  |
1 | use std::fs;
error[E0308]: mismatched types
 --> src/main.rs:4:9
  |
4 |     let x: u32 = "a";
error: could not compile `shop` (bin "shop") due to 1 previous error
"""
TSC = """src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.
src/b.ts(9,1): error TS2304: Cannot find name 'foo'.
src/b.ts(19,1): error TS2304: Cannot find name 'bar'.
"""
ESLINT = """
/app/src/a.js
   3:7   warning  Unexpected console statement  no-console
  12:1   error    'x' is not defined            no-undef

/app/src/b.js
   1:1   warning  Unexpected console statement  no-console

✖ 3 problems (1 error, 2 warnings)
"""
DOCKER = """#5 [2/4] RUN apt-get update
#5 0.412 Get:1 http://deb.example.org
#6 [3/4] RUN npm ci
#6 12.31 npm ERR! code ERESOLVE
#6 ERROR: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1
ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1
"""


def _survey(text: str) -> Survey:
    lines = TextLines.of(text)
    assert DETECTOR.recognise(lines) >= 0.6
    return DETECTOR.survey(lines)


def test_errors_come_in_full_and_rare_warnings_alone() -> None:
    survey = _survey(GCC)
    assert survey.title == "build log: failed · 1 error, 31 warnings"
    told = {one.place: one.text for one in survey.findings}
    assert told[32] == "error: src/pay.c:90: implicit declaration of function 'charge'"
    assert told[31].startswith("warning: src/pay.c:88: format")
    assert sorted(told) == [31, 32, 34, 35]
    assert any("-Wunused-variable 30, -Wformat= 1" in line.text for line in survey.lines)


def test_a_stated_total_is_compared() -> None:
    told = {one.place: one.text for one in _survey(MYPY).findings}
    assert told[4] == "states 3 errors, but 2 with a file are listed"
    assert told[1].startswith("first error: app/a.py:12")


def test_other_tools() -> None:
    cargo = _survey(CARGO)
    assert cargo.title == "build log: failed · 1 error, 1 warning"
    assert any(one.text == "error: src/main.rs:4: mismatched types [E0308]" for one in cargo.findings)
    assert _survey(TSC).title == "build log: ended with errors · 3 errors, 0 warnings"
    eslint = _survey(ESLINT)
    assert any(
        "error: /app/src/a.js:12: 'x' is not defined [no-undef]" in one.text for one in eslint.findings
    )
    assert not any("states" in one.text for one in eslint.findings)
    assert any("failed to solve" in one.text for one in _survey(DOCKER).findings)


def test_other_texts_are_no_build_logs() -> None:
    log = "2026-01-01T00:00:00 ERROR payment failed: card\n2026-01-01T00:00:01 INFO ok\n" * 40
    for text in ("", log, "error: x\n", '{"error": 1}', "def f():\n    return 1\n" * 20, "\x00" * 50):
        assert DETECTOR.recognise(TextLines.of(text)) == 0
        DETECTOR.survey(TextLines.of(text))
