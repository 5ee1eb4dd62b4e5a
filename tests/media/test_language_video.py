"""A video in a language: which tracks it has, that they stay in step, and that a sample ends when it should."""

import json
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cutroom.media.formats import Container
from cutroom.media.language_video import SoundTrack, SubtitleTrack, Tracks, make_language_video
from cutroom.media.probe import probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.media.subtitles import clip_srt
from cutroom.media.track_languages import track_language
from tests.media.conftest import Encode

SRT = """1
00:00:01,000 --> 00:00:03,000
One

2
00:00:09,500 --> 00:00:12,000
Two

3
00:00:20,000 --> 00:00:21,000
Three
"""


def described(path: Path) -> list[dict[str, Any]]:
    command = ["ffprobe", "-v", "error", "-of", "json", "-show_streams", str(path)]
    found: list[dict[str, Any]] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["streams"]
    return found


def beeps(path: Path, stream: int) -> list[float]:
    """When each sound in a track begins, to the sample."""
    command = ["ffmpeg", "-v", "info", "-i", str(path), "-map", f"0:a:{stream}", "-af"]
    command += ["silencedetect=noise=-30dB:d=0.3", "-f", "null", "-"]
    told = subprocess.run(command, capture_output=True, check=True, text=True).stderr
    return [float(line.split("silence_end: ")[1].split()[0]) for line in told.splitlines() if "silence_end" in line]


def flashes(path: Path) -> list[float]:
    """When each flash begins: a frame much brighter than the one before."""
    command = ["ffprobe", "-v", "error", "-f", "lavfi", "-of", "json", "-show_entries"]
    command += ["frame=pts_time:frame_tags=lavfi.signalstats.YAVG", f"movie={path},signalstats"]
    frames = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["frames"]
    levels = [(float(each["pts_time"]), float(each["tags"]["lavfi.signalstats.YAVG"])) for each in frames]
    return [at for (_, before), (at, level) in pairwise(levels) if level - before > 50]


@pytest.fixture
def tracks(encode: Encode, film: Path, tmp_path: Path) -> Tracks:
    beep = ("-i", str(film), "-map", "0:a:0")
    dub = encode("dub.m4a", *beep, "-c:a", "aac", "-b:a", "192k")
    mix = encode("mix.mka", *beep, "-c:a", "flac", "-f", "matroska")
    (tmp_path / "0.srt").write_text(SRT)
    sounds = [
        SoundTrack(dub, Container.MOV, "pt-BR", title="pt-BR", is_aac=True),
        SoundTrack(mix, Container.MATROSKA, "en", title="Original en"),
    ]
    return Tracks(sounds, [SubtitleTrack("0.srt", "pt-BR")])


async def test_the_dub_is_the_default_and_everything_stays_in_step(
    film: Path, tracks: Tracks, tmp_path: Path, sandbox: Sandbox
) -> None:
    info = await probe_header(film, sandbox=sandbox)
    made = await make_language_video(film, info, tracks=tracks, cap_seconds=None, output=tmp_path, sandbox=sandbox)
    video, dub, original, text = described(made)
    assert video["codec_name"] == "h264"
    assert [each["tags"]["language"] for each in (dub, original, text)] == ["por", "eng", "por"]
    assert [each["disposition"]["default"] for each in (dub, original)] == [1, 0]
    shown = flashes(made)
    for stream in (0, 1):
        heard = [at for at in beeps(made, stream) if 0.5 < at < 35.5]
        offsets = [min(abs(at - one) for one in shown) for at in heard]
        assert len(heard) > 30
        assert max(offsets) < 0.04


async def test_a_sample_ends_on_its_last_frame(film: Path, tracks: Tracks, tmp_path: Path, sandbox: Sandbox) -> None:
    info = await probe_header(film, sandbox=sandbox)
    made = await make_language_video(film, info, tracks=tracks, cap_seconds=10.0, output=tmp_path, sandbox=sandbox)
    for each in described(made)[:3]:
        assert 9.9 < float(each["duration"]) <= 10.0


async def test_sound_without_a_picture_is_sound(film: Path, tracks: Tracks, tmp_path: Path, sandbox: Sandbox) -> None:
    info = replace(await probe_header(film, sandbox=sandbox), media_type="audio")
    made = await make_language_video(film, info, tracks=tracks, cap_seconds=None, output=tmp_path, sandbox=sandbox)
    assert [each["codec_type"] for each in described(made)] == ["audio", "audio", "subtitle"]
    assert made.suffix == ".m4a"


def test_cues_end_where_a_sample_ends() -> None:
    clipped = clip_srt(SRT, until_seconds=10.0)
    assert "Three" not in clipped
    assert "00:00:09,500 --> 00:00:10,000\nTwo" in clipped
    assert clip_srt(SRT, until_seconds=100.0) == SRT


@pytest.mark.parametrize(
    ("code", "written"), [("pt-BR", "por"), ("en", "eng"), ("fil", "fil"), ("und", "und"), ("xx", "und")]
)
def test_a_track_names_its_language_in_three_letters(code: str, written: str) -> None:
    assert track_language(code) == written
