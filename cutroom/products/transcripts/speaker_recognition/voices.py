"""The voices of the speakers of a video, as mean embeddings."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cutroom.cast.matching import SpeakerVoice
from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.types import TimeSpan
from cutroom.products.transcripts.document import DocumentSegment

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

MIN_WINDOW_SECONDS = 1.0  # shorter windows are unreliable
MAX_SECONDS = 60.0  # of speech for a voice print
MIN_SPAN_SECONDS = 1.0


def speaker_voice(speaker: str, embeddings: Sequence[SpeakerEmbedding]) -> SpeakerVoice | None:
    """The mean of the embeddings of one speaker; None without any that is reliable."""
    import numpy as np  # noqa: PLC0415 - the API process imports this module without it

    clear = [each for each in embeddings if _seconds(each.span) >= MIN_WINDOW_SECONDS]
    if not clear:
        return None
    mean = np.mean([each.vector for each in clear], axis=0)
    vector: Vector = np.asarray(mean / (np.linalg.norm(mean) or 1.0), np.float32)
    return SpeakerVoice(speaker, _covered_seconds(each.span for each in clear), vector)


def speaker_voices(embeddings: Mapping[str, Sequence[SpeakerEmbedding]]) -> list[SpeakerVoice]:
    """The voice of each speaker."""
    voices = [speaker_voice(speaker, theirs) for speaker, theirs in embeddings.items()]
    return [each for each in voices if each is not None]


def longest_spans(segments: Sequence[DocumentSegment], speaker: str) -> list[TimeSpan]:
    """The longest segments of a speaker that make enough speech for a voice print, in the order of the video."""
    theirs = [
        TimeSpan(each.start_seconds, each.end_seconds)
        for each in segments
        if each.speaker == speaker and not each.deleted and each.end_seconds - each.start_seconds >= MIN_SPAN_SECONDS
    ]
    chosen: list[TimeSpan] = []
    seconds = 0.0
    for span in sorted(theirs, key=lambda each: (-_seconds(each), each.start_seconds)):
        used = min(_seconds(span), MAX_SECONDS - seconds)
        if used < MIN_SPAN_SECONDS:
            break
        chosen.append(TimeSpan(span.start_seconds, span.start_seconds + used))
        seconds += used
    return sorted(chosen, key=lambda each: each.start_seconds)


def _seconds(span: TimeSpan) -> float:
    return span.end_seconds - span.start_seconds


def _covered_seconds(spans: Iterable[TimeSpan]) -> float:
    """The length of the union of spans; windows overlap."""
    seconds, end = 0.0, float("-inf")
    for span in sorted(spans, key=lambda each: each.start_seconds):
        seconds += max(0.0, span.end_seconds - max(span.start_seconds, end))
        end = max(end, span.end_seconds)
    return seconds
