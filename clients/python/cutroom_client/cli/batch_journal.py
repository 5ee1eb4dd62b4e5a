"""The state of a batch: each step is in the journal before it is taken, so that a killed run repeats nothing."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from cutroom_client.cli.exits import CommandError, Exit
from cutroom_client.cli.profiles import lock_file


@dataclass
class ItemState:
    """How far an item has come."""

    video_id: str | None = None
    uploaded: bool = False
    keys: dict[str, str] = field(default_factory=dict)  # idempotency keys by step
    prices: dict[str, float] = field(default_factory=dict)  # what a step may cost at most
    jobs: dict[str, list[str]] = field(default_factory=dict)  # by step
    done: bool = False
    error: str = ""


class Journal:
    """Appends records, one JSON line each, and has the state of every item."""

    def __init__(self, file: IO[str], library: str) -> None:
        self._file = file
        self._library = library
        self.items: dict[str, ItemState] = {}

    def state(self, item_id: str) -> ItemState:
        return self.items.setdefault(item_id, ItemState())

    def spent(self) -> float:
        """What all steps that were requested cost, or may cost."""
        return sum(price for each in self.items.values() for price in each.prices.values())

    def key(self, item_id: str, step: str, *, price: float = 0.0) -> str:
        """The idempotency key of a step: the one of an earlier run, or a new one."""
        state = self.state(item_id)
        if step not in state.keys:
            self._record(item_id, "key", step=step, key=str(uuid.uuid4()), price=price)
        return state.keys[step]

    def video(self, item_id: str, video_id: str, *, uploaded: bool) -> None:
        state = self.state(item_id)
        if (state.video_id, state.uploaded) != (video_id, uploaded):
            self._record(item_id, "video", videoId=video_id, uploaded=uploaded)

    def requested(self, item_id: str, step: str, jobs: list[str]) -> None:
        self._record(item_id, "requested", step=step, jobs=jobs)

    def done(self, item_id: str) -> None:
        self._record(item_id, "done")

    def failed(self, item_id: str, error: str, *, step: str | None = None) -> None:
        """A failure; a step whose outcome is known to be one is requested again by the next run."""
        self._record(item_id, "failed", error=error, step=step)

    def forget_video(self, item_id: str) -> None:
        """The import has failed: the next run sends the file again."""
        self._record(item_id, "forget")

    def _record(self, item_id: str, event: str, **fields: object) -> None:
        record = {"item": item_id, "event": event, **fields}
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.apply(record)

    def apply(self, record: dict[str, Any]) -> None:
        """Replays a record."""
        state, step = self.state(str(record["item"])), record.get("step")
        match record["event"]:
            case "key":
                state.keys[str(step)], state.prices[str(step)] = str(record["key"]), float(record["price"])
            case "video":
                state.video_id, state.uploaded, state.error = str(record["videoId"]), bool(record["uploaded"]), ""
            case "requested":
                state.jobs[str(step)], state.error = [str(each) for each in record["jobs"]], ""
            case "done":
                state.done, state.error = True, ""
            case "failed":
                state.error = str(record["error"])
                for known in (state.keys, state.prices, state.jobs):
                    known.pop(str(step), None)
            case "forget":
                state.video_id, state.uploaded = None, False
                for known in (state.keys, state.prices, state.jobs):
                    known.clear()


@contextmanager
def open_journal(path: Path, library: str) -> Iterator[Journal]:
    """The journal of a batch; only one process has it at a time."""
    try:
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
    with file:
        try:
            lock_file(file.fileno(), wait=False)
        except BlockingIOError:
            raise CommandError("This batch is running already.", exit_code=Exit.CONFLICT, code="RUNNING") from None
        path.chmod(0o600)
        file.seek(0)
        journal = Journal(file, library)
        _load(journal, path, file, library)
        yield journal


def _load(journal: Journal, path: Path, file: IO[str], library: str) -> None:
    text = file.read()
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):  # the run was killed while it wrote
        torn = lines.pop()
        os.truncate(path, len(text.encode()) - len(torn.encode()))
        file.seek(0, os.SEEK_END)
    try:
        records = [json.loads(line) for line in lines]
        if not records:
            file.write(json.dumps({"batch": 1, "library": library}) + "\n")
            file.flush()
            return
        if records[0].get("library") != library:
            raise CommandError(f"{path} is the state of a batch of another library.", exit_code=Exit.CONFLICT)
        for record in records[1:]:
            journal.apply(record)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CommandError(f"{path} is damaged: it is not the state of a batch.") from None
