"""Music that people made, without a voice in it: what Debian's telephone exchange plays to those who wait."""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from cutroom.engines.types import SAMPLE_RATE

PACKAGE = "asterisk-moh-opsound-g722"  # CC-BY-SA-3.0; only listened to here
TRACK = Path("usr/share/asterisk/moh/manolo_camp-morning_coffee.g722")  # 73 s
FETCH_SECONDS = 600


def music_track(kept: Path) -> Path:
    """The track as a WAV file in a folder where it is kept; from the package, installed or only fetched."""
    made = kept / "music.wav"
    if not made.exists():
        kept.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=kept) as name:
            part = Path(name) / made.name
            _convert(_find(Path(name)), part)
            part.replace(made)
    return made


def _find(scratch: Path) -> Path:
    root = Path("/")
    if not (root / TRACK).exists():
        subprocess.run(["apt-get", "-qq", "download", PACKAGE], cwd=scratch, check=True, timeout=FETCH_SECONDS)
        root = scratch / "root"
        package = next(scratch.glob("*.deb"))
        subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True, timeout=FETCH_SECONDS)
    return root / TRACK


def _convert(track: Path, made: Path) -> None:
    command = ["ffmpeg", "-v", "error", "-nostdin", "-f", "g722", "-i", str(track), "-ar", str(SAMPLE_RATE), str(made)]
    subprocess.run(command, check=True, timeout=60)
