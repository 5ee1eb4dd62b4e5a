"""Uploads every video that appears in a folder, and puts its subtitles beside it.

    python watch_folder.py ~/Recordings --language pt

An upload that is interrupted continues when the program is started again.
"""

import argparse
import time
from pathlib import Path

from cutroom_client import Cutroom, CutroomError

ENDINGS = frozenset({".mp4", ".mov", ".mkv", ".webm", ".mp3", ".wav"})


def settled(path: Path, sizes: dict[Path, int]) -> bool:
    """Whether a file has not grown since the last look: a recorder may still be writing it."""
    size = path.stat().st_size
    return sizes.get(path) == size > 0 or sizes.update({path: size}) is not None


def process(client: Cutroom, path: Path, language: str | None) -> None:
    video = client.videos.upload(path)
    video.transcribe().wait().download(path.with_suffix(".srt"))
    if language is not None:
        video.captions(language, accept_draft=True).wait().download(path.with_suffix(f".{language}.srt"))
    print(f"{path.name}: subtitles are ready")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--language", help="translate the subtitles as well")
    parser.add_argument("--interval", type=float, default=5.0, help="seconds between two looks")
    parser.add_argument("--once", action="store_true", help="stop when everything in the folder has subtitles")
    arguments = parser.parse_args()
    client, sizes, failed = Cutroom(), dict[Path, int](), set[Path]()
    while True:
        files = [path for path in sorted(arguments.folder.iterdir()) if path.suffix.lower() in ENDINGS]
        waiting = [path for path in files if path not in failed and not path.with_suffix(".srt").exists()]
        if arguments.once and not waiting:
            return
        for path in (path for path in waiting if settled(path, sizes)):
            try:
                process(client, path, arguments.language)
            except CutroomError as error:
                failed.add(path)
                print(f"{path.name}: {error}")
        time.sleep(arguments.interval)


if __name__ == "__main__":
    main()
