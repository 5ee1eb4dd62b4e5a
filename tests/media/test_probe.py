"""Tests for probing and validating media files."""

import json
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from cutroom.media.formats import AUDIO_DECODERS, VIDEO_DECODERS, Container, sniff_header
from cutroom.media.probe import parse_probe, probe
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import Sandbox
from tests.media.conftest import H264, EncodeFixture

SINE = ("-f", "lavfi", "-i", "sine=d=3")
TEST = ("-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=3")


async def test_video_properties(sample_video: Path, sandbox: Sandbox) -> None:
    info = await probe(sample_video, sandbox=sandbox)
    assert (info.media_type, info.container, info.video_codec, info.audio_codec) == ("video", "mov", "h264", "aac")
    assert (info.width, info.height, info.frame_rate) == (320, 180, Fraction(30000, 1001))
    assert (info.audio_channels, info.audio_sample_rate) == (1, 48000)
    assert info.duration_seconds == pytest.approx(18, abs=0.04)
    assert info.size_bytes == sample_video.stat().st_size


@pytest.mark.parametrize(
    ("name", "arguments", "container"),
    [
        ("a.mkv", (*TEST, *SINE, *H264), Container.MATROSKA),
        ("a.ts", (*TEST, *SINE, *H264), Container.MPEGTS),
        ("a.avi", (*TEST, *SINE), Container.AVI),
        ("a.flac", SINE, Container.FLAC),
        ("a.ogg", SINE, Container.OGG),
        ("a.wav", SINE, Container.WAV),
        ("a.m4a", SINE, Container.MOV),
        ("a.aac", SINE, Container.AAC),
    ],
)
async def test_container_is_detected_from_content(
    encode: EncodeFixture, sandbox: Sandbox, tmp_path: Path, name: str, arguments: tuple[str, ...], container: Container
) -> None:
    path = tmp_path / "upload.bin"
    path.write_bytes(encode(name, *arguments).read_bytes())
    info = await probe(path, sandbox=sandbox)
    assert info.container is container
    assert info.duration_seconds == pytest.approx(3, abs=0.1)
    assert info.media_type == ("video" if TEST[3] in arguments else "audio")


async def test_duration_is_measured_if_not_stated(encode: EncodeFixture, sandbox: Sandbox) -> None:
    path = encode("live.mkv", *TEST, *SINE, *H264, "-live", "1", "-f", "matroska")
    assert (await probe(path, sandbox=sandbox)).duration_seconds == pytest.approx(3, abs=0.1)


async def test_cover_art_is_not_a_video_stream(encode: EncodeFixture, sample_audio: Path, sandbox: Sandbox) -> None:
    cover = encode("cover.jpg", *TEST, "-frames:v", "1")
    art = ("-map", "0", "-map", "1", "-c", "copy", "-disposition:v", "attached_pic")
    info = await probe(encode("art.mp3", "-i", str(sample_audio), "-i", str(cover), *art), sandbox=sandbox)
    assert (info.media_type, info.width, info.other_streams) == ("audio", None, 1)


async def test_rotation_is_reported(sample_video: Path, encode: EncodeFixture, sandbox: Sandbox) -> None:
    path = encode("turned.mp4", "-t", "2", "-i", str(sample_video), "-c", "copy", "-metadata:s:v", "rotate=90")
    # ffmpeg 5.1 writes this tag as a counterclockwise rotation, which is 270 degrees clockwise.
    assert (await probe(path, sandbox=sandbox)).rotation_degrees == 270


@pytest.mark.parametrize(("percent", "rejected"), [(0, True), (30, True), (60, True), (97, False)])
async def test_truncated_video_is_rejected_unless_nearly_complete(
    encode: EncodeFixture,
    sandbox: Sandbox,
    tmp_path: Path,
    percent: int,
    rejected: bool,  # noqa: FBT001
) -> None:
    whole = encode("fast.mp4", *TEST, *SINE, *H264, "-g", "5", "-movflags", "+faststart").read_bytes()
    path = tmp_path / "cut.mp4"
    path.write_bytes(whole[: len(whole) * percent // 100])
    if rejected:
        with pytest.raises(MediaError) as caught:
            await probe(path, sandbox=sandbox)
        assert caught.value.reason in (Reason.EMPTY, Reason.TRUNCATED, Reason.UNREADABLE)
        assert not caught.value.retryable
    else:
        assert 2.6 < (await probe(path, sandbox=sandbox)).duration_seconds <= 3.0


async def test_playlist_named_mp4_is_rejected(sandbox: Sandbox, tmp_path: Path) -> None:
    path = tmp_path / "holiday.mp4"
    path.write_text("#EXTM3U\n#EXTINF:10,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n")
    with pytest.raises(MediaError) as caught:
        await probe(path, sandbox=sandbox)
    assert caught.value.reason is Reason.UNSUPPORTED_FORMAT


async def test_encrypted_video_is_rejected(encode: EncodeFixture, sandbox: Sandbox) -> None:
    encryption = ("-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "00" * 16, "-encryption_kid", "11" * 16)
    with pytest.raises(MediaError) as caught:
        await probe(encode("locked.mp4", *TEST, *H264, *encryption), sandbox=sandbox)
    assert caught.value.reason is Reason.ENCRYPTED


def video(**changes: str | int) -> dict[str, Any]:
    stream: dict[str, Any] = {
        "codec_type": "video",
        "codec_name": "h264",
        "width": 640,
        "height": 360,
        "avg_frame_rate": "25/1",
    }
    return {**stream, **changes}


AUDIO_STREAM = {"codec_type": "audio", "codec_name": "aac", "channels": 2, "sample_rate": "48000"}


@pytest.mark.parametrize(
    ("streams", "duration", "reason"),
    [
        ([], "5", Reason.NO_STREAMS),
        ([{"codec_type": "subtitle", "codec_name": "srt"}], "5", Reason.NO_STREAMS),
        ([AUDIO_STREAM] * 33, "5", Reason.TOO_MANY_STREAMS),
        ([video(width=8193)], "5", Reason.PICTURE_TOO_LARGE),
        ([video(width=0)], "5", Reason.UNREADABLE),
        ([video(avg_frame_rate="241/1")], "5", Reason.FRAME_RATE_TOO_HIGH),
        ([video(avg_frame_rate="0/0", r_frame_rate="1000000/1")], "5", Reason.FRAME_RATE_TOO_HIGH),
        ([video(codec_tag_string="encv")], "5", Reason.ENCRYPTED),
        ([video(codec_name="unknown")], "5", Reason.UNSUPPORTED_CODEC),
        ([video()], "86401", Reason.TOO_LONG),
        ([video()], "nan", Reason.TOO_LONG),
        ([{**AUDIO_STREAM, "channels": 17}], "5", Reason.TOO_MANY_CHANNELS),
        ([{**AUDIO_STREAM, "sample_rate": "1"}], "5", Reason.UNREADABLE),
    ],
)
def test_stream_limits(streams: list[dict[str, Any]], duration: str, reason: Reason) -> None:
    found = {"streams": streams, "format": {"duration": duration}}
    with pytest.raises(MediaError) as caught:
        parse_probe(json.loads(json.dumps(found)), Container.MOV, size_bytes=1)
    assert caught.value.reason is reason
    assert caught.value.message.endswith(".")


def test_average_frame_rate_is_preferred_over_the_tick() -> None:
    info = parse_probe({"streams": [video(r_frame_rate="1000/1")]}, Container.MATROSKA, size_bytes=1)
    assert info.frame_rate == 25


@pytest.mark.parametrize(
    "head",
    [b"", b"#EXTM3U\n", b"ffconcat version 1.0\n", b"\x89PNG\r\n\x1a\n", b"\0\0\0\x1cftypheic", b"GIF89a", b"PK\3\4"],
)
def test_unsupported_signatures_are_not_detected(head: bytes) -> None:
    assert sniff_header(head) is None


def test_listed_decoders_exist() -> None:
    listed = subprocess.run(["ffmpeg", "-v", "error", "-decoders"], check=True, capture_output=True, text=True).stdout
    known = {line.split()[1] for line in listed.splitlines() if len(line.split()) > 1}
    optional = {"libopencore_amrnb", "libopencore_amrwb"}
    assert {*VIDEO_DECODERS, *AUDIO_DECODERS} - optional <= known
