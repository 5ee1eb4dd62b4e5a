"""Cuts rendered by ffmpeg: where they are, how sound and picture stay together, and that no joint clicks."""

import subprocess
from array import array
from dataclasses import replace
from fractions import Fraction
from math import pi, sin
from pathlib import Path

import pytest

from cutroom.media.cutting.samples import CHANNELS, cut_audio
from cutroom.media.cutting.timeline import CutTimeline, FrameSpan
from cutroom.media.formats import Container
from cutroom.media.ladder import encode_ladder_chunk, join_rendition, plan_ladder, plan_ladder_chunks, rendition_file
from cutroom.media.language_video import AudioTrack, MediaTracks, make_language_video
from cutroom.media.probe import probe_header
from cutroom.media.sandbox import Sandbox
from tests.media.conftest import EncodeFixture
from tests.media.test_language_video import beeps, flashes, probe_streams

RATE = Fraction(30000, 1001)
FRAME = float(1 / RATE)
# Each second of the source begins with a flash and a beep of 0.1 s. Cuts are between them, also a short one.
KEPT = [(0.5, 2.5), (3.75, 5.5), (6.25, 9.6), (9.9, 12.5), (14.5, 17.5)]
TIMELINE = CutTimeline(RATE, tuple(FrameSpan(round(start * RATE), round(end * RATE)) for start, end in KEPT))
KEPT_SECONDS = [second for second in range(18) if any(start < second < end for start, end in KEPT)]
EXPECTED = [TIMELINE.output_seconds(second) for second in KEPT_SECONDS]


def decoded(path: Path) -> "array[int]":
    """The left channel."""
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-map", "0:a:0", "-f", "s16le", "-"]
    samples = array("h", subprocess.run(command, capture_output=True, check=True).stdout)
    return samples[::CHANNELS]


async def test_a_cut_language_video_is_in_sync_at_every_beep(
    encode: EncodeFixture, sample_video: Path, sandbox: Sandbox, tmp_path: Path
) -> None:
    mix = encode("mix.mka", "-i", str(sample_video), "-map", "0:a:0", "-ac", "2", "-c:a", "flac", "-f", "matroska")
    dub = encode("dub.m4a", "-i", str(sample_video), "-map", "0:a:0", "-c:a", "aac", "-b:a", "192k")
    tracks = []
    for path, container in ((dub, Container.MOV), (mix, Container.MATROSKA)):
        cut = await cut_audio(path, container, TIMELINE, output=tmp_path, sandbox=sandbox)
        cut = cut.rename(tmp_path / f"{path.stem}-cut.mka")
        tracks.append(AudioTrack(cut, Container.MATROSKA, "en", title=path.stem))
    info = await probe_header(sample_video, sandbox=sandbox)
    output = await make_language_video(
        sample_video,
        info,
        tracks=MediaTracks(tracks, timeline=TIMELINE),
        cap_seconds=None,
        output=tmp_path,
        sandbox=sandbox,
    )
    shown = flashes(output)
    assert shown == pytest.approx(EXPECTED, abs=FRAME)
    for stream in (0, 1):
        heard = [
            at for at in beeps(output, stream) if at < TIMELINE.seconds - 0.1
        ]  # without the end of the last silence
        # The beeps of the source begin up to 21 ms after their flashes.
        source = [at for at in beeps(sample_video, 0) if any(start < at < end for start, end in KEPT)]
        assert heard == pytest.approx([TIMELINE.output_seconds(at) for at in source], abs=0.003)
        assert len(heard) >= len(shown) - 1
    durations = [float(each["duration"]) for each in probe_streams(output)]
    assert durations == pytest.approx([TIMELINE.seconds] * 3, abs=FRAME)


async def test_renditions_in_chunks_have_exactly_the_kept_frames(
    sample_video: Path, sandbox: Sandbox, tmp_path: Path
) -> None:
    info = replace(await probe_header(sample_video, sandbox=sandbox), duration_seconds=TIMELINE.seconds)
    chunks = plan_ladder_chunks(info, max_seconds=4)
    assert len(chunks) > 2
    renditions = plan_ladder(info)
    for chunk in chunks:
        await encode_ladder_chunk(
            sample_video, info, chunk, renditions=renditions, output=tmp_path, sandbox=sandbox, timeline=TIMELINE
        )
        assert rendition_file(renditions[0], chunk, tmp_path).exists()
    joined = await join_rendition(renditions[0], chunks, output=tmp_path, sandbox=sandbox)
    [stream] = probe_streams(joined)
    assert int(stream["nb_frames"]) == TIMELINE.frames
    assert flashes(joined) == pytest.approx(EXPECTED, abs=FRAME)


async def test_no_joint_of_a_tone_clicks(encode: EncodeFixture, sandbox: Sandbox, tmp_path: Path) -> None:
    """A tone that is cut at any phase: neighboring samples differ about as much as those of the tone itself."""
    tone = encode(
        "tone.mka", "-f", "lavfi", "-i", "sine=f=440:r=48000:d=20", "-ac", "2", "-c:a", "flac", "-f", "matroska"
    )
    parts = [FrameSpan(at, at + 7 + at % 5) for at in range(11, 980, 17)]
    timeline = CutTimeline(Fraction(50), tuple(parts))
    samples = decoded(await cut_audio(tone, Container.MATROSKA, timeline, output=tmp_path, sandbox=sandbox))
    assert len(samples) == round(timeline.seconds * 48_000)
    whole = decoded(tone)
    level = max(whole)
    natural = 2 * level * sin(pi * 440 / 48_000)
    steps = max(abs(samples[at] - samples[at - 1]) for at in range(1, len(samples)))
    assert steps <= 1.2 * natural
    hard = max(abs(whole[after.start * 960] - whole[before.end * 960 - 1]) for before, after in zip(parts, parts[1:]))  # noqa: B905, RUF007
    assert hard > 5 * natural  # what the same cuts would be without a crossfade
    assert len(parts) > 50
