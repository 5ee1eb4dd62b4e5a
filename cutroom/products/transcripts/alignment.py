"""Serializes words to object storage: per chunk during transcription, and the final word alignment file."""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.recognition.port import Transcription, Word
from cutroom.engines.types import TimeSpan
from cutroom.products.transcripts.editing.publishing import words_of_row
from cutroom.products.transcripts.segmentation import TranscriptSegment

VERSION = 1


@dataclass(frozen=True, slots=True)
class TranscribedChunk:
    """The words and speaker embeddings of one chunk; times are relative to the recording."""

    language: str
    language_probability: float
    engine: str
    words: tuple[Word, ...]
    embeddings: tuple[SpeakerEmbedding, ...]


def transcribed_chunk(
    transcription: Transcription, embeddings: Iterable[SpeakerEmbedding], *, engine: str, offset_seconds: float
) -> TranscribedChunk:
    """Shift times from the chunk to the recording."""

    def shifted(span: TimeSpan) -> TimeSpan:
        return TimeSpan(span.start_seconds + offset_seconds, span.end_seconds + offset_seconds)

    words = tuple(
        Word(word.text, word.start_seconds + offset_seconds, word.end_seconds + offset_seconds, word.probability)
        for word in transcription.words
    )
    shifted_embeddings = tuple(SpeakerEmbedding(shifted(each.span), each.vector) for each in embeddings)
    return TranscribedChunk(
        transcription.language, transcription.language_probability, engine, words, shifted_embeddings
    )


def write_chunk(chunk: TranscribedChunk) -> bytes:
    """Embeddings are stored as 16-bit floats, which is precise enough for clustering."""
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    document = {
        "language": chunk.language,
        "languageProbability": chunk.language_probability,
        "engine": chunk.engine,
        "words": [[word.text, word.start_seconds, word.end_seconds, word.probability] for word in chunk.words],
        "embeddings": [
            [
                each.span.start_seconds,
                each.span.end_seconds,
                base64.b64encode(each.vector.astype(np.float16).tobytes()).decode(),
            ]
            for each in chunk.embeddings
        ],
    }
    return json.dumps(document, ensure_ascii=False).encode()


def read_chunk(data: bytes) -> TranscribedChunk:
    import numpy as np  # noqa: PLC0415 - as above

    document = json.loads(data)
    embeddings = tuple(
        SpeakerEmbedding(TimeSpan(start, end), np.frombuffer(base64.b64decode(vector), np.float16).astype(np.float32))
        for start, end, vector in document["embeddings"]
    )
    return TranscribedChunk(
        document["language"],
        document["languageProbability"],
        document["engine"],
        tuple(Word(*word) for word in document["words"]),
        embeddings,
    )


def write_alignment(segments: Sequence[TranscriptSegment], *, language: str) -> bytes:
    """The file behind `wordAlignmentUrl`."""
    words = [
        {
            "text": word.text,
            "start": round(word.start_seconds, 3),
            "end": round(word.end_seconds, 3),
            "speaker": segment.speaker,
            **({"deleted": True} if segment.deleted else {}),
        }
        for segment in segments
        for word in segment.words
    ]
    return json.dumps({"version": VERSION, "language": language, "words": words}, ensure_ascii=False).encode()


def read_words(data: bytes) -> list[Word]:
    return [Word(each["text"], each["start"], each["end"], 1.0) for each in json.loads(data)["words"]]


def segment_rows(segments: Sequence[TranscriptSegment]) -> list[dict[str, Any]]:
    """Segments as stored in the database; each holds the number of its words instead of the words."""
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


def attach_words(rows: Sequence[Mapping[str, Any]], words: Sequence[Word]) -> list[TranscriptSegment]:
    """Rebuild segments from stored rows and the word alignment; words of text edited since then are estimated."""
    segments, at = [], 0
    for row in rows:
        own = words_of_row(row, words, at)
        at += row["words"]
        segments.append(TranscriptSegment(row["start"], row["end"], row["speaker"], row["text"], own, row["deleted"]))
    return segments
