"""Tests for extracting still frames."""

from pathlib import Path

import numpy as np
import pytest

from cutroom.media.frames import MAX_STILLS, MIN_STILLS, extract_stills, still_times
from cutroom.media.probe import probe_header
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import Sandbox
from tests.media.conftest import H264, EncodeFixture


@pytest.mark.parametrize(("seconds", "count"), [(1, 24), (360, 24), (450, 30), (600, 40), (86_400, 40)])
def test_still_times_are_evenly_spaced(seconds: float, count: int) -> None:
    times = still_times(seconds)
    assert len(times) == count
    assert MIN_STILLS <= len(times) <= MAX_STILLS
    assert 0 < times[0] < times[-1] < seconds
    assert np.allclose(np.diff(times), times[1] - times[0])


async def test_stills_come_from_the_requested_times(tmp_path: Path, sandbox: Sandbox, encode: EncodeFixture) -> None:
    """The video gets brighter every second."""
    grows = "color=c=black:s=16x16:r=10:d=20,geq=lum='16+10*floor(T)':cb=128:cr=128,scale=640:360,setsar=1"
    sample_video = encode("grows.mp4", "-f", "lavfi", "-i", grows, *H264, "-g", "10")
    info = await probe_header(sample_video, sandbox=sandbox)
    fractions: list[float] = []

    stills = await extract_stills(
        sample_video, info, output=tmp_path, sandbox=sandbox, times=[1.5, 9.5, 17.5], on_fraction=fractions.append
    )
    assert (stills.width, stills.height) == (640, 360)
    brightness = [float(stills.image(number).mean()) for number in range(3)]
    assert brightness == sorted(brightness)
    assert brightness[1] - brightness[0] == pytest.approx(8 * 10 * 255 / 219, rel=0.1)
    assert fractions == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert stills.image(0).shape == (360, 640, 3)


async def test_exact_stills_are_not_key_frames(tmp_path: Path, sandbox: Sandbox, encode: EncodeFixture) -> None:
    """The video gets brighter every second, and has one key frame."""
    grows = "color=c=black:s=16x16:r=10:d=8,geq=lum='16+20*floor(T)':cb=128:cr=128,scale=640:360,setsar=1"
    video = encode("one-key-frame.mp4", "-f", "lavfi", "-i", grows, *H264, "-g", "80")
    info = await probe_header(video, sandbox=sandbox)
    stills = await extract_stills(video, info, output=tmp_path, sandbox=sandbox, times=[1.5, 5.5], exact=True)
    dark, bright = (float(stills.image(number).mean()) for number in range(2))
    assert bright - dark == pytest.approx(4 * 20 * 255 / 219, rel=0.1)


async def test_large_videos_are_scaled_down(tmp_path: Path, sandbox: Sandbox, encode: EncodeFixture) -> None:
    sample_video = encode("large.mp4", "-f", "lavfi", "-i", "testsrc2=s=1920x1080:r=5:d=2", *H264)
    info = await probe_header(sample_video, sandbox=sandbox)
    stills = await extract_stills(sample_video, info, output=tmp_path, sandbox=sandbox, times=[1.0])
    assert stills.image(0).shape == (720, 1280, 3)


async def test_times_past_the_end_are_skipped(tmp_path: Path, sandbox: Sandbox, sample_video: Path) -> None:
    info = await probe_header(sample_video, sandbox=sandbox)
    stills = await extract_stills(sample_video, info, output=tmp_path, sandbox=sandbox, times=[5.0, 5_000.0])
    assert stills.seconds[0] == 5.0
    with pytest.raises(MediaError) as caught:
        await extract_stills(sample_video, info, output=tmp_path, sandbox=sandbox, times=[])
    assert caught.value.reason is Reason.UNREADABLE


async def test_audio_has_no_stills(tmp_path: Path, sandbox: Sandbox, sample_audio: Path) -> None:
    info = await probe_header(sample_audio, sandbox=sandbox)
    with pytest.raises(MediaError) as caught:
        await extract_stills(sample_audio, info, output=tmp_path, sandbox=sandbox)
    assert caught.value.reason is Reason.NO_STREAMS
