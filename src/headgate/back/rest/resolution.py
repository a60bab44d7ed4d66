"""The settings of a declaration, with what stands in the environment."""

from collections.abc import Mapping

from headgate.back.rest.model import Setting
from headgate.errors import OperatorError


class Resolution:
    """Looks every setting up; what is missing is told all at once."""

    def __init__(self, name: str, variables: Mapping[str, str]) -> None:
        self._name, self._variables = name, variables
        self._missing: dict[str, str] = {}

    def text(self, setting: Setting, key: str) -> str:
        """Empty is as good as missing: a variable is often declared and not filled in."""
        given = self._variables.get(setting.variable, "") if setting.variable else ""
        found = given.strip() or (setting.text or "").strip()
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

    def finish(self) -> None:
        if self._missing:
            told = ", ".join(f"{variable} (for {key})" for variable, key in self._missing.items())
            raise OperatorError(
                f"{self._name}: not set in the environment: {told}; set it, or write a `default` beside its `env`"
            )
