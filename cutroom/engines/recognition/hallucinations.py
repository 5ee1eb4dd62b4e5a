"""Detects hallucinated output of Whisper models, local or remote."""

from collections.abc import Sequence
from dataclasses import dataclass

# Thresholds on the decoding statistics of each segment and the durations of its words.
MAX_COMPRESSION_RATIO = 2.4  # zlib ratio of the text; higher means repetition
SECOND_PASS_COMPRESSION_RATIO = 4.0  # repetitive enough to decode again
MIN_LOG_PROBABILITY = -1.0  # average per token
MAX_NO_SPEECH_PROBABILITY = 0.6
MIN_MEAN_PROBABILITY = 0.15  # of the words; noise decodes to low-probability words
MAX_WORDS_PER_SECOND = 5.0  # upper bound on sustained speaking rate
MIN_WORD_SECONDS = 0.05  # shorter words could not be aligned with the audio
MAX_SHORT_WORD_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class DecodedSegment:
    """Decoding statistics of one segment."""

    seconds: float
    word_seconds: Sequence[float]
    word_probabilities: Sequence[float]
    compression_ratio: float
    log_probability: float
    no_speech_probability: float


def needs_second_pass(segment: DecodedSegment) -> bool:
    """Whether to decode again with different settings."""
    repetitive = segment.compression_ratio > SECOND_PASS_COMPRESSION_RATIO
    return repetitive or is_runaway(segment) or segment.log_probability < MIN_LOG_PROBABILITY


def is_hallucination(segment: DecodedSegment) -> bool:
    """Whether the text was not spoken and must be dropped."""
    return is_no_speech(segment) or is_low_confidence(segment) or is_runaway(segment)


def is_no_speech(segment: DecodedSegment) -> bool:
    """High no-speech probability together with low token probabilities."""
    low_probability = segment.log_probability < MIN_LOG_PROBABILITY
    return low_probability and segment.no_speech_probability > MAX_NO_SPEECH_PROBABILITY


def is_low_confidence(segment: DecodedSegment) -> bool:
    """Mean word probability below the threshold."""
    count = len(segment.word_probabilities)
    return count > 0 and sum(segment.word_probabilities) < MIN_MEAN_PROBABILITY * count


def is_runaway(segment: DecodedSegment) -> bool:
    """Repetition at an impossible speaking rate; repetition alone may be genuine, as in a chorus."""
    count = len(segment.word_seconds)
    too_short = sum(each < MIN_WORD_SECONDS for each in segment.word_seconds)
    too_fast = count > MAX_WORDS_PER_SECOND * segment.seconds or too_short > MAX_SHORT_WORD_SHARE * count
    return segment.compression_ratio > MAX_COMPRESSION_RATIO and too_fast
