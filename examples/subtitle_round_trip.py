"""Opens the subtitles of a video in your editor, and imports what you have changed.

    EDITOR=nano python subtitle_round_trip.py VIDEO_ID --language pt

Only changed lines are changed in Cutroom. If the transcript was edited in the meantime, nothing is overwritten.
"""

import argparse
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from cutroom_client import ConflictError, Cutroom


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("video")
    parser.add_argument("--language", required=True, help="that of the transcript, or of translated captions")
    arguments = parser.parse_args()
    client = Cutroom()
    video, language = client.videos.handle(arguments.video), arguments.language
    is_spoken = video.transcript().language == language
    revision = (
        client.operations.list_revisions(video.id, limit=1).revisions[0].revision
        if is_spoken
        else client.operations.get_caption_segments(video.id, language).revision
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{video.id}.{language}.srt"
        video.subtitles(language, path)
        before = path.read_text()
        subprocess.run([*shlex.split(os.environ.get("EDITOR", "vi")), str(path)], check=True)  # noqa: S603 (your editor)
        content = path.read_text()
    if content == before:
        print("nothing was changed")
        return
    body = {"revision": revision, "format": "srt", "content": content}
    try:
        if is_spoken:
            changed = len(client.operations.import_transcript(video.id, body).changes)
        else:
            changed = client.operations.import_captions(video.id, language, body).total_changes
    except ConflictError as error:
        raise SystemExit(
            f"somebody else made revision {error.details.get('revision')} meanwhile: start again"
        ) from None
    print(f"{changed} lines changed")
    for stale in client.operations.get_stale_products(video.id).products:
        print(f"made from the old text: {stale.product} {stale.id}")


if __name__ == "__main__":
    main()
