"""The ladder: which sizes, pieces that join to the frame, segments that begin together."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from cutroom.media.chunks import plan_pieces
from cutroom.media.formats import Container
from cutroom.media.ladder import (
    encode_ladder_piece,
    join_rung,
    ladder_rate,
    plan_ladder,
    plan_ladder_pieces,
    segment_frames,
)
from cutroom.media.packager import find_packager, package_picture, package_sound, package_text
from cutroom.media.probe import MediaInfo, probe
from cutroom.media.sandbox import Sandbox
from tests.media.conftest import Encode

INFO = MediaInfo("video", Container.MOV, 1, 100.0, 1, 1, 0, width=1920, height=1080, frame_rate=Fraction(25))


@pytest.mark.parametrize(
    ("width", "height", "rungs"),
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
def test_no_size_is_larger_than_the_picture(width: int, height: int, rungs: list[str]) -> None:
    found = plan_ladder(replace(INFO, width=width, height=height))
    assert [f"{each.name} {each.width}x{each.height}" for each in found] == rungs


@pytest.mark.parametrize(
    ("rate", "kept"), [(25, 25), (60, 60), (120, 60), (Fraction(30000, 1001), Fraction(30000, 1001)), (10, 20)]
)
def test_rates_stay_between_fifteen_and_sixty(rate: Fraction, kept: Fraction) -> None:
    assert ladder_rate(replace(INFO, frame_rate=Fraction(rate))) == kept


def test_pieces_are_whole_segments_and_shorter_where_there_is_more_to_do() -> None:
    for info in (INFO, replace(INFO, width=3840, height=2160, frame_rate=Fraction(60))):
        pieces = plan_ladder_pieces(info)
        assert all(piece.start % segment_frames(piece.rate) == 0 for piece in pieces)
    assert len(plan_ladder_pieces(replace(INFO, width=3840, height=2160))) > len(plan_ladder_pieces(INFO))


async def test_pieces_join_to_the_frame_and_segments_are_aligned(film: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    sandbox = replace(sandbox, packager=find_packager(None))
    info = await probe(film, sandbox=sandbox)
    rate, frames = ladder_rate(info), segment_frames(ladder_rate(info))
    pieces = plan_pieces(info.duration_seconds, rate=rate, piece_seconds=12.0, multiple_of=frames)
    rungs = [replace(each, name=name) for each, name in zip(plan_ladder(info) * 2, ("a", "b"), strict=False)]
    assert len(pieces) == 3
    for piece in pieces:
        await encode_ladder_piece(film, info, piece, rungs=rungs, output=tmp_path, sandbox=sandbox)
    told = []
    for rung in rungs:
        joined = await join_rung(rung, pieces, output=tmp_path, sandbox=sandbox)
        seconds = float(frames / rate)
        told.append(
            await package_picture(
                f"v/{rung.name}", joined.name, segment_seconds=seconds, output=tmp_path, sandbox=sandbox
            )
        )
    lists = [(tmp_path / each.name / "index.m3u8").read_text() for each in told]
    assert lists[0] == lists[1]
    lengths = [float(line[8:-1]) for line in lists[0].splitlines() if line.startswith("#EXTINF")]
    assert lengths[:-1] == [4.004] * 8
    assert sum(lengths) == pytest.approx(info.duration_seconds, abs=0.05)


async def test_sound_and_text_are_packaged_by_themselves(
    encode: Encode, film: Path, tmp_path: Path, sandbox: Sandbox
) -> None:
    sandbox = replace(sandbox, packager=find_packager(None))
    sound = encode("ladder.m4a", "-i", str(film), "-map", "0:a:0", "-c:a", "aac")
    (tmp_path / "sound.m4a").write_bytes(sound.read_bytes())
    (tmp_path / "text.vtt").write_text("WEBVTT\n\n00:00:01.000 --> 00:00:03.000\n<v Ann>Hello &amp; bye</v>\n")
    how = {"language": "pt-BR", "segment_seconds": 4, "output": tmp_path, "sandbox": sandbox}
    heard = await package_sound("s/pt", "sound.m4a", **how)  # type: ignore[arg-type]  # one dict for two calls
    shown = await package_text("t/pt", "text.vtt", **how)  # type: ignore[arg-type]  # as above
    assert (heard.codecs, shown.codecs) == ("mp4a.40.2", "wvtt")
    assert "Hello &amp; bye" in (tmp_path / "t/pt/00001.vtt").read_text()
    assert {"init.mp4", "00001.m4s", "index.m3u8"} <= {each.name for each in (tmp_path / "s/pt").iterdir()}
