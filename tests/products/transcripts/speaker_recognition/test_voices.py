"""Voices of speakers from the windows of a recording, and the segments that a voice print is made from."""

import numpy as np
import pytest

from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.types import TimeSpan
from cutroom.products.transcripts.document import DocumentSegment
from cutroom.products.transcripts.speaker_recognition.voices import (
    MAX_SECONDS,
    longest_spans,
    speaker_voice,
    speaker_voices,
)


def window(start: float, end: float, *vector: float) -> SpeakerEmbedding:
    return SpeakerEmbedding(TimeSpan(start, end), np.array(vector, np.float32))


def segment(start: float, end: float, speaker: str = "speaker_1", *, deleted: bool = False) -> DocumentSegment:
    return DocumentSegment(f"s{start}", start, end, "Words.", speaker, deleted)


def test_voice_is_the_mean_of_reliable_windows() -> None:
    voice = speaker_voice(
        "speaker_1", [window(0.0, 1.5, 1.0, 0.0), window(0.75, 2.25, 0.0, 1.0), window(9.0, 9.5, -1.0, 0.0)]
    )
    assert voice is not None
    assert voice.seconds == pytest.approx(2.25)
    np.testing.assert_allclose(voice.vector, [0.5**0.5, 0.5**0.5], rtol=1e-5)


def test_speakers_of_short_windows_only_have_no_voice() -> None:
    assert speaker_voices({"speaker_1": [window(0.0, 0.5, 1.0, 0.0)], "speaker_2": []}) == []


def test_the_longest_segments_of_a_speaker_are_used_in_their_order() -> None:
    segments = [
        segment(0.0, 0.8),
        segment(1.0, 31.0),
        segment(31.0, 50.0, "speaker_2"),
        segment(50.0, 90.0),
        segment(90.0, 130.0, deleted=True),
        segment(130.0, 135.0),
    ]
    spans = longest_spans(segments, "speaker_1")
    assert [(each.start_seconds, each.end_seconds) for each in spans] == [(1.0, 21.0), (50.0, 90.0)]
    assert sum(each.end_seconds - each.start_seconds for each in spans) == MAX_SECONDS
    assert longest_spans(segments, "speaker_9") == []
