"""The track of a dub for a recording whose deleted words are cut out, rendered from a dub that was made for real."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.media.cutting.timeline import CutTimeline, FrameSpan
from cutroom.products.dubs.cutting.tracks import ended_at_pause, make_cut_track
from cutroom.products.dubs.line_sync import GAP_SECONDS, MAX_ADVANCE_SECONDS
from cutroom.products.dubs.mixing import LINE_RATE, MIX_RATE
from tests.products.dubs.editing.conftest import Regenerator
from tests.products.dubs.test_activities import SECONDS
from tests.support.dub_stage import decode_samples

if TYPE_CHECKING:
    from tests.support.dub_stage import AudioSamples

RATE = Fraction(25)
DELETED = ((11.2, 29.88), (63.88, 68.0))  # the end of the line at 10 s and what follows, and the whole last line
KEPT = ((0.0, 11.2), (29.88, 63.88), (68.0, SECONDS))
QUIET = 0.005
TOLERANCE = 0.03  # of edges that fade


def loud_spans(samples: "AudioSamples") -> list[tuple[float, float]]:
    """When anything is heard, with pauses of at least 20 ms between."""
    loud = np.nonzero(np.abs(samples).max(axis=0) > QUIET)[0]
    edges = np.nonzero(np.diff(loud) > 0.02 * MIX_RATE)[0]
    starts, ends = [loud[0], *loud[edges + 1]], [*loud[edges], loud[-1]]
    return [(start / MIX_RATE, end / MIX_RATE) for start, end in zip(starts, ends, strict=True)]


async def test_lines_are_heard_as_a_whole_in_what_remains(regenerator: Regenerator, tmp_path: Path) -> None:
    timeline = CutTimeline(RATE, tuple(FrameSpan(round(a * RATE), round(b * RATE)) for a, b in KEPT), DELETED)
    published = {each["start"]: each["published"] for each in (await regenerator.read())["segments"]}
    made = await make_cut_track(
        regenerator.artifacts,
        regenerator.runtime.database,
        regenerator.dub,
        await regenerator.audio_path(),
        timeline=timeline,
        output=tmp_path,
    )
    assert made is not None
    samples = decode_samples(made, rate=MIX_RATE, channels=2)
    assert samples.shape[-1] / MIX_RATE == pytest.approx(timeline.seconds, abs=0.03)
    heard = [span for span in loud_spans(samples) if span[0] > 9]
    third, fourth = heard[:2]
    start, latest = 30.0 - (29.88 - 11.2), 30.0 - (29.88 - 11.2) - GAP_SECONDS
    assert published[10.0]["duration"] > latest - 10.0, "it has to be sped up"
    assert third[0] == pytest.approx(10.0 - MAX_ADVANCE_SECONDS, abs=TOLERANCE)
    assert third[1] == pytest.approx(latest, abs=TOLERANCE)
    assert fourth[0] == pytest.approx(start, abs=TOLERANCE)
    assert fourth[1] - fourth[0] == pytest.approx(published[30.0]["duration"], abs=TOLERANCE)
    after = timeline.output_seconds(68.0)  # where the last line would be; the original sound fades in later
    assert not [span for span in heard[2:] if after - TOLERANCE <= span[0] < after + 0.2], "the last line is deleted"


async def test_a_dub_whose_lines_were_not_recorded_has_no_cut_track(regenerator: Regenerator, tmp_path: Path) -> None:
    await regenerator.video.accounts.connection.execute("UPDATE dubs SET lines = NULL")
    timeline = CutTimeline(RATE, (FrameSpan(0, 100),))
    values = (regenerator.artifacts, regenerator.runtime.database, regenerator.dub, await regenerator.audio_path())
    assert await make_cut_track(*values, timeline=timeline, output=tmp_path) is None


def test_speech_ends_at_the_last_pause_before_its_limit() -> None:
    word = np.full(round(0.4 * LINE_RATE), 0.5, np.float32)
    pause = np.zeros(round(0.1 * LINE_RATE), np.float32)
    speech = np.concatenate([word, pause, word, pause, word])
    ended = ended_at_pause(speech, 1.1)
    assert 0.9 * LINE_RATE < len(ended) <= 1.0 * LINE_RATE
    assert np.array_equal(ended[: len(word)], word), "the first words are as they were"
    assert len(ended_at_pause(speech, 0.3)) == 0, "no word is cut in half"
    assert np.array_equal(ended_at_pause(speech, 2.0), speech)
