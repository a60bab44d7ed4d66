"""File listings: folders and endings, and files that do not belong."""

from brimgate.engine.maps.file_tree import DETECTOR
from brimgate.engine.maps.survey import Survey, TextLines

TREE = """.
├── docs
│   ├── a.md
│   └── b.md
├── src
│   ├── app
│   │   ├── .env
│   │   └── main.py
│   └── core.4711
└── README.md

4 directories, 9 files
"""

LONG = """src:
total 24
drwxr-xr-x 2 root root 4096 Nov 18 14:17 bin
-rw-r--r-- 1 root root  120 Nov 18 14:17 a.py

src/bin:
total 8
-rwsr-xr-x 1 root root 9000 Nov 18 14:17 run
-rw-rw-rw- 1 root root   12 Nov 18 14:17 conf.ini
"""


def _survey(text: str) -> Survey:
    lines = TextLines.of(text)
    assert DETECTOR.recognise(lines) > 0.8
    return DETECTOR.survey(lines)


def test_a_tree_is_counted_and_its_total_compared() -> None:
    survey = _survey(TREE)
    assert survey.title == "file listing: 6 files, 3 folders"
    told = {one.place: one.text for one in survey.findings}
    assert told[7] == "may hold secrets: src/app/.env"
    assert told[9] == "left over: src/core.4711"
    assert told[12].endswith("together 13, but 9 entries are listed")
    assert any(line.text.startswith("by ending: .md 3") for line in survey.lines)


def test_modes_are_looked_at() -> None:
    survey = _survey(LONG)
    assert survey.title == "file listing: 3 files, 1 folder · 8.9 kB"
    told = {one.place: one.text for one in survey.findings}
    assert told[8].startswith("setuid or setgid: src/bin/run")
    assert told[9].startswith("world-writable: src/bin/conf.ini")


def test_paths_and_names_are_read() -> None:
    paths = ["./src"] + [f"./src/m{n}.py" for n in range(40)] + ["./src/old.exe"]
    survey = _survey("\n".join(paths))
    assert survey.title == "file listing: 41 files, 1 folder"
    assert [one.text for one in survey.findings] == ["program: ./src/old.exe"]
    names = "docs:\nadr\na.md\n\ndocs/adr:\n0001.md\n0002.md\n"
    assert _survey(names).title == "file listing: 3 files, 1 folder"


def test_other_texts_are_no_listings() -> None:
    for text in (
        "",
        "a\nb\nc\nd\ne\n",
        "- a\n- b\n- c\n- d\n- e\n",
        '{"a": "/b"}\n' * 6,
        "see src/a.py for more\n" * 9,
        "a:\n  b: 1\nc:\n  d: 2\n",
    ):
        assert DETECTOR.recognise(TextLines.of(text)) == 0
        DETECTOR.survey(TextLines.of(text))
