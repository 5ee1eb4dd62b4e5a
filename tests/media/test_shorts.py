"""Tests for the ffmpeg operations of shorts: analysis frames, audio mix, and encodes in sync."""

import json
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from cutroom.media.probe import probe_header
from cutroom.media.process import MediaError
from cutroom.media.sandbox import Sandbox
from cutroom.media.shorts import (
    EncodeSpec,
    SourceRange,
    display_frame_rate,
    encode_output,
    extract_framed_thumbnail,
    extract_frames,
    extract_thumbnail,
    mix_short_audio,
)
from tests.media.conftest import EncodeFixture

RATE = Fraction(30_000, 1001)
RANGES = (SourceRange(2.0, float(90 / RATE)), SourceRange(10.5, float(60 / RATE)))


@pytest.fixture
def mix(encode: EncodeFixture, sample_video: Path) -> Path:
    return encode("mix.mka", "-i", str(sample_video), "-vn", "-c:a", "flac", "-ar", "48000", "-ac", "2")


def mean_lumas(path: Path) -> "np.typing.NDArray[np.uint8]":
    command = [
        "ffmpeg",
        "-v",
        "error",
        "-i",
        str(path),
        "-vf",
        "scale=1:1:flags=area,format=gray",
        "-f",
        "rawvideo",
        "-",
    ]
    return np.frombuffer(subprocess.run(command, check=True, capture_output=True).stdout, np.uint8)


def samples(path: Path) -> "np.typing.NDArray[np.float32]":
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-ar", "48000", "-ac", "1", "-f", "f32le", "-"]
    return np.frombuffer(subprocess.run(command, check=True, capture_output=True).stdout, "<f4")


async def test_extracted_frame_counts_match_the_range(sample_video: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    info = await probe_header(sample_video, sandbox=sandbox)
    faces, shots = await extract_frames(sample_video, info, SourceRange(4.0, 3.0), output=tmp_path, sandbox=sandbox)
    assert (faces.width, faces.height, faces.rate) == (320, 180, Fraction(5))
    assert faces.path.stat().st_size == 15 * 320 * 180 * 3
    assert (shots.width, shots.height, shots.rate) == (160, 90, RATE)
    assert shots.path.stat().st_size == pytest.approx(90 * 160 * 90 * 3, rel=0.02)


async def test_ranges_are_joined_with_audio_and_video_in_sync(
    sample_video: Path, mix: Path, tmp_path: Path, sandbox: Sandbox
) -> None:
    """The video flashes and beeps at each full second."""
    info = await probe_header(sample_video, sandbox=sandbox)
    audio = await mix_short_audio(mix, RANGES, gain_db=-6.0, peak=0.5, music=None, output=tmp_path, sandbox=sandbox)
    encode = EncodeSpec(RANGES, "[joined]null[shown]", display_frame_rate(info), 320, 180)
    encoded = await encode_output(sample_video, info, encode, audio=audio, output=tmp_path, sandbox=sandbox)
    brightness = mean_lumas(encoded)
    assert len(brightness) == 150
    flashes = [at for at in range(1, 150) if brightness[at] > 200 and brightness[at - 1] < 200]
    seconds = [float(at / RATE) for at in flashes]
    # The second range starts half a second before a beep, after 90 frames.
    expected = [1.0, 2.0, 3.003 + 0.5, 3.003 + 1.5]
    assert seconds == pytest.approx(expected, abs=0.04)
    loud = np.abs(samples(encoded)) > 0.05
    beeps = [at / 48_000 for at in np.nonzero(loud)[0] if not loud[max(0, at - 12_000) : at].any()]
    assert beeps[-4:] == pytest.approx(expected, abs=0.06)


async def test_undecodable_range_fails(
    sample_video: Path, tmp_path: Path, sandbox: Sandbox, encode: EncodeFixture
) -> None:
    whole = encode("whole.mp4", "-i", str(sample_video), "-c", "copy", "-movflags", "+faststart")
    cut = tmp_path / "cut.mp4"
    data = whole.read_bytes()
    cut.write_bytes(data[: len(data) * 2 // 3])  # about 9 s
    info = await probe_header(cut, sandbox=sandbox)
    output = tmp_path / "output"
    output.mkdir()
    late = EncodeSpec((SourceRange(14.0, float(90 / RATE)),), "[joined]null[shown]", display_frame_rate(info), 320, 180)
    with pytest.raises(MediaError):
        await encode_output(cut, info, late, audio=None, output=output, sandbox=sandbox)
    early = EncodeSpec((SourceRange(2.0, float(90 / RATE)),), "[joined]null[shown]", display_frame_rate(info), 320, 180)
    assert len(mean_lumas(await encode_output(cut, info, early, audio=None, output=output, sandbox=sandbox))) == 90


async def test_audio_source_gets_a_background(sample_audio: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    info = await probe_header(sample_audio, sandbox=sandbox)
    encode = EncodeSpec((SourceRange(0.5, 2.0),), "[joined]null[shown]", display_frame_rate(info), 180, 320)
    encoded = await encode_output(sample_audio, info, encode, audio=None, output=tmp_path, sandbox=sandbox)
    reported = subprocess.run(
        ["ffprobe", "-v", "error", "-of", "json", "-show_entries", "stream=width,height,nb_frames", str(encoded)],
        check=True,
        capture_output=True,
    )
    assert json.loads(reported.stdout)["streams"] == [{"width": 180, "height": 320, "nb_frames": "50"}]


async def test_music_is_ducked_under_speech(encode: EncodeFixture, tmp_path: Path, sandbox: Sandbox) -> None:
    music = encode("music.wav", "-f", "lavfi", "-i", "sine=f=300:r=48000:d=10,volume=-20dB", "-ac", "2")
    speech = encode(
        "speech.mka",
        "-f",
        "lavfi",
        "-i",
        "sine=f=2000:r=48000:d=10,volume='gt(t,5)':eval=frame",
        "-ac",
        "2",
        "-c:a",
        "flac",
    )
    encoded = await mix_short_audio(
        speech, [SourceRange(0.0, 10.0)], gain_db=0.0, peak=0.9, music=music, output=tmp_path, sandbox=sandbox
    )
    mixed = samples(encoded)

    def level(start: float) -> float:
        chunk = mixed[round(start * 48_000) :][:48_000]
        return float(np.abs(np.fft.rfft(chunk * np.hanning(48_000)))[300])

    assert level(6.5) < 0.5 * level(2.0)
    assert len(mixed) == pytest.approx(480_000, abs=2_000)


async def test_thumbnail_is_the_frame_at_its_time(sample_video: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    encoded = await extract_thumbnail(sample_video, at_seconds=3.03, output=tmp_path, sandbox=sandbox)
    assert encoded.read_bytes()[:2] == b"\xff\xd8"
    assert mean_lumas(encoded)[0] > 200


async def test_framed_thumbnail_is_the_filtered_frame_of_the_source(
    sample_video: Path, tmp_path: Path, sandbox: Sandbox
) -> None:
    info = await probe_header(sample_video, sandbox=sandbox)
    spec = EncodeSpec((SourceRange(3.03, float(1 / RATE)),), "[joined]crop=90:160:0:0[shown]", RATE, 320, 180)
    thumbnail = await extract_framed_thumbnail(sample_video, info, spec, output=tmp_path, sandbox=sandbox)
    assert mean_lumas(thumbnail)[0] > 200
    command = ["ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "json", str(thumbnail)]
    [stream] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["streams"]
    assert stream == {"width": 90, "height": 160}
