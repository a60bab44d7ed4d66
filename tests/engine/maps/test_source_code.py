"""Source code: what is defined where, and what a reviewer would stop at."""

import pytest

from brimgate.engine.maps.source_code import DETECTOR, recognise, survey
from brimgate.engine.maps.survey import Survey, TextLines

METHOD = '    def list_{0}(self, user):\n        """List."""\n        self.check_permission(user)\n        return self.{0}\n'
API = (
    "import os\nimport requests\n\nA_TIMEOUT = 30\nB_TIMEOUT = 30\nC_TIMEOUT = 45\nMAIL_TIMEOUT = 3000\n\nclass Api:\n"
    + "".join(METHOD.format(name) for name in ("users", "items", "orders", "carts", "coupons"))
    + '    def list_refunds(self, user):\n        """List."""\n        return self.db.run(f"SELECT * FROM'
    ' refunds WHERE u = {user}")\n'
    "    def list_users(self, user, found=[]):\n        self.check_permission(user)\n        if user == None:\n"
    '            return found\n            found.append(1)\n        try:\n            os.system("ls " + user)\n'
    '        except:\n            pass\n        return requests.get("https://x", verify=False)\n'
)
GO = """package main

import "fmt"

const MaxRetries = 3

type Server struct {
	name string
}

func (s *Server) Run() error {
	if s.name == "" {
		return nil
	}
	return nil
}

func main() {
	fmt.Println("x") // FIXME: remove
}
"""
TYPESCRIPT = """import { a } from "./a";
import b from "b";

export class Store extends Base {
  private items = 1;
  constructor(name: string) {
    super(name);
  }
  async load(id: string): Promise<void> {
    try {
      await a(id);
    } catch (error) {}
  }
}

export const handler = async (req, res) => {
  debugger;
  return new Store("x");
};
"""
SQL = """CREATE TABLE users (
  id bigint PRIMARY KEY,
  name text
);
CREATE TABLE orders (
  id bigint PRIMARY KEY,
  user_id bigint REFERENCES users(id)
);
CREATE VIEW totals AS SELECT 1;
CREATE TABLE users (
  id bigint
);
"""


def look(text: str) -> Survey:
    lines = TextLines.of(text)
    assert recognise(lines) > 0.5
    return survey(lines)


def test_python_is_parsed() -> None:
    result = look(API)
    assert result.title == "Python source: 42 lines, 7 methods, 4 constants, 1 class"
    assert result.lines[1].text.startswith("9-42 class Api: list_users 10, list_items 14, list_orders 18")


def test_what_a_reviewer_stops_at_is_told_with_its_line() -> None:
    found = {one.place: one.text.partition(" · in line ")[0] for one in look(API).findings}
    assert found == {
        7: "MAIL_TIMEOUT = 3000 (others 30 to 45)",
        30: "list_refunds has no call of self.check_permission; 6 of 7 methods of Api have",
        32: 'SQL made by joining texts: return self.db.run(f"SELECT * FROM refunds WHERE u = {user}")',
        33: "method list_users of Api is defined again, first at 10; mutable default argument of list_users",
        35: "== None",
        37: "never reached: it follows the return at 36",
        39: 'runs text as code or in a shell: os.system("ls " + user)',
        40: "error swallowed: except … pass",
        42: 'certificates are not verified: return requests.get("https://x", verify=False)',
    }


def test_a_risky_line_is_told_with_the_function_and_class_around_it() -> None:
    found = {one.place: one.text for one in look(API).findings}
    assert found[32].endswith("· in line 30: def list_refunds(self, user): · in line 9: class Api:")


def test_other_languages_are_read_by_their_lines() -> None:
    result = look(GO)
    assert result.title == "Go source: 20 lines, 2 functions, 1 constant, 1 struct"
    assert [line.text for line in result.lines][1:3] == [
        "7-9 struct Server",
        "functions Run 11-16, main 18-20",
    ]
    assert [one.place for one in result.findings] == [19]


def test_brackets_end_classes_methods_and_arrow_functions() -> None:
    result = look(TYPESCRIPT)
    assert [line.text for line in result.lines] == [
        "imports ./a, b",
        "4-14 class Store: constructor 6, load 9",
        "functions handler 16-19",
    ]
    assert [(one.place, one.text.partition(":")[0]) for one in result.findings] == [
        (12, "error swallowed"),
        (17, "debugging left in"),
    ]


def test_tables_of_sql_are_its_definitions() -> None:
    result = look(SQL)
    assert [line.text for line in result.lines][:2] == ["1-4 table users", "5-8 table orders"]
    assert [(one.place, one.text) for one in result.findings] == [
        (10, "table users is defined again, first at 1")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"def f()": 1}\n' * 6,
        "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-import os\n+import re\n def f():\n     return 1\n",
        "src/a.py:3:def f():\nsrc/a.py:9:    return 1\nsrc/b.py:4:import os\nsrc/b.py:5:import re\nsrc/c.py:1:class A:\n",
        "name: x\nserver:\n  host: a\n  port: 1\nlast: 1\nother: 2\n",
        (
            "# Title\n\nSome text about the import of things.\n\n## Next\n\nMore of the text that explains it"
            " all.\n\nAnd the last.\n"
        ),
        "2026-01-01 10:00:00 INFO import done\n" * 6,
    ],
)
def test_other_kinds_are_left_to_others(text: str) -> None:
    assert recognise(TextLines.of(text)) == 0


@pytest.mark.parametrize(
    "text", ["", "\x00\nimport x", "(" * 3_000, "def f(\n" * 40, "}\n" * 40, "class é:\n" * 9]
)
def test_odd_input_is_survived(text: str) -> None:
    assert DETECTOR.survey(TextLines.of(text)).title


def test_what_c_programs_do_wrong_is_told() -> None:
    body = "".join(
        f"static int read_{n}(struct ctx *c) {{\n    c->n = {n};\n    return c->n;\n}}\n\n" for n in range(40)
    )
    odd = """int check(struct ctx *c, char *name) {
    if (1 || c->is_owner) {
        strcpy(c->name, name);
    }
    if (c->n < 0)
        goto fail;
        goto fail;
    return 0;
fail:
    return -1;
}
"""
    told = " ".join(one.text for one in look("#include <string.h>\n\n" + body + odd).findings)
    assert "condition that never changes: if (1 ||" in told
    assert "copies without a bound: strcpy(" in told
    assert "stands twice in a row: goto fail;" in told
