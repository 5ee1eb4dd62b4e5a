"""The product's inputs for an evaluation talk: a perfect transcript with estimated times, and the default engines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cutroom.engines.recognition.port import Word
from cutroom.engines.registry import Engines
from cutroom.platform.settings import Settings
from cutroom.products.shorts.transcript_view import TranscriptView
from cutroom.products.transcripts.segmentation import TimedWord, split_segments
from cutroom.text.sentences import SpokenSegment
from eval.publishable.texts import spoken
from eval.talks import EvaluationTalk


def open_engines(models_dir: Path) -> Engines:
    """The default engines; they need no services."""
    unused: dict[str, Any] = dict.fromkeys(("database_url", "redis_url", "s3_access_key", "s3_secret_key"), "unused")
    return Engines(Settings(**unused, secret_key="unused" * 6, models_dir=models_dir))


def reference_transcript(talk: EvaluationTalk) -> TranscriptView:
    """The talk in sentences, as the transcript product splits them."""
    source = spoken(talk)
    words = [word for line in source.segments for word in _timed_words(line)]
    speakers = [line.speaker or "" for line in source.segments for _ in line.text.split()]
    speaker_at = {word.start_seconds: speaker for word, speaker in zip(words, speakers, strict=True)}

    def speaker_of(word: TimedWord) -> str:
        return speaker_at[word.start_seconds]

    segments = split_segments(words, speaker_of, language=talk.language)
    return TranscriptView(talk.language, source.duration_seconds, tuple(segments))


def _timed_words(line: SpokenSegment) -> Iterator[Word]:
    """The words of a line, which take as long as they have characters."""
    rate = (line.end_seconds - line.start_seconds) / len(line.text)
    at = 0
    for text in line.text.split():
        start = line.text.index(text, at)
        at = start + len(text)
        yield Word(text, line.start_seconds + start * rate, line.start_seconds + at * rate, 1.0)
