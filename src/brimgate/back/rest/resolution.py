"""The settings of a declaration, with what stands in the environment."""

from collections.abc import Mapping

from brimgate.back.rest.model import Setting
from brimgate.back.rest.tool_declaration import HEADER, OUR_HEADERS
from brimgate.errors import OperatorError


class Resolution:
    """Looks every setting up; what is missing is told all at once."""

    def __init__(self, name: str, variables: Mapping[str, str]) -> None:
        self._name, self._variables = name, variables
        self._missing: dict[str, str] = {}

    def given(self, setting: Setting) -> str:
        """What the environment holds for it; empty if nothing."""
        return self._variables.get(setting.variable, "").strip() if setting.variable else ""

    def text(self, setting: Setting, key: str) -> str:
        """Empty is as good as missing: a variable is often declared and not filled in."""
        found = self.given(setting) or (setting.text or "").strip()
        if not found and setting.variable:
            self._missing[setting.variable] = key
        return found

    def header(self, setting: Setting, key: str) -> str:
        """As it may stand in a header."""
        found = self.text(setting, key)
        if not all(" " <= char <= "ÿ" and char != "\x7f" for char in found):
            source = setting.variable or key
            raise OperatorError(f"{self._name}: {source} holds characters that no header can: copy it anew")
        return found

    def header_name(self, setting: Setting, key: str) -> str:
        """Of a header that holds credentials."""
        found = self.text(setting, key)
        is_ours = found.lower() in OUR_HEADERS - {"authorization"}
        if (found or not setting.variable) and (is_ours or not HEADER.fullmatch(found)):
            source = setting.variable or key
            raise OperatorError(f"{self._name}: {source} must be the name of a header that can be set here")
        return found

    def finish(self) -> None:
        if self._missing:
            told = ", ".join(f"{variable} (for {key})" for variable, key in self._missing.items())
            raise OperatorError(
                f"{self._name}: not set in the environment: {told}; set it, or write a `default` beside its `env`"
            )
