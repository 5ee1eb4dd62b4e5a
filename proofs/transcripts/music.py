"""Instrumental music from Debian's Asterisk music-on-hold package."""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from cutroom.engines.types import SAMPLE_RATE

PACKAGE = "asterisk-moh-opsound-g722"  # CC-BY-SA-3.0; used as input only, not distributed
TRACK = Path("usr/share/asterisk/moh/manolo_camp-morning_coffee.g722")  # 73 s
FETCH_SECONDS = 600


def music_track(cache: Path) -> Path:
    """The track as a WAV file, cached in a folder; downloads the package unless it is installed."""
    path = cache / "music.wav"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=cache) as name:
            converted = Path(name) / path.name
            _convert(_find(Path(name)), converted)
            converted.replace(path)
    return path


def _find(scratch: Path) -> Path:
    root = Path("/")
    if not (root / TRACK).exists():
        subprocess.run(["apt-get", "-qq", "download", PACKAGE], cwd=scratch, check=True, timeout=FETCH_SECONDS)
        root = scratch / "root"
        package = next(scratch.glob("*.deb"))
        subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True, timeout=FETCH_SECONDS)
    return root / TRACK


def _convert(track: Path, output: Path) -> None:
    command = [
        "ffmpeg",
        "-v",
        "error",
        "-nostdin",
        "-f",
        "g722",
        "-i",
        str(track),
        "-ar",
        str(SAMPLE_RATE),
        str(output),
    ]
    subprocess.run(command, check=True, timeout=60)
