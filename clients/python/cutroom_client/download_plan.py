"""Which ranges of a file are still missing, kept beside the unfinished file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cutroom_client.transfers import read_state, write_state

PART_BYTES = 8 * 1024 * 1024


@dataclass
class DownloadPlan:
    """The unfinished file `NAME.part` and its state `NAME.part.json`."""

    target: Path
    identity: str
    size: int = 0
    etag: str | None = None
    part_bytes: int = PART_BYTES
    done: set[int] = field(default_factory=set)
    notes: dict[str, Any] = field(default_factory=dict)  # what the caller needs to find the same file again

    @property
    def part(self) -> Path:
        return self.target.with_name(f"{self.target.name}.part")

    @property
    def _state(self) -> Path:
        return self.target.with_name(f"{self.target.name}.part.json")

    def load(self) -> None:
        """Takes up an earlier attempt at the same file."""
        stored = read_state(self._state)
        if stored is None or stored.get("identity") != self.identity:
            return
        self.notes = dict(stored.get("notes") or {})
        if not self.part.exists() or self.part.stat().st_size != stored.get("size"):
            return
        self.size, self.etag = int(stored["size"]), stored.get("etag")
        self.part_bytes = int(stored.get("part_bytes") or PART_BYTES)
        self.done = {int(each) for each in stored.get("done", [])}

    def begin(self, size: int, etag: str | None) -> None:
        """Starts from nothing, unless the partial file is of the same version."""
        if self.part.exists() and (size, etag) == (self.size, self.etag):
            return
        self.size, self.etag, self.done = size, etag, set()
        with self.part.open("wb") as file:
            file.truncate(size)
        self.save()

    def save(self) -> None:
        write_state(
            self._state,
            {
                "identity": self.identity,
                "size": self.size,
                "etag": self.etag,
                "part_bytes": self.part_bytes,
                "done": sorted(self.done),
                "notes": self.notes,
            },
        )

    def missing(self) -> list[tuple[int, int, int]]:
        """Number, start and end of each range that has not been received."""
        ranges = range(-(-self.size // self.part_bytes))
        return [
            (number, number * self.part_bytes, min((number + 1) * self.part_bytes, self.size))
            for number in ranges
            if number not in self.done
        ]

    def received(self) -> int:
        return self.size - sum(end - start for _, start, end in self.missing())

    def store(self, number: int, start: int, content: bytes) -> None:
        """Writes a range, and then records that it is there."""
        with self.part.open("r+b") as file:
            file.seek(start)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self.done.add(number)
        self.save()

    def finish(self) -> None:
        self.part.replace(self.target)
        self._state.unlink(missing_ok=True)

    def discard(self) -> None:
        self.part.unlink(missing_ok=True)
        self._state.unlink(missing_ok=True)
