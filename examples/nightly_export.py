"""Saves everything that was made since the last run: one ZIP for each video that has changed, into a folder.

    python nightly_export.py /backup/cutroom          # in cron: 0 3 * * *

The folder may be a mounted bucket. The cursor of the event log is kept in it, so that no change is missed, however long
the program did not run. Without a mount, let Cutroom copy outputs to your bucket itself: see docs/destination.md.
"""

import argparse
from pathlib import Path

from cutroom_client import Cutroom, GoneError, NotFoundError

TYPES = "video.ready,video.updated,job.ready,transcript.edited,captions.edited,dub.regenerated"


def changed_videos(client: Cutroom, cursor: str | None) -> tuple[set[str], str]:
    """Ids of the videos that events are about, and the cursor after the last one."""
    found: set[str] = set()
    while True:
        page = client.events.page(after=cursor, types=TYPES, limit=100)
        for event in page.events:
            is_download = event.type == "job.ready" and event.data.get("type") == "download"  # of an earlier run
            video = event.data["id"] if event.type.startswith("video.") else event.data.get("videoId")
            if video is not None and not is_download:
                found.add(video)
        cursor = page.cursor
        if not page.has_more:
            return found, cursor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    client, state = Cutroom(), folder / ".cursor"
    try:
        videos, cursor = changed_videos(client, state.read_text() if state.exists() else None)
    except GoneError:  # not run for a month: the log is shorter than that, so save everything
        videos, cursor = {each.id for each in client.videos.list()}, changed_videos(client, None)[1]
    for video_id in sorted(videos):
        try:
            saved = client.videos.get(video_id).download(folder / f"{video_id}.zip", artifact="bundle")
            print(f"{saved.path}: {saved.size} bytes, SHA-256 {saved.sha256}")
        except NotFoundError:
            print(f"{video_id}: deleted since")
    state.write_text(cursor)  # last: a run that fails is repeated


if __name__ == "__main__":
    main()
