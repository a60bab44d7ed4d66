"""Titles, descriptions and comments, as people write them in the editor of a to-do list."""

import random
from functools import lru_cache
from typing import Final

from brimgate.sandboxes.chance import chance_of, pick

_VERBS: Final = (
    "Review", "Draft", "Fix", "Call about", "Order", "Compare", "Clean up", "Plan", "Measure", "Translate", "Pay",
    "Renew", "Ask Jürgen about", "Send", "Archive", "Test", "Rewrite", "Pick up", "Document", "Schedule",
)  # fmt: skip
_THINGS: Final = (
    "the login page", "quarterly figures", "the boiler", "the guest list", "release notes", "the backup of the NAS",
    "tickets to Zürich", "the insurance policy", "icons for dark mode", "the onboarding guide", "shelf brackets",
    "the API gateway", "invoices from September", "the café menu", "bike tyres", "the survey results",
    "train connections", "error messages", "the garden fence", "the contract with Müller & Söhne", "資料の翻訳",
    "the press kit", "winter tyres", "the memory leak", "the kitchen tap", "slides for the talk", "passports",
    "the newsletter", "a second monitor", "the mailing list", "naïve retries in the importer", "日本語のラベル",
)  # fmt: skip
_TAILS: Final = (
    "", "", "", "", " before Friday", " for the offsite", " (second try)", " 🚀", " with Zoë", " – waiting for reply",
    " ⚠️", " again", " in Köln", " & tell everyone", " for v2", " once the parts are here",
)  # fmt: skip
_STARTS: Final = (
    "We agreed to", "It would help to", "Somebody has to", "Before we go on we should", "I tried to",
    "According to the ticket we must", "The customer asked us to", "There is no hurry to", "Remember to",
)  # fmt: skip
_MIDDLES: Final = (
    "check the numbers against the old sheet", "keep the first version as a fallback", "write down what broke",
    "ask the people who use it every day", "move the date by a week", "measure it on a slow machine",
    "compare three offers", "leave a note for the night shift", "take photos of the label",
    "look at how the other team does it", "throw away what nobody has opened since spring",
    "use the form on their website, not e-mail", "test it with umlauts such as ä, ö and ü",
)  # fmt: skip
_ENDS: Final = (
    "because the last time it took two days.", "so that nobody has to ask twice.", "and close this when it is done.",
    "even if that costs a little more.", "as soon as the parts have arrived.", "unless the price has gone up.",
    "and the sooner the better 🙂.", "which is what the contract says in § 4.", "or else we lose the discount.",
    "but only after the holidays.", "“and not a day later”, she said.", "if x < 10 && y > 3 holds.",
)  # fmt: skip
_REPLIES: Final = (
    "Done on my side.", "Can you take this one?", "Moved to next week.", "+1", "I called, nobody answered.",
    "See the photo above.", "Thanks! 🎉", "Still broken for me.", "了解です。", "Grüße aus Köln!",
)  # fmt: skip
_CODE: Final = (
    "docker compose logs --tail=50 api | grep -i error",
    "SELECT id, title FROM tasks WHERE done = false AND due_date < now();",
    "curl -s https://example.com/health | jq .status",
    "for f in *.csv; do iconv -f latin1 -t utf-8 \"$f\" > out/$f; done",
)  # fmt: skip
_MENTIONS: Final = (("carol", "Carol Nguyễn"), ("dave", "Dave O'Brien"), ("erin", "Erin Šimková"))
_POOL: Final = 400


@lru_cache(maxsize=8)
def _sentences(seed: int) -> tuple[str, ...]:
    """Make the sentences once: descriptions of thousands of tasks are put together from them."""
    chance = chance_of(seed, "sentences", 0)
    return tuple(
        f"{pick(chance, _STARTS)} {pick(chance, _MIDDLES)}, {pick(chance, _ENDS)}" for _ in range(_POOL)
    )


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def sentence(chance: random.Random, seed: int) -> str:
    return _escape(pick(chance, _sentences(seed)))


def title(chance: random.Random) -> str:
    return f"{pick(chance, _VERBS)} {pick(chance, _THINGS)}{pick(chance, _TAILS)}"


def _paragraph(chance: random.Random, seed: int) -> str:
    count = 1 + int(chance.random() * 4)
    return "<p>" + " ".join(sentence(chance, seed) for _ in range(count)) + "</p>"


def _bullets(chance: random.Random, seed: int) -> str:
    items = (f"<li><p>{sentence(chance, seed)}</p></li>" for _ in range(2 + int(chance.random() * 4)))
    return f"<ul>{''.join(items)}</ul>"


def _checklist(chance: random.Random, seed: int) -> str:
    items = ""
    for _ in range(2 + int(chance.random() * 5)):
        is_checked = chance.random() < 0.4
        box = '<input type="checkbox"' + (' checked="checked">' if is_checked else ">")
        items += (
            f'<li data-checked="{str(is_checked).lower()}" data-type="taskItem"><label>{box}<span></span></label>'
            f"<div><p>{sentence(chance, seed)}</p></div></li>"
        )
    return f'<ul data-type="taskList">{items}</ul>'


def _code(chance: random.Random, _: int) -> str:
    return f'<pre><code class="language-bash">{_escape(pick(chance, _CODE))}</code></pre>'


def _link(chance: random.Random, seed: int) -> str:
    url = f"https://example.com/wiki/{int(chance.random() * 10_000)}?view=full&amp;lang=en"
    link = f'<a target="_blank" rel="noopener noreferrer nofollow" href="{url}">the wiki</a>'
    return f"<p>{sentence(chance, seed)} See {link}.</p>"


def _mention(chance: random.Random, seed: int) -> str:
    name, label = pick(chance, _MENTIONS)
    user = f'<mention-user data-id="{name}" data-label="{label}">@{label}</mention-user>'
    return f"<p>{user} {sentence(chance, seed)}</p>"


_BLOCKS: Final = (_paragraph, _paragraph, _paragraph, _bullets, _checklist, _code, _link, _mention)


def description(chance: random.Random, seed: int, most_characters: int, marker: str) -> str:
    """Write a description of about so many characters; the marker stands in its first paragraph."""
    begin = f"<p>{marker}: {sentence(chance, seed)}</p>" if marker else _paragraph(chance, seed)
    parts, size = [begin], len(begin)
    while size < most_characters:
        parts.append(pick(chance, _BLOCKS)(chance, seed))
        size += len(parts[-1])
    return "".join(parts)


def comment(chance: random.Random, seed: int, marker: str) -> str:
    text = pick(chance, _REPLIES) if chance.random() < 0.4 else sentence(chance, seed)
    return f"<p>{marker + ': ' if marker else ''}{text}</p>"
