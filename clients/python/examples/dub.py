"""Uploads a video, dubs it into a language, and saves the result: `python dub.py talk.mp4 pt`."""

import sys
from pathlib import Path

from cutroom_client import Cutroom

file, language = Path(sys.argv[1]), sys.argv[2]
video = Cutroom(max_credits=20).videos.upload(file, progress=lambda sent, total: print(f"{sent} of {total} bytes"))
dub = video.dub(language).wait(progress=lambda job: print(job.stage or job.status, job.progress or ""))
print(dub.download(file.with_name(f"{file.stem}-{language}.mp4")).path)
