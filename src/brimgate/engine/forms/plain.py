"""Bare: JSON without the quotes that nobody needs, for what is no table: {type:object,items:[one,two words]}.

In canonical text a quotation mark that no backslash stands before opens or closes a string, and behind a closing
one never comes a letter. So a pattern that begins with a mark and a letter can only match a whole string, and one
pass over the text is enough, both ways.
"""

import re
from typing import Final

from brimgate.engine import jsontext

_PLAIN: Final = re.compile(r'(?<!\\)"(?!(?:true|false|null)")([A-Za-z_$](?:[\w$./ -]*[\w$./-])?)"', re.ASCII)
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^{}\[\],:"]+')
_LITERAL: Final = re.compile(r"true\Z|false\Z|null\Z|-?\d")


def encode(raw: bytes) -> str:
    return _PLAIN.sub(r"\1", raw.decode())


def decode(text: str) -> bytes:
    return _TOKEN.sub(_quoted, text).encode()


def _quoted(token: re.Match[str]) -> str:
    text = token[0]
    return text if text[0] == '"' or _LITERAL.match(text) else jsontext.quote(text)
