"""Encodes events as the API returns them, and as server-sent events. Payloads are JSON already."""

import json
from collections.abc import Iterator, Sequence

from cutroom.events.feed import JobProgressReport
from cutroom.events.rules import PROGRESS_TYPE, encode_cursor
from cutroom.events.service import LoggedEvent


def encode_event(event: LoggedEvent) -> str:
    head = json.dumps({"id": event.id, "type": event.type, "timestamp": event.timestamp}, separators=(",", ":"))
    return f'{head[:-1]},"data":{event.payload}}}'


def encode_page(library_id: str, events: Sequence[LoggedEvent], *, position: int, has_more: bool) -> bytes:
    """A page of the list: its cursor is where the next one begins."""
    listed = ",".join(encode_event(each) for each in events)
    cursor, more = encode_cursor(library_id, position), json.dumps(has_more)
    return f'{{"events":[{listed}],"cursor":"{cursor}","hasMore":{more}}}'.encode()


def encode_server_sent(library_id: str, events: Sequence[LoggedEvent]) -> Iterator[bytes]:
    for each in events:
        cursor = encode_cursor(library_id, each.position)
        yield f"id: {cursor}\nevent: {each.type}\ndata: {encode_event(each)}\n\n".encode()


def encode_position(library_id: str, position: int) -> bytes:
    """Moves the reader's cursor without an event."""
    return f"id: {encode_cursor(library_id, position)}\n\n".encode()


def encode_progress(report: JobProgressReport) -> bytes:
    """Without an id: it is not in the log."""
    return f'event: {PROGRESS_TYPE}\ndata: {{"type":"{PROGRESS_TYPE}","data":{report.payload}}}\n\n'.encode()
