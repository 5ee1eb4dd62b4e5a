"""Translates the captions of a video, and saves them as subtitles: `python captions.py VIDEO_ID pt`."""

import sys

from cutroom_client import Cutroom

video_id, language = sys.argv[1:]
video = Cutroom(max_credits=5).videos.get(video_id)
captions = video.captions(language).wait()
print(captions.download(f"{video.title}-{language}.srt").path)
