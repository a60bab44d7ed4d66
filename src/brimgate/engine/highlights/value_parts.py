"""Find texts of a column by a part that hardly any other has: a word, a mark, the host of an address, its network."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from brimgate.engine.highlights.table_columns import rare_count

_WORD: Final = re.compile(r"[^\W\d_]{2,}|\(\d{1,4}\)")
_HOST: Final = re.compile(r"([a-z][a-z0-9+.-]{1,12}://(?:[^/@\s]*@)?[^/:\s]+)", re.IGNORECASE)
_NETWORK: Final = re.compile(r"(\d{1,3}\.\d{1,3})\.\d{1,3}\.\d{1,3}(?!\d)")
_PLACEHOLDER: Final = re.compile(r"\{\{?\s*([\w.]+)\s*\}?\}")
_ENDING: Final = re.compile(r"[^.:\s][.:]([A-Za-z][A-Za-z0-9]{0,11}|\d{2,5})\Z")
_FIRST: Final = re.compile(r"([A-Za-z][\w-]*(?: \(\d{1,4}\))?)(?= |\Z)")
_MARKS: Final = "@/\\<>[]{}()#$%^&*+=|~`!?;:\"'"
_FEW_KINDS: Final = 12
_MANY_FOLDERS: Final = 24
_MIN_KNOWN: Final = 20
_USUAL: Final = 0.9
_MAX_CHARS: Final = 300
_SHORT: Final = 80
_VOCABULARY: Final = 15


def odd_parts(texts: Sequence[str]) -> list[int]:
    """Return which texts have a part that hardly any other of them has, where nearly all have a usual one."""
    filled = [at for at, text in enumerate(texts) if text.strip()]
    cut = [texts[at][:_MAX_CHARS] for at in filled]
    if len(cut) < _MIN_KNOWN:
        return []
    found: set[int] = set()
    for pattern in (_HOST, _NETWORK, _PLACEHOLDER):
        found |= _rare(cut, pattern.findall, least=_USUAL if pattern is not _PLACEHOLDER else 0.05)
    has_few = has_few_words(cut)
    is_one_word = sum(" " not in text for text in cut) > _USUAL * len(cut)
    if (has_few or is_one_word) and sorted(map(len, cut))[len(cut) // 2] <= _SHORT:
        found |= _rare_marks(cut)
        found |= _rare_words(cut) if has_few else set()
    return sorted(filled[at] for at in found)


def has_few_words(texts: Sequence[str]) -> bool:
    """Return whether texts say the same few words again and again, with other numbers."""
    words = {word for text in texts for word in _WORD.findall(text[:_MAX_CHARS])}
    return len(words) <= max(_FEW_KINDS, len(texts) // _VOCABULARY)


def ending_of(text: str) -> str:
    """Return what a name ends with behind its last dot or colon: the extension of a file, a port; empty if it has none."""
    found = _ENDING.search(text[:_MAX_CHARS])
    return found[1] if found else ""


def tallied_folders(texts: Sequence[str]) -> Counter[str] | None:
    """Count paths by the first folder in which they differ, if there are few."""
    split = [text[:_MAX_CHARS].strip("/").split("/")[:-1] for text in texts]
    for depth in range(max(map(len, split), default=0)):
        counts = Counter("/".join(folders[: depth + 1]) for folders in split)
        if len(counts) > _MANY_FOLDERS:
            return None
        if len(counts) > 1:
            return counts
    return None


def tallied_parts(texts: Sequence[str]) -> Counter[str] | None:
    """Count texts by their ending or first word, if all have one and there are few."""
    for pattern in (_ENDING, _FIRST):
        search = pattern.search if pattern is _ENDING else pattern.match
        found = [one[1] for text in texts if (one := search(text[:_MAX_CHARS]))]
        counts = Counter(found)
        if len(found) >= _USUAL * len(texts) and 2 <= len(counts) <= _FEW_KINDS:
            return counts
    return None


def _rare(texts: Sequence[str], parts_of: Callable[[str], Iterable[str]], *, least: float) -> set[int]:
    parts = [set(parts_of(text)) for text in texts]
    having = sum(map(bool, parts))
    if having < max(_MIN_KNOWN, least * len(texts)):
        return set()
    counts = Counter(part for one in parts for part in one)
    if counts.most_common(1)[0][1] < _USUAL * having:
        return set()
    few = rare_count(len(texts))
    return _if_few({at for at, one in enumerate(parts) if any(counts[part] <= few for part in one)}, texts)


def _rare_marks(texts: Sequence[str]) -> set[int]:
    """Return texts with a mark that hardly any other has, or without one that nearly all have."""
    joined = "\n".join(texts)
    few = rare_count(len(texts))
    found: set[int] = set()
    for mark in _MARKS:
        if mark not in joined:
            continue
        having = {at for at, text in enumerate(texts) if mark in text}
        if len(having) <= few:
            found |= having
        elif len(texts) - len(having) <= few:
            found |= set(range(len(texts))) - having
    return _if_few(found, texts)


def _rare_words(texts: Sequence[str]) -> set[int]:
    words = [set(_WORD.findall(text)) for text in texts]
    counts = Counter(word for one in words for word in one)
    few = rare_count(len(texts))
    return {at for at, one in enumerate(words) if any(counts[word] <= few for word in one)}


def _if_few(found: set[int], texts: Sequence[str]) -> set[int]:
    """Return what was found, if it is little: what many have is no exception."""
    return found if len(found) <= max(4, len(texts) // 100) else set()
