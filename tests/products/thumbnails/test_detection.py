"""Thumbnail frames are taken with open eyes where the video has such a frame nearby."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from cutroom.engines.registry import Engines
from cutroom.engines.vision.frame_selection import assess_frame
from cutroom.media.frames import still_times
from cutroom.media.probe import probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.platform.settings import Settings
from cutroom.products.thumbnails.detection import select_best_frames
from dev.fixtures.expressions import PORTRAIT, portrait_with_closed_eyes
from dev.fixtures.photographs import photograph
from tests.engines.recognition.recognizer_suite import model_folder

SECONDS, FPS = 48, 5
BLINK_SECONDS = 0.3  # from a still


def engines(*, face_landmarker: str = "mediapipe-face") -> Engines:
    unused: dict[str, Any] = dict.fromkeys(("database_url", "redis_url", "s3_access_key", "s3_secret_key"), "unused")
    models_dir = model_folder("mediapipe-face").parent
    return Engines(Settings(**unused, face_landmarker=face_landmarker, secret_key="unused" * 6, models_dir=models_dir))


def blinking_video(folder: Path) -> Path:
    """A portrait that blinks whenever a still is taken."""
    closed, opened = (np.ascontiguousarray(each[:288]) for each in (portrait_with_closed_eyes(), photograph(PORTRAIT)))
    blinks = still_times(SECONDS)
    times = [number / FPS for number in range(SECONDS * FPS)]
    frames = [closed if min(abs(time - blink) for blink in blinks) < BLINK_SECONDS else opened for time in times]
    path = folder / "blinking.mp4"
    size = f"{opened.shape[1]}x{opened.shape[0]}"
    command = ["ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", str(FPS), "-i", "-"]
    command += ["-c:v", "libx264", "-preset", "ultrafast", "-crf", "18", "-g", "1", "-pix_fmt", "yuv420p", str(path)]
    subprocess.run(command, input=b"".join(frame.tobytes() for frame in frames), check=True, timeout=500)
    return path


async def test_blinks_are_not_shown(tmp_path: Path) -> None:
    video, sandbox = blinking_video(tmp_path), Sandbox()
    info = await probe_header(video, sandbox=sandbox)
    measuring = engines()
    landmarker = measuring.face_landmarker()
    is_closed = {}
    for name, used in (("with landmarks", measuring), ("without", engines(face_landmarker="none"))):
        frames = await select_best_frames(
            video, info, output=tmp_path, sandbox=sandbox, engines=used, report_progress=lambda _: None
        )
        qualities = [assess_frame(each.image, measuring.face_detector(), landmarker) for each in frames]
        is_closed[name] = [quality.main_face.has_closed_eyes for quality in qualities]
    assert is_closed == {"with landmarks": [False], "without": [True]}
