"""Small media files, encoded once per test session."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cutroom.media.sandbox import Sandbox

EncodeFixture = Callable[..., Path]

H264 = ("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p")


@pytest.fixture(scope="session")
def encode(tmp_path_factory: pytest.TempPathFactory) -> EncodeFixture:
    """Encodes a file with these ffmpeg arguments, cached by name."""
    folder = tmp_path_factory.mktemp("media")

    def make(name: str, *arguments: str) -> Path:
        path = folder / name
        if not path.exists():
            command = ["ffmpeg", "-v", "error", "-nostdin", "-y", *arguments, str(path)]
            subprocess.run(command, check=True, timeout=500)
        return path

    return make


@pytest.fixture(scope="session")
def sample_video(encode: EncodeFixture) -> Path:
    """18 s at 29.97 fps; each second starts with a white flash and a beep."""
    flash = "color=c=0x404040:s=320x180:r=30000/1001:d=18,drawbox=c=white:t=fill:enable='lt(mod(t,1),0.1)'"
    beep = "sine=f=1000:r=48000:d=18,volume='if(lt(mod(t,1),0.1),1,0)':eval=frame"
    return encode(
        "sample_video.mp4", "-f", "lavfi", "-i", flash, "-f", "lavfi", "-i", beep, *H264, "-g", "300", "-c:a", "aac"
    )


@pytest.fixture(scope="session")
def sample_audio(encode: EncodeFixture) -> Path:
    return encode("sample_audio.mp3", "-f", "lavfi", "-i", "sine=f=440:d=3")


@pytest.fixture
def sandbox() -> Sandbox:
    return Sandbox()
