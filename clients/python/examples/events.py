"""Prints what happened in the library since the stored cursor: `python events.py cursor.txt`."""

import sys
from pathlib import Path

from cutroom_client import Cutroom

client, store = Cutroom(), Path(sys.argv[1])
cursor = store.read_text() if store.exists() else None
while True:
    page = client.events.page(after=cursor, limit=100)
    for event in page.events:
        print(event.timestamp, event.type, event.data.get("id"))
    store.write_text(cursor := page.cursor)  # after the events: a crash repeats a page, and loses none
    if not page.has_more:
        break
