"""Diffs: files with their counts, and changes that alter the meaning among dull ones."""

from brimgate.engine.maps.diff import DETECTOR
from brimgate.engine.maps.survey import Survey, TextLines

GIT = """diff --git a/src/a.py b/src/a.py
index 1111111..2222222 100644
--- a/src/a.py
+++ b/src/a.py
@@ -10,6 +10,4 @@ def pay(amount):
     log(amount)
-    if user.is_admin and amount < limit:
+    if user.is_admin or amount < limit:
         go()
-    if amount <= 0:
-        raise ValueError("amount")
     return amount
@@ -40,3 +38,5 @@ def connect():
-retries = 3
+retries = 736
+session.get(url, verify=False)
+password = "hunter2-9f8e7d6c"
 done()
-- old
diff --git a/docs/x.md b/docs/y.md
similarity index 90%
rename from docs/x.md
rename to docs/y.md
diff --git a/tests/test_b.py b/tests/test_b.py
deleted file mode 100644
--- a/tests/test_b.py
+++ /dev/null
@@ -1,2 +0,0 @@
-def test_b():
-    assert pay(1) == 1
diff --git a/logo.png b/logo.png
new file mode 100644
Binary files /dev/null and b/logo.png differ
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
"""

SVN = """Index: trunk/a.c
===================================================================
--- trunk/a.c\t(revision 4)
+++ trunk/a.c\t(working copy)
@@ -1,2 +1,2 @@
 int main() {
-  if (a == b) return 1;
+  if (a != b) return 1;
"""

HELM = """default, web, Deployment (apps) has changed:
  # Source: web.yaml
    spec:
-     replicas: 3
+     replicas: 0
      image: web
default, old, Service (v1) has been removed:
- kind: Service
"""


def _survey(text: str) -> Survey:
    lines = TextLines.of(text)
    assert DETECTOR.recognise(lines) >= 0.6
    return DETECTOR.survey(lines)


def _told(text: str) -> list[str]:
    return [f"{one.place}: {one.text}" for one in _survey(text).findings]


def test_files_are_counted_by_what_happened_to_them() -> None:
    survey = _survey(GIT)
    assert survey.title == "diff: 5 files, +4 −7 · 1 renamed, 1 deleted, 1 new, 1 binary, 1 mode changed"
    assert any("renamed: docs/x.md → docs/y.md (line 20)" in line.text for line in survey.lines)


def test_changes_of_meaning_are_told_with_their_place() -> None:
    told = _told(GIT)
    assert any(one.startswith("8: src/a.py:11 `and` → `or`: if user.is_admin and") for one in told)
    assert '10: src/a.py:13 check removed: if amount <= 0: raise ValueError("amount")' in told
    assert any(one.startswith("15: src/a.py:40→38 3 → 736") for one in told)
    assert "16: src/a.py:39 wider access: session.get(url, verify=False)" in told
    assert "17: src/a.py:40 secret added: secret value (password): hunt****" in told
    assert "24: tests/test_b.py test file deleted (−2)" in told
    assert "34: run.sh mode 100644 → 100755" in told


def test_svn_and_helm_are_read() -> None:
    assert any("trunk/a.c:2 `==` → `!=`" in one for one in _told(SVN))
    survey = _survey(HELM)
    assert survey.title == "diff: 2 files, +1 −2 · 1 deleted"
    assert any("3 → 0" in one for one in _told(HELM))


def test_renamed_words_and_moved_lines_are_dull() -> None:
    body: list[str] = []
    for number in range(40):
        body += [
            f"diff --git a/p/m{number}.py b/p/m{number}.py",
            f"--- a/p/m{number}.py",
            f"+++ b/p/m{number}.py",
            "@@ -1,4 +1,4 @@",
            " import x",
            f"-old_name = fetch(timeout={number + 10})",
            f"+new_name = fetch(timeout={number + 11})",
            "-    raise ValueError(old_name)",
            "+    raise ValueError(new_name)",
            " end",
        ]
    assert _told("\n".join(body)) == []
    body[6] = "+new_name = fetch(timeout=9000)"
    assert [one.split(":")[0] for one in _told("\n".join(body))] == ["7"]


def test_other_texts_are_no_diffs() -> None:
    for text in ("", "--- a\n--- b\n", "- one\n- two\n+ three\n", '{"a": 1}', "\x00" * 99, "@@ -1 +1 @@"):
        assert DETECTOR.recognise(TextLines.of(text)) == 0
        DETECTOR.survey(TextLines.of(text))


def test_a_condition_with_one_more_part_is_told() -> None:
    text = """diff --git a/src/hooks.py b/src/hooks.py
--- a/src/hooks.py
+++ b/src/hooks.py
@@ -10,2 +10,2 @@ def parse(event):
-    if not hmac.compare_digest(digest(body), sent):
+    if sent and not hmac.compare_digest(digest(body), sent):
         raise Forbidden
"""
    (found,) = _survey(text).findings
    assert "`and` added, holds less often now: if not hmac.compare_digest" in found.text


def test_many_numbers_that_change_are_a_few_and_a_count() -> None:
    hunks = "".join(f"@@ -{at},1 +{at},1 @@\n-limit = {at}\n+limit = {at * 9}\n" for at in range(10, 30))
    calm = "".join(f"@@ -{at},1 +{at},1 @@\n-size = {at}\n+size = {at + 1}\n" for at in range(100, 200))
    found = _survey("diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n" + hunks + calm).findings
    assert len(found) == 5 and "16 more numbers that change by a factor of 5 or more" in found[-1].text
