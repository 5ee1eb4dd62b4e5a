"""Serialization of words and segments."""

import json

import numpy as np
import pytest

from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.recognition.port import Transcription, Word
from cutroom.engines.types import TimeSpan
from cutroom.products.transcripts.alignment import (
    attach_words,
    read_chunk,
    read_words,
    segment_rows,
    transcribed_chunk,
    write_alignment,
    write_chunk,
)
from cutroom.products.transcripts.segmentation import split_segments

WORDS = (Word("Shall", 0.5, 0.8, 0.9), Word("we?", 0.8, 1.2, 0.8), Word("Yes.", 2.0, 2.4, 0.99))


def test_chunk_round_trip_uses_recording_time() -> None:
    vector = np.array([0.6, 0.8], np.float32)
    transcription = Transcription("en", 0.97, WORDS)
    chunk = transcribed_chunk(
        transcription, [SpeakerEmbedding(TimeSpan(0.5, 2.0), vector)], engine="whisper-base", offset_seconds=300.0
    )
    restored = read_chunk(write_chunk(chunk))
    assert (restored.language, restored.language_probability, restored.engine) == ("en", 0.97, "whisper-base")
    assert [(word.text, word.start_seconds) for word in restored.words] == [
        ("Shall", 300.5),
        ("we?", 300.8),
        ("Yes.", 302.0),
    ]
    assert restored.embeddings[0].span == TimeSpan(300.5, 302.0)
    assert restored.embeddings[0].vector == pytest.approx(vector, abs=1e-3)


def test_segments_are_restored_with_their_words() -> None:
    segments = split_segments(
        WORDS, lambda word: "speaker_1" if word.start_seconds < 1.5 else "speaker_2", language="en"
    )
    assert [segment.text for segment in segments] == ["Shall we?", "Yes."]
    file = write_alignment(segments, language="en")
    assert json.loads(file)["words"][2] == {"text": "Yes.", "start": 2.0, "end": 2.4, "speaker": "speaker_2"}
    restored = attach_words(segment_rows(segments), read_words(file))
    assert [[word.text for word in segment.words] for segment in restored] == [["Shall", "we?"], ["Yes."]]
    assert [(segment.speaker, segment.start_seconds, segment.end_seconds) for segment in restored] == [
        ("speaker_1", 0.5, 1.2),
        ("speaker_2", 2.0, 2.4),
    ]
