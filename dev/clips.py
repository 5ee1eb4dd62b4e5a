"""Fetches the recorded speech that tests and proofs listen to: `python -m dev.clips`."""

from tests.engines.speech_clips import clips_folder, ensure_clips

if __name__ == "__main__":
    print(f"recorded speech is in {ensure_clips(clips_folder())}")
