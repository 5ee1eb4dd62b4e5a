"""Pictures are taken all over a film, whatever it is like."""

from pathlib import Path

import numpy as np
import pytest

from cutroom.media.frames import MAX_STILLS, MIN_STILLS, still_times, take_stills
from cutroom.media.probe import probe_header
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import Sandbox
from tests.media.conftest import H264, Encode


@pytest.mark.parametrize(("seconds", "count"), [(1, 24), (360, 24), (450, 30), (600, 40), (86_400, 40)])
def test_places_lie_evenly_inside_the_film(seconds: float, count: int) -> None:
    times = still_times(seconds)
    assert len(times) == count
    assert MIN_STILLS <= len(times) <= MAX_STILLS
    assert 0 < times[0] < times[-1] < seconds
    assert np.allclose(np.diff(times), times[1] - times[0])


async def test_pictures_come_from_where_they_were_looked_for(tmp_path: Path, sandbox: Sandbox, encode: Encode) -> None:
    """The film grows lighter from second to second."""
    grows = "color=c=black:s=640x360:r=10:d=20,geq=lum='16+10*floor(T)':cb=128:cr=128"
    film = encode("grows.mp4", "-f", "lavfi", "-i", grows, *H264, "-g", "10")
    info = await probe_header(film, sandbox=sandbox)
    told: list[float] = []

    async def on_fraction(fraction: float) -> None:
        told.append(fraction)

    stills = await take_stills(
        film, info, output=tmp_path, sandbox=sandbox, times=[1.5, 9.5, 17.5], on_fraction=on_fraction
    )
    assert (stills.width, stills.height) == (640, 360)
    light = [float(stills.picture(number).mean()) for number in range(3)]
    assert light == sorted(light)
    assert light[1] - light[0] == pytest.approx(8 * 10 * 255 / 219, rel=0.1)
    assert told == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert stills.picture(0).shape == (360, 640, 3)


async def test_large_films_are_made_smaller(tmp_path: Path, sandbox: Sandbox, encode: Encode) -> None:
    film = encode("large.mp4", "-f", "lavfi", "-i", "testsrc2=s=1920x1080:r=5:d=2", *H264)
    info = await probe_header(film, sandbox=sandbox)
    stills = await take_stills(film, info, output=tmp_path, sandbox=sandbox, times=[1.0])
    assert stills.picture(0).shape == (720, 1280, 3)


async def test_places_behind_the_end_are_left_out(tmp_path: Path, sandbox: Sandbox, film: Path) -> None:
    info = await probe_header(film, sandbox=sandbox)
    stills = await take_stills(film, info, output=tmp_path, sandbox=sandbox, times=[5.0, 5_000.0])
    assert stills.seconds[0] == 5.0
    with pytest.raises(MediaError) as told:
        await take_stills(film, info, output=tmp_path, sandbox=sandbox, times=[])
    assert told.value.reason is Reason.UNREADABLE


async def test_sound_has_no_pictures(tmp_path: Path, sandbox: Sandbox, song: Path) -> None:
    info = await probe_header(song, sandbox=sandbox)
    with pytest.raises(MediaError) as told:
        await take_stills(song, info, output=tmp_path, sandbox=sandbox)
    assert told.value.reason is Reason.NO_STREAMS
