"""Messages to other processes that are sent once the transaction of the current task has committed.

They are hints that save waiting: a message is lost if its process dies first, or while Redis is unavailable.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Announcement:
    """A message to the followers of a topic; an empty one says that something has changed."""

    topic: str
    message: str = ""


_collected: ContextVar[dict[Announcement, None] | None] = ContextVar("announcements", default=None)


def announce(announcement: Announcement) -> None:
    """Send a message when the current transaction commits, once; `Database.transaction` sends it."""
    collected = _collected.get()
    if collected is not None:
        collected[announcement] = None


@contextmanager
def collected_announcements() -> Iterator[dict[Announcement, None]]:
    """Collects what the block announces."""
    before, collected = _collected.get(), dict[Announcement, None]()
    _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.set(before)
