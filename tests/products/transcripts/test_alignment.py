"""Words in the object store: what is written is read back, and keeps its place."""

import json

import numpy as np
import pytest

from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.recognition.port import Transcription, Word
from cutroom.engines.types import TimeSpan
from cutroom.products.transcripts.alignment import (
    heard_piece,
    read_piece,
    read_words,
    segment_rows,
    segments_of,
    write_alignment,
    write_piece,
)
from cutroom.products.transcripts.sentences import segments

WORDS = (Word("Shall", 0.5, 0.8, 0.9), Word("we?", 0.8, 1.2, 0.8), Word("Yes.", 2.0, 2.4, 0.99))


def test_a_piece_is_read_back_in_the_recordings_own_time() -> None:
    vector = np.array([0.6, 0.8], np.float32)
    heard = Transcription("en", 0.97, WORDS)
    piece = heard_piece(
        heard, [SpeakerEmbedding(TimeSpan(0.5, 2.0), vector)], engine="whisper-base", offset_seconds=300.0
    )
    back = read_piece(write_piece(piece))
    assert (back.language, back.language_probability, back.engine) == ("en", 0.97, "whisper-base")
    assert [(word.text, word.start_seconds) for word in back.words] == [
        ("Shall", 300.5),
        ("we?", 300.8),
        ("Yes.", 302.0),
    ]
    assert back.prints[0].span == TimeSpan(300.5, 302.0)
    assert back.prints[0].vector == pytest.approx(vector, abs=1e-3)


def test_segments_get_their_own_words_back() -> None:
    made = segments(WORDS, lambda word: "speaker_1" if word.start_seconds < 1.5 else "speaker_2", language="en")
    assert [part.text for part in made] == ["Shall we?", "Yes."]
    file = write_alignment(made, language="en")
    assert json.loads(file)["words"][2] == {"text": "Yes.", "start": 2.0, "end": 2.4, "speaker": "speaker_2"}
    back = segments_of(segment_rows(made), read_words(file))
    assert [[word.text for word in part.words] for part in back] == [["Shall", "we?"], ["Yes."]]
    assert [(part.speaker, part.start_seconds, part.end_seconds) for part in back] == [
        ("speaker_1", 0.5, 1.2),
        ("speaker_2", 2.0, 2.4),
    ]
