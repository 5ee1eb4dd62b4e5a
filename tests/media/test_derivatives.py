"""Tests for posters, audio and proxies: sync with the source, and independence of chunk length."""

import re
import shutil
import subprocess
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from cutroom.media.audio import AudioFiles, make_audio, plan_audio, split_adts
from cutroom.media.poster import make_poster
from cutroom.media.probe import MediaInfo, probe
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import Sandbox
from cutroom.media.video import fit_size, join_proxy, make_proxy, plan_proxy, proxy_frame_rate
from tests.media.conftest import H264, EncodeFixture


def ffmpeg(*arguments: str) -> str:
    command = ["ffmpeg", "-hide_banner", "-nostdin", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def sample_hash(path: Path) -> str:
    return ffmpeg("-v", "error", "-i", str(path), "-f", "md5", "-")


def seconds(path: Path, stream: str) -> float:
    entries = ["-select_streams", stream, "-show_entries", "stream=duration", "-of", "csv=p=0"]
    command = ["ffprobe", "-v", "error", *entries, str(path)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


async def make_all(path: Path, output: Path, *, chunk_seconds: float, sandbox: Sandbox) -> tuple[AudioFiles, Path]:
    output.mkdir()
    info = await probe(path, sandbox=sandbox)
    audio = await make_audio(path, info, output=output, sandbox=sandbox, chunk_seconds=chunk_seconds)
    assert audio is not None
    proxy = await make_proxy(path, info, audio=audio.proxy, output=output, sandbox=sandbox, chunk_seconds=chunk_seconds)
    return audio, proxy


@pytest.fixture(scope="module")
async def cut(sample_video: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[AudioFiles, Path]:
    """Audio and proxy of the sample, made in five chunks."""
    return await make_all(
        sample_video, tmp_path_factory.mktemp("derivatives") / "cut", chunk_seconds=4, sandbox=Sandbox()
    )


async def test_chunks_join_seamlessly_and_stay_in_sync(
    sample_video: Path, cut: tuple[AudioFiles, Path], tmp_path: Path, sandbox: Sandbox
) -> None:
    audio, proxy = cut
    whole, _ = await make_all(sample_video, tmp_path / "whole", chunk_seconds=600, sandbox=sandbox)
    assert len(list(proxy.parent.glob("video-*.mp4"))) == 5
    assert sample_hash(audio.speech) == sample_hash(whole.speech)
    assert sample_hash(audio.mix) == sample_hash(whole.mix)
    assert abs(seconds(proxy, "v") - 18) <= 0.04
    assert abs(seconds(proxy, "a") - 18) <= 0.04
    beeps, flashes = _beeps(proxy), _flashes(proxy)
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


def test_proxy_has_a_key_frame_every_second_and_faststart(cut: tuple[AudioFiles, Path]) -> None:
    _, proxy = cut
    entries = ["-skip_frame", "nokey", "-show_entries", "frame=pts_time", "-of", "csv=p=0", "-select_streams", "v"]
    frames = subprocess.run(
        ["ffprobe", "-v", "error", *entries, str(proxy)], check=True, capture_output=True, text=True
    )
    times = [float(line.strip(",")) for line in frames.stdout.split()]
    assert len(times) >= 18
    assert max(right - left for left, right in pairwise(times)) <= 1.01
    data = proxy.read_bytes()
    assert data.find(b"moov") < data.find(b"mdat")


async def test_existing_chunks_are_kept(sample_video: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    info = await probe(sample_video, sandbox=sandbox)
    reported: list[float] = []

    await make_proxy(
        sample_video, info, audio=None, output=tmp_path, sandbox=sandbox, chunk_seconds=6, on_fraction=reported.append
    )
    assert reported == sorted(reported)
    assert reported[-1] == pytest.approx(1, abs=0.01)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("video-*")}
    next(iter(kept)).unlink()
    await make_proxy(sample_video, info, audio=None, output=tmp_path, sandbox=sandbox, chunk_seconds=6)
    changed = [path for path, time in kept.items() if path.stat().st_mtime_ns != time]
    assert len(changed) == 1


async def test_missing_chunk_is_detected(
    sample_video: Path, cut: tuple[AudioFiles, Path], tmp_path: Path, sandbox: Sandbox
) -> None:
    info = await probe(sample_video, sandbox=sandbox)
    incomplete = [Path(shutil.copy(path, tmp_path)) for path in sorted(cut[1].parent.glob("video-*.mp4"))[:-1]]
    with pytest.raises(MediaError) as caught:
        await join_proxy(incomplete, info, audio=None, output=tmp_path, sandbox=sandbox)
    assert caught.value.reason is Reason.OUT_OF_SYNC


async def test_late_and_short_audio_is_padded(encode: EncodeFixture, tmp_path: Path, sandbox: Sandbox) -> None:
    video = ("-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=9")
    late = encode("late.mkv", *video, "-itsoffset", "2", "-f", "lavfi", "-i", "sine=d=3", *H264)
    audio, proxy = await make_all(late, tmp_path / "encoded", chunk_seconds=2, sandbox=sandbox)
    assert seconds(audio.speech, "a") == pytest.approx(9, abs=0.04)
    assert seconds(proxy, "a") == pytest.approx(9, abs=0.04)
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
def test_proxy_frame_rate_is_bounded(rate: str, expected: str) -> None:
    assert proxy_frame_rate(make_info(frame_rate=Fraction(rate))) == Fraction(expected)


def test_large_videos_have_shorter_chunks() -> None:
    small, large = make_info(), make_info(width=7680, height=4320)
    assert plan_proxy(small)[0].seconds == 60
    assert 5 <= plan_proxy(large)[0].seconds < 20


@pytest.mark.parametrize("hours", [1, 4, 12, 24])
def test_long_videos_have_as_many_chunks_as_a_history_can_hold(hours: float) -> None:
    info = make_info(width=7680, height=4320, frame_rate=Fraction(60), duration_seconds=hours * 3600)
    chunks = len(plan_proxy(info)) + len(plan_audio(info))
    assert 6 * chunks < 51_200 / 2  # events of Temporal's history


def test_adts_is_split_by_header_lengths() -> None:
    packet = bytes([0xFF, 0xF1, 0x50, 0x80, 0x01, 0x3F, 0xFC, 1, 2])  # nine bytes
    assert split_adts(packet * 3 + b"\xff") == [packet] * 3
    assert split_adts(b"nothing at all") == []
