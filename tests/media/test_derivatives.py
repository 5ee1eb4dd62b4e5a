"""Tests for posters and audio: sync with the source, and independence of chunk length."""

import re
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from cutroom.media.audio import AudioFiles, make_audio, plan_audio
from cutroom.media.poster import make_poster
from cutroom.media.probe import MediaInfo, probe
from cutroom.media.sandbox import Sandbox
from cutroom.media.video import bounded_frame_rate, fit_size
from tests.media.conftest import H264, EncodeFixture


def ffmpeg(*arguments: str) -> str:
    command = ["ffmpeg", "-hide_banner", "-nostdin", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=500)
    return done.stdout + done.stderr


def sample_hash(path: Path) -> str:
    return ffmpeg("-v", "error", "-i", str(path), "-f", "md5", "-")


def seconds(path: Path, stream: str) -> float:
    entries = ["-select_streams", stream, "-show_entries", "stream=duration", "-of", "csv=p=0"]
    command = ["ffprobe", "-v", "error", *entries, str(path)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


async def extract(path: Path, output: Path, *, chunk_seconds: float, sandbox: Sandbox) -> AudioFiles:
    output.mkdir(exist_ok=True)
    info = await probe(path, sandbox=sandbox)
    audio = await make_audio(path, info, output=output, sandbox=sandbox, chunk_seconds=chunk_seconds)
    assert audio is not None
    return audio


async def test_chunks_join_seamlessly_and_stay_in_sync(sample_video: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    cut = await extract(sample_video, tmp_path / "cut", chunk_seconds=4, sandbox=sandbox)
    whole = await extract(sample_video, tmp_path / "whole", chunk_seconds=600, sandbox=sandbox)
    assert len(list((tmp_path / "cut").glob("mix-*.mka"))) == 5
    assert sample_hash(cut.speech) == sample_hash(whole.speech)
    assert sample_hash(cut.mix) == sample_hash(whole.mix)
    assert seconds(cut.speech, "a") == pytest.approx(18, abs=0.04)
    beeps, flashes = _beeps(cut.mix), _flashes(sample_video)
    assert len(beeps) == len(flashes) == 17
    assert max(abs(beep - flash) for beep, flash in zip(beeps, flashes, strict=True)) <= 0.04


def _beeps(path: Path) -> list[float]:
    stderr = ffmpeg("-i", str(path), "-af", "silencedetect=noise=-30dB:d=0.3", "-f", "null", "-")
    # The first beep has no silence before it, and the last silence ends with the file.
    return [float(at) for at in re.findall(r"silence_end: ([\d.]+)", stderr) if float(at) < 17.5]


def _flashes(path: Path) -> list[float]:
    chain = "negate,blackdetect=d=0.01:pix_th=0.2"
    stderr = ffmpeg("-i", str(path), "-vf", chain, "-an", "-f", "null", "-")
    return [float(at) for at in re.findall(r"black_start:([\d.]+)", stderr) if float(at) > 0.5]


async def test_existing_chunks_are_kept(sample_video: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    info = await probe(sample_video, sandbox=sandbox)
    reported: list[float] = []
    await make_audio(sample_video, info, output=tmp_path, sandbox=sandbox, chunk_seconds=6, on_fraction=reported.append)
    assert reported == sorted(reported)
    assert reported[-1] == pytest.approx(1, abs=0.01)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("mix-*")}
    next(iter(kept)).unlink()
    await extract(sample_video, tmp_path, chunk_seconds=6, sandbox=sandbox)
    changed = [path for path, time in kept.items() if path.stat().st_mtime_ns != time]
    assert len(changed) == 1


async def test_late_and_short_audio_is_padded(encode: EncodeFixture, tmp_path: Path, sandbox: Sandbox) -> None:
    video = ("-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=9")
    late = encode("late.mkv", *video, "-itsoffset", "2", "-f", "lavfi", "-i", "sine=d=3", *H264)
    audio = await extract(late, tmp_path / "encoded", chunk_seconds=2, sandbox=sandbox)
    assert seconds(audio.speech, "a") == pytest.approx(9, abs=0.04)
    stderr = ffmpeg("-i", str(audio.speech), "-af", "silencedetect=noise=-40dB:d=0.5", "-f", "null", "-")
    assert [round(float(at), 1) for at in re.findall(r"silence_(?:start|end): (-?[\d.]+)", stderr)][:3] == [
        0.0,
        2.0,
        5.0,
    ]


async def test_poster_is_not_a_black_frame(encode: EncodeFixture, tmp_path: Path, sandbox: Sandbox) -> None:
    dark = "testsrc2=s=1600x900:r=5:d=8,drawbox=c=black:t=fill:enable='lt(t,4)'"
    path = encode("dark.mp4", "-f", "lavfi", "-i", dark, *H264, "-g", "5")
    poster = await make_poster(path, await probe(path, sandbox=sandbox), output=tmp_path, sandbox=sandbox)
    assert poster is not None
    stderr = ffmpeg("-i", str(poster), "-vf", "signalstats,metadata=print", "-f", "null", "-")
    assert float(re.findall(r"YAVG=([\d.]+)", stderr)[0]) > 40
    assert "1280x720" in stderr


async def test_audio_has_no_poster(sample_audio: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    assert (
        await make_poster(sample_audio, await probe(sample_audio, sandbox=sandbox), output=tmp_path, sandbox=sandbox)
        is None
    )


def make_info(**changes: object) -> MediaInfo:
    values: dict[str, object] = {
        "media_type": "video",
        "container": "mov",
        "size_bytes": 1,
        "duration_seconds": 100.0,
        "video_streams": 1,
        "audio_streams": 0,
        "other_streams": 0,
        "width": 1920,
        "height": 1080,
    }
    return MediaInfo(**{**values, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("width", "height", "rotation", "fitted"),
    [(1920, 1080, 0, (854, 480)), (1920, 1080, 90, (270, 480)), (320, 240, 0, (320, 240)), (8192, 2, 0, (1920, 2))],
)
def test_frame_size_is_scaled_to_fit(width: int, height: int, rotation: int, fitted: tuple[int, int]) -> None:
    info = make_info(width=width, height=height, rotation_degrees=rotation)
    assert fit_size(info, width=1920, height=480) == fitted


@pytest.mark.parametrize(
    ("rate", "expected"),
    [("25", "25"), ("60", "30"), ("60000/1001", "30000/1001"), ("50", "25"), ("10", "20"), ("240", "30"), ("1", "16")],
)
def test_frame_rate_is_bounded(rate: str, expected: str) -> None:
    info = make_info(frame_rate=Fraction(rate))
    assert bounded_frame_rate(info, at_least=15, at_most=30) == Fraction(expected)


@pytest.mark.parametrize("hours", [1, 4, 12, 24])
def test_long_videos_have_as_many_chunks_as_a_history_can_hold(hours: float) -> None:
    chunks = len(plan_audio(make_info(duration_seconds=hours * 3600)))
    assert 6 * chunks < 51_200 / 2  # events of Temporal's history
