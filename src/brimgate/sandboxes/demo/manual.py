"""Generate the manual of a house, in Markdown: chapters, tables, steps; what to do when gas leaks is in chapter 31."""

import random
from typing import Final

from brimgate.sandboxes.demo.prose import paragraph, sentence, title

_URGENT: Final = """### 31.1 If you smell gas

1. Open the windows. Touch no switch.
2. Close the red valve behind the boiler: a quarter turn, until it stands across the pipe.
3. Leave, and call 112 from outside, then the person on call: extension 4471.
"""


def manual(chapters: int = 48, seed: int = 19) -> str:
    chance = random.Random(seed)  # noqa: S311  # made-up data, not secrets
    parts = ["# House manual\n", paragraph(chance, 4) + "\n"]
    for chapter in range(1, chapters + 1):
        parts.append(f"## {chapter}. {title(chance)}\n")
        parts.append(_URGENT if chapter == 31 else paragraph(chance, 6) + "\n")
        parts += [_section(chance, chapter, section) for section in range(2, 5)]
        parts.append(_table(chance))
    return "\n".join(parts)


def _section(chance: random.Random, chapter: int, section: int) -> str:
    steps = "".join(f"{number}. {sentence(chance)}\n" for number in range(1, chance.randint(3, 6)))
    return f"### {chapter}.{section} {title(chance)}\n\n{paragraph(chance, 5)}\n\n{steps}"


def _table(chance: random.Random) -> str:
    rows = "".join(
        f"| {title(chance)} | {chance.randint(1, 12)} months | {chance.randint(10, 900)} EUR |\n"
        for _ in range(5)
    )
    return f"| what | checked every | costs to replace |\n|---|---|---|\n{rows}"
