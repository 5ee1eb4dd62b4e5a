"""Renders the JSON log lines of Cutroom's processes for human eyes."""

import json
from dataclasses import dataclass
from typing import Any

RESET = "\033[0m"
DIM = "\033[2m"
LEVEL_COLOURS = {"DEBUG": "\033[2m", "WARNING": "\033[33m", "ERROR": "\033[31m", "CRITICAL": "\033[1;31m"}
PROCESS_COLOURS = {"api": "\033[36m", "worker": "\033[35m"}
HIDDEN = frozenset({"color_message"})  # uvicorn says everything twice
PREFIX_WIDTH = 7
TIME_OF_DAY = slice(11, 23)  # of an ISO 8601 time with milliseconds


@dataclass(frozen=True)
class Renderer:
    """Writes the lines of one process behind its name."""

    process: str
    coloured: bool

    def render(self, line: str) -> str:
        """Return the line as time, level, message and key=value; a line that is not ours as it is."""
        fields = _parse(line)
        text = line if fields is None else self._sentence(fields)
        prefix = self._paint(f"{self.process:<{PREFIX_WIDTH}}", PROCESS_COLOURS.get(self.process, ""))
        return "\n".join(f"{prefix} {part}" for part in text.splitlines() or [""])

    def _sentence(self, fields: dict[str, Any]) -> str:
        time = str(fields.pop("time", ""))[TIME_OF_DAY]
        level = str(fields.pop("level", "")).upper()
        message, exception = fields.pop("message"), fields.pop("exception", None)
        shown = {name: value for name, value in fields.items() if value is not None and name not in HIDDEN}
        values = " ".join(f"{name}={_value(value)}" for name, value in shown.items())
        parts = (
            self._paint(time, DIM),
            self._paint(f"{level:<7}", LEVEL_COLOURS.get(level, "")),
            str(message),
            self._paint(values, DIM),
        )
        sentence = " ".join(part for part in parts if part)
        return f"{sentence}\n{exception}" if exception else sentence

    def _paint(self, text: str, colour: str) -> str:
        return f"{colour}{text}{RESET}" if self.coloured and colour and text else text


def _parse(line: str) -> dict[str, Any] | None:
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) and "message" in fields else None


def _value(value: object) -> str:
    """A word stands as it is; anything that would not be one word is quoted."""
    if isinstance(value, str) and value and not any(character.isspace() or character in '"=' for character in value):
        return value
    return json.dumps(value, ensure_ascii=False)
