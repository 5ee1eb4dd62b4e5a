"""Tests for the rendition ladder: sizes, frame-exact chunks, and aligned segments."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from cutroom.media.chunks import plan_chunks
from cutroom.media.formats import Container
from cutroom.media.ladder import (
    encode_ladder_chunk,
    join_rendition,
    ladder_frame_rate,
    plan_ladder,
    plan_ladder_chunks,
    segment_frames,
    useful_renditions,
)
from cutroom.media.packager import find_packager, package_audio, package_text, package_video
from cutroom.media.probe import MediaInfo, probe
from cutroom.media.sandbox import Sandbox
from tests.media.conftest import EncodeFixture

BYTES = 100_000_000  # 8 Mbit/s
INFO = MediaInfo("video", Container.MOV, BYTES, 100.0, 1, 1, 0, width=1920, height=1080, frame_rate=Fraction(25))


@pytest.mark.parametrize(
    ("width", "height", "renditions"),
    [
        (3840, 2160, ["1080p 1920x1080", "720p 1280x720", "480p 854x480", "240p 426x240"]),
        (1920, 1080, ["1080p 1920x1080", "720p 1280x720", "480p 854x480", "240p 426x240"]),
        (1080, 1920, ["1080p 1080x1920", "720p 720x1280", "480p 480x854", "240p 240x426"]),
        (1280, 720, ["720p 1280x720", "480p 854x480", "240p 426x240"]),
        (640, 360, ["360p 640x360", "240p 426x240"]),
        (854, 500, ["480p 820x480", "240p 410x240"]),
        (160, 120, ["120p 160x120"]),
        (1920, 800, ["800p 1920x800", "720p 1728x720", "480p 1152x480", "240p 576x240"]),
    ],
)
def test_renditions_are_never_larger_than_the_source(width: int, height: int, renditions: list[str]) -> None:
    ladder = plan_ladder(replace(INFO, width=width, height=height))
    assert [f"{each.name} {each.width}x{each.height}" for each in ladder] == renditions


@pytest.mark.parametrize(
    ("kbps", "renditions"),
    [
        (2_300, ["1080p", "720p", "480p", "240p"]),
        (2_200, ["1080p", "480p", "240p"]),
        (1_200, ["1080p", "480p", "240p"]),
        (1_100, ["1080p", "240p"]),
        (50, ["1080p", "240p"]),
    ],
)
def test_a_source_of_few_bits_has_no_renditions_in_between(kbps: int, renditions: list[str]) -> None:
    info = replace(INFO, size_bytes=kbps * 100 * 1000 // 8)
    assert [each.name for each in useful_renditions(info, plan_ladder(info))] == renditions


@pytest.mark.parametrize("width", [160, 320, 640])
def test_small_videos_keep_their_renditions_at_any_bit_rate(width: int) -> None:
    info = replace(INFO, width=width, height=width * 3 // 4, size_bytes=1)
    assert useful_renditions(info, plan_ladder(info)) == plan_ladder(info)


@pytest.mark.parametrize(
    ("rate", "kept"), [(25, 25), (60, 60), (120, 60), (Fraction(30000, 1001), Fraction(30000, 1001)), (10, 20)]
)
def test_frame_rate_is_bounded(rate: Fraction, kept: Fraction) -> None:
    assert ladder_frame_rate(replace(INFO, frame_rate=Fraction(rate))) == kept


def test_chunks_are_whole_segments_and_shorter_for_larger_videos() -> None:
    for info in (INFO, replace(INFO, width=3840, height=2160, frame_rate=Fraction(60))):
        chunks = plan_ladder_chunks(info)
        assert all(chunk.start % segment_frames(chunk.rate) == 0 for chunk in chunks)
    assert len(plan_ladder_chunks(replace(INFO, width=3840, height=2160))) > len(plan_ladder_chunks(INFO))
    assert len(plan_ladder_chunks(INFO)) > len(plan_ladder_chunks(replace(INFO, width=640, height=360)))


@pytest.mark.parametrize("hours", [1, 4, 5.9, 12, 24])
@pytest.mark.parametrize("rate", [Fraction(30000, 1001), Fraction(23), Fraction(60)])
def test_long_videos_have_as_many_chunks_as_a_history_can_hold(hours: float, rate: Fraction) -> None:
    chunks = plan_ladder_chunks(replace(INFO, width=7680, height=4320, frame_rate=rate, duration_seconds=hours * 3600))
    assert 6 * len(chunks) < 51_200 / 2  # events of Temporal's history
    assert chunks[0].seconds <= 33


async def test_chunks_join_frame_exactly_and_segments_align(
    sample_video: Path, tmp_path: Path, sandbox: Sandbox
) -> None:
    sandbox = replace(sandbox, packager=find_packager(None))
    info = await probe(sample_video, sandbox=sandbox)
    rate, frames = ladder_frame_rate(info), segment_frames(ladder_frame_rate(info))
    chunks = plan_chunks(info.duration_seconds, rate=rate, chunk_seconds=4.0, multiple_of=frames)
    renditions = [replace(each, name=name) for each, name in zip(plan_ladder(info) * 2, ("a", "b"), strict=False)]
    assert len(chunks) == 5
    for chunk in chunks:
        await encode_ladder_chunk(sample_video, info, chunk, renditions=renditions, output=tmp_path, sandbox=sandbox)
    packaged = []
    for rendition in renditions:
        joined = await join_rendition(rendition, chunks, output=tmp_path, sandbox=sandbox)
        seconds = float(frames / rate)
        packaged.append(
            await package_video(
                f"v/{rendition.name}", joined.name, segment_seconds=seconds, output=tmp_path, sandbox=sandbox
            )
        )
    playlists = [(tmp_path / each.name / "index.m3u8").read_text() for each in packaged]
    assert playlists[0] == playlists[1]
    lengths = [float(line[8:-1]) for line in playlists[0].splitlines() if line.startswith("#EXTINF")]
    assert lengths[:-1] == [4.004] * 4
    assert sum(lengths) == pytest.approx(info.duration_seconds, abs=0.05)


async def test_audio_and_text_are_packaged_separately(
    encode: EncodeFixture, sample_video: Path, tmp_path: Path, sandbox: Sandbox
) -> None:
    sandbox = replace(sandbox, packager=find_packager(None))
    audio = encode("ladder.m4a", "-i", str(sample_video), "-map", "0:a:0", "-c:a", "aac")
    (tmp_path / "audio.m4a").write_bytes(audio.read_bytes())
    (tmp_path / "text.vtt").write_text("WEBVTT\n\n00:00:01.000 --> 00:00:03.000\n<v Ann>Hello &amp; bye</v>\n")
    options = {"language": "pt-BR", "segment_seconds": 4, "output": tmp_path, "sandbox": sandbox}
    packaged_audio = await package_audio("s/pt", "audio.m4a", **options)  # type: ignore[arg-type]  # one dict for two calls
    packaged_text = await package_text("t/pt", "text.vtt", **options)  # type: ignore[arg-type]  # as above
    assert (packaged_audio.codecs, packaged_text.codecs) == ("mp4a.40.2", "wvtt")
    assert "Hello &amp; bye" in (tmp_path / "t/pt/00001.vtt").read_text()
    assert {"init.mp4", "00001.m4s", "index.m3u8"} <= {each.name for each in (tmp_path / "s/pt").iterdir()}
