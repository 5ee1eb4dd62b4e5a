"""Renders JSON log lines as readable text."""

import json
from dataclasses import dataclass
from typing import Any

RESET = "\033[0m"
DIM = "\033[2m"
LEVEL_COLORS = {"DEBUG": "\033[2m", "WARNING": "\033[33m", "ERROR": "\033[31m", "CRITICAL": "\033[1;31m"}
PROCESS_COLORS = {"api": "\033[36m", "worker": "\033[35m"}
HIDDEN = frozenset({"color_message"})  # uvicorn repeats the message in it
PREFIX_WIDTH = 7
TIME_OF_DAY = slice(11, 23)  # of an ISO 8601 time with milliseconds


@dataclass(frozen=True)
class Renderer:
    """Renders the log lines of one process, prefixed with its name."""

    process: str
    colored: bool

    def render(self, line: str) -> str:
        """Formats a JSON line as time, level, message and key=value pairs; other lines are unchanged."""
        fields = _parse(line)
        text = line if fields is None else self._format(fields)
        prefix = self._paint(f"{self.process:<{PREFIX_WIDTH}}", PROCESS_COLORS.get(self.process, ""))
        return "\n".join(f"{prefix} {part}" for part in text.splitlines() or [""])

    def _format(self, fields: dict[str, Any]) -> str:
        time = str(fields.pop("time", ""))[TIME_OF_DAY]
        level = str(fields.pop("level", "")).upper()
        message, exception = fields.pop("message"), fields.pop("exception", None)
        shown = {name: value for name, value in fields.items() if value is not None and name not in HIDDEN}
        values = " ".join(f"{name}={_value(value)}" for name, value in shown.items())
        parts = (
            self._paint(time, DIM),
            self._paint(f"{level:<7}", LEVEL_COLORS.get(level, "")),
            str(message),
            self._paint(values, DIM),
        )
        text = " ".join(part for part in parts if part)
        return f"{text}\n{exception}" if exception else text

    def _paint(self, text: str, color: str) -> str:
        return f"{color}{text}{RESET}" if self.colored and color and text else text


def _parse(line: str) -> dict[str, Any] | None:
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) and "message" in fields else None


def _value(value: object) -> str:
    """Single words are printed bare; other values are JSON-encoded."""
    if isinstance(value, str) and value and not any(character.isspace() or character in '"=' for character in value):
        return value
    return json.dumps(value, ensure_ascii=False)
