"""Tests for muxing language videos: tracks, sync and sample length."""

import json
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cutroom.media.formats import Container
from cutroom.media.language_video import AudioTrack, MediaTracks, SubtitleTrack, make_language_video
from cutroom.media.probe import probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.media.subtitles import clip_srt
from cutroom.text.language_tags import alpha3
from tests.media.conftest import EncodeFixture

SRT = """1
00:00:01,000 --> 00:00:03,000
One

2
00:00:09,500 --> 00:00:12,000
Two

3
00:00:15,000 --> 00:00:16,000
Three
"""


def probe_streams(path: Path) -> list[dict[str, Any]]:
    command = ["ffprobe", "-v", "error", "-of", "json", "-show_streams", str(path)]
    found: list[dict[str, Any]] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["streams"]
    return found


def beeps(path: Path, stream: int) -> list[float]:
    """Start times of the sounds in a track."""
    command = ["ffmpeg", "-v", "info", "-i", str(path), "-map", f"0:a:{stream}", "-af"]
    command += ["silencedetect=noise=-30dB:d=0.3", "-f", "null", "-"]
    stderr = subprocess.run(command, capture_output=True, check=True, text=True).stderr
    return [float(line.split("silence_end: ")[1].split()[0]) for line in stderr.splitlines() if "silence_end" in line]


def flashes(path: Path) -> list[float]:
    """Start times of the flashes: frames much brighter than their predecessor."""
    command = ["ffprobe", "-v", "error", "-f", "lavfi", "-of", "json", "-show_entries"]
    command += ["frame=pts_time:frame_tags=lavfi.signalstats.YAVG", f"movie={path},signalstats"]
    frames = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["frames"]
    levels = [(float(each["pts_time"]), float(each["tags"]["lavfi.signalstats.YAVG"])) for each in frames]
    return [at for (_, before), (at, level) in pairwise(levels) if level - before > 50]


@pytest.fixture
def tracks(encode: EncodeFixture, sample_video: Path, tmp_path: Path) -> MediaTracks:
    beep = ("-i", str(sample_video), "-map", "0:a:0")
    dub = encode("dub.m4a", *beep, "-c:a", "aac", "-b:a", "192k")
    mix = encode("mix.mka", *beep, "-c:a", "flac", "-f", "matroska")
    (tmp_path / "0.srt").write_text(SRT)
    audio = [
        AudioTrack(dub, Container.MOV, "pt-BR", title="pt-BR", is_aac=True),
        AudioTrack(mix, Container.MATROSKA, "en", title="Original en"),
    ]
    return MediaTracks(audio, [SubtitleTrack("0.srt", "pt-BR")])


async def test_dub_is_the_default_track_and_all_tracks_are_in_sync(
    sample_video: Path, tracks: MediaTracks, tmp_path: Path, sandbox: Sandbox
) -> None:
    info = await probe_header(sample_video, sandbox=sandbox)
    output = await make_language_video(
        sample_video, info, tracks=tracks, cap_seconds=None, output=tmp_path, sandbox=sandbox
    )
    video, dub, original, text = probe_streams(output)
    assert video["codec_name"] == "h264"
    assert [each["tags"]["language"] for each in (dub, original, text)] == ["por", "eng", "por"]
    assert [each["disposition"]["default"] for each in (dub, original)] == [1, 0]
    flash_times = flashes(output)
    for stream in (0, 1):
        beep_times = [at for at in beeps(output, stream) if 0.5 < at < 17.5]
        offsets = [min(abs(at - one) for one in flash_times) for at in beep_times]
        assert len(beep_times) > 14
        assert max(offsets) < 0.04


async def test_sample_ends_on_an_exact_frame(
    sample_video: Path, tracks: MediaTracks, tmp_path: Path, sandbox: Sandbox
) -> None:
    info = await probe_header(sample_video, sandbox=sandbox)
    output = await make_language_video(
        sample_video, info, tracks=tracks, cap_seconds=10.0, output=tmp_path, sandbox=sandbox
    )
    for each in probe_streams(output)[:3]:
        assert 9.9 < float(each["duration"]) <= 10.0


async def test_audio_source_gives_an_audio_file(
    sample_video: Path, tracks: MediaTracks, tmp_path: Path, sandbox: Sandbox
) -> None:
    info = replace(await probe_header(sample_video, sandbox=sandbox), media_type="audio")
    output = await make_language_video(
        sample_video, info, tracks=tracks, cap_seconds=None, output=tmp_path, sandbox=sandbox
    )
    assert [each["codec_type"] for each in probe_streams(output)] == ["audio", "audio", "subtitle"]
    assert output.suffix == ".m4a"


def test_cues_are_clipped_to_the_sample() -> None:
    clipped = clip_srt(SRT, until_seconds=10.0)
    assert "Three" not in clipped
    assert "00:00:09,500 --> 00:00:10,000\nTwo" in clipped
    assert clip_srt(SRT, until_seconds=100.0) == SRT


@pytest.mark.parametrize(
    ("code", "expected"), [("pt-BR", "por"), ("en", "eng"), ("fil", "fil"), ("und", "und"), ("xx", "und")]
)
def test_track_language_is_a_three_letter_code(code: str, expected: str) -> None:
    assert alpha3(code) == expected
