"""Fetches the recorded speech and the photographs that tests and proofs work on: `python -m dev.clips`."""

from tests.engines.pictures import ensure_pictures, pictures_folder
from tests.engines.speech_clips import clips_folder, ensure_clips

if __name__ == "__main__":
    print(f"recorded speech is in {ensure_clips(clips_folder())}")
    print(f"photographs are in {ensure_pictures(pictures_folder())}")
