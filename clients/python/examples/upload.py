"""Uploads files, each as a new video; run it again after a crash, and it continues: `python upload.py *.mp4`."""

import sys

from cutroom_client import Cutroom

client = Cutroom()
for file in sys.argv[1:]:
    video = client.videos.upload(file, progress=lambda sent, total: print(f"{sent * 100 // total} %"))
    print(video.id, video.title)
