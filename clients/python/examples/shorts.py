"""Cuts shorts out of a video, if they cost at most what is given: `python shorts.py VIDEO_ID 8`."""

import sys

from cutroom_client import Cutroom, SpendingLimitError

video_id, limit = sys.argv[1:]
video = Cutroom().videos.get(video_id)
try:
    shorts = video.shorts(num_clips=3, max_credits=limit).wait()
except SpendingLimitError as error:
    sys.exit(f"Nothing was charged: {error}")
for saved in shorts.download_all("shorts"):
    print(saved.path, saved.size)
