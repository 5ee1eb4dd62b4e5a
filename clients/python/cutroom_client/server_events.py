"""Server-sent events: the parser of the stream of events."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ServerEvent:
    """An event of the stream; `cursor` is where a new connection continues."""

    type: str
    data: dict[str, Any]
    cursor: str | None


@dataclass
class EventParser:
    """Turns lines into events. A line that is malformed is skipped, as the format demands."""

    cursor: str | None = None
    _type: str = ""
    _data: list[str] = field(default_factory=list)

    def feed(self, line: str) -> ServerEvent | None:
        """The event that the line completes, if it completes one."""
        if not line:
            return self._complete()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id" and "\0" not in value:
            self.cursor = value
        elif name == "event":
            self._type = value
        elif name == "data":
            self._data.append(value)
        return None

    def _complete(self) -> ServerEvent | None:
        kind, lines = self._type, self._data
        self._type, self._data = "", []
        if not lines:
            return None
        try:
            data = json.loads("\n".join(lines))
        except ValueError:
            return None
        return ServerEvent(kind or "message", data, self.cursor) if isinstance(data, dict) else None
