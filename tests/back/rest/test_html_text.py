"""HTML as plain text: what editors of tasks write, and what nobody should."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.back.rest.html_text import as_html, plain_text

BOX = '<label><input type="checkbox"{}><span></span></label>'
TASKS = (
    f'<ul data-type="taskList"><li data-checked="true">{BOX.format(" checked")}<div><p>done</p></div></li>'
    f'<li data-checked="false">{BOX.format("")}<div><p>open</p></div></li></ul>'
)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("just text", "just text"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("a &amp; b", "a & b"),
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("<p>One<br>two</p>", "One\ntwo"),
        ("<h2>Title</h2><p>Text</p>", "## Title\n\nText"),
        ("<ul><li><p>a</p></li><li><p>b</p></li></ul>", "- a\n- b"),
        ("<ol><li>a</li><li>b</li></ol><p>c</p>", "1. a\n2. b\n\nc"),
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  - b\n- c"),
        (TASKS, "- [x] done\n- [ ] open"),
        ('<p>See <a href="https://example.com/x">this</a>.</p>', "See this (https://example.com/x)."),
        ('<a href="https://e.com">https://e.com</a>', "https://e.com"),
        ("<pre><code>a = 1\n  b</code></pre><p>x</p>", "```\na = 1\n  b\n```\n\nx"),
        ("<p>use <code>rm</code>, <strong>now</strong></p>", "use `rm`, **now**"),
        ("<table><tr><th>a</th><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>", "| a | b\n| c | d"),
        ('<p>Hi <mention-user data-id="bob" data-label="Bob">@Bob</mention-user>!</p>', "Hi @Bob!"),
        ("<p>x</p><script>alert(1)</script><style>p{}</style>", "x"),
        ('<p>a<img src="u.png" alt="pic"></p>', "a![pic](u.png)"),
        ("<p>Ünï 日本 🚀</p>", "Ünï 日本 🚀"),
        ("<p>unclosed <b>bold", "unclosed **bold"),
        ("", ""),
    ],
)
def test_what_editors_write_is_read_as_text(html: str, text: str) -> None:
    assert plain_text(html) == text


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a & b", "<p>a &amp; b</p>"),
        ("one\ntwo\n\nthree", "<p>one<br>two</p><p>three</p>"),
        ("<p>kept</p>", "<p>kept</p>"),
        ("x < y", "<p>x &lt; y</p>"),
        ("", ""),
    ],
)
def test_plain_text_is_written_as_paragraphs(text: str, html: str) -> None:
    assert as_html(text) == html


@given(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
    )
)
def test_no_word_is_lost_on_the_way_there_and_back(text: str) -> None:
    back = plain_text(as_html(text))
    assert "".join(back.split()) == "".join(text.split()) or "<" in text


@given(st.text(st.sampled_from("<>/ap\"='&; liu\n")))
def test_any_nonsense_is_read(text: str) -> None:
    assert isinstance(plain_text(text), str)


@pytest.mark.parametrize(
    "nonsense", ["<ul>" * 50_000, "<b>" * 50_000, "<" * 100_000, "&" * 100_000, "<a href='" * 20_000]
)
def test_hostile_html_ends(nonsense: str) -> None:
    assert isinstance(plain_text(nonsense), str)
