"""Words as they lie in the object store: of a piece while it is made, and of the whole transcript after."""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.recognition.port import Transcription, Word
from cutroom.engines.types import TimeSpan
from cutroom.products.transcripts.sentences import Segment

VERSION = 1


@dataclass(frozen=True, slots=True)
class HeardPiece:
    """What was heard in one piece; times are the recording's."""

    language: str
    language_probability: float
    engine: str
    words: tuple[Word, ...]
    prints: tuple[SpeakerEmbedding, ...]


def heard_piece(
    heard: Transcription, prints: Iterable[SpeakerEmbedding], *, engine: str, offset_seconds: float
) -> HeardPiece:
    """A piece's own times become the recording's."""

    def moved(span: TimeSpan) -> TimeSpan:
        return TimeSpan(span.start_seconds + offset_seconds, span.end_seconds + offset_seconds)

    words = tuple(
        Word(word.text, word.start_seconds + offset_seconds, word.end_seconds + offset_seconds, word.probability)
        for word in heard.words
    )
    moved_prints = tuple(SpeakerEmbedding(moved(each.span), each.vector) for each in prints)
    return HeardPiece(heard.language, heard.language_probability, engine, words, moved_prints)


def write_piece(piece: HeardPiece) -> bytes:
    """Vectors are half as precise as they were, which is far more than voices need."""
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    document = {
        "language": piece.language,
        "languageProbability": piece.language_probability,
        "engine": piece.engine,
        "words": [[word.text, word.start_seconds, word.end_seconds, word.probability] for word in piece.words],
        "prints": [
            [
                each.span.start_seconds,
                each.span.end_seconds,
                base64.b64encode(each.vector.astype(np.float16).tobytes()).decode(),
            ]
            for each in piece.prints
        ],
    }
    return json.dumps(document, ensure_ascii=False).encode()


def read_piece(data: bytes) -> HeardPiece:
    import numpy as np  # noqa: PLC0415 - as above

    document = json.loads(data)
    prints = tuple(
        SpeakerEmbedding(TimeSpan(start, end), np.frombuffer(base64.b64decode(vector), np.float16).astype(np.float32))
        for start, end, vector in document["prints"]
    )
    return HeardPiece(
        document["language"],
        document["languageProbability"],
        document["engine"],
        tuple(Word(*word) for word in document["words"]),
        prints,
    )


def write_alignment(segments: Sequence[Segment], *, language: str) -> bytes:
    """The file behind `wordAlignmentUrl`."""
    words = [
        {
            "text": word.text,
            "start": round(word.start_seconds, 3),
            "end": round(word.end_seconds, 3),
            "speaker": segment.speaker,
        }
        for segment in segments
        for word in segment.words
    ]
    return json.dumps({"version": VERSION, "language": language, "words": words}, ensure_ascii=False).encode()


def read_words(data: bytes) -> list[Word]:
    return [Word(each["text"], each["start"], each["end"], 1.0) for each in json.loads(data)["words"]]


def segment_rows(segments: Sequence[Segment]) -> list[dict[str, Any]]:
    """Segments as they are stored; each says how many of the words are its own."""
    return [
        {
            "start": round(segment.start_seconds, 3),
            "end": round(segment.end_seconds, 3),
            "speaker": segment.speaker,
            "text": segment.text,
            "deleted": segment.deleted,
            "words": len(segment.words),
        }
        for segment in segments
    ]


def segments_of(rows: Sequence[Mapping[str, Any]], words: Sequence[Word]) -> list[Segment]:
    """Stored segments with their words."""
    segments, at = [], 0
    for row in rows:
        own = tuple(words[at : at + row["words"]])
        at += row["words"]
        segments.append(Segment(row["start"], row["end"], row["speaker"], row["text"], own, row["deleted"]))
    return segments
