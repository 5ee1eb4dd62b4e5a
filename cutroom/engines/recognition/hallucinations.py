"""When the words of a Whisper model, here or on a server, are not to be believed."""

from collections.abc import Sequence
from dataclasses import dataclass

# The measures are those that the models give with each segment of text, and the times of its words.
MAX_COMPRESSION_RATIO = 2.4  # of the text: beyond it the text repeats itself
MAX_BELIEVED_RATIO = 4.0  # beyond it no text is believed at once
MIN_LOG_PROBABILITY = -1.0  # on average over the text
MAX_NO_SPEECH_PROBABILITY = 0.6
MIN_MEAN_PROBABILITY = 0.15  # of the words: noise is heard as words that the model does not believe in itself
MAX_WORDS_PER_SECOND = 5.0  # over a whole window nobody speaks faster
CRAMMED_SECONDS = 0.05  # a word that the model finds no place for in the sound
MAX_CRAMMED_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Hearing:
    """What a model said of one window, or of a part of it."""

    seconds: float
    word_seconds: Sequence[float]
    word_probabilities: Sequence[float]
    compression_ratio: float
    log_probability: float
    no_speech_probability: float


def is_doubtful(hearing: Hearing) -> bool:
    """Worth a second hearing."""
    too_much = hearing.compression_ratio > MAX_BELIEVED_RATIO
    return too_much or runs_away(hearing) or hearing.log_probability < MIN_LOG_PROBABILITY


def is_hallucination(hearing: Hearing) -> bool:
    """Nobody said it, whatever else was heard."""
    return is_silence(hearing) or is_guesswork(hearing) or runs_away(hearing)


def is_silence(hearing: Hearing) -> bool:
    """The model itself thinks that nobody speaks, and is not sure of its words either."""
    unsure = hearing.log_probability < MIN_LOG_PROBABILITY
    return unsure and hearing.no_speech_probability > MAX_NO_SPEECH_PROBABILITY


def is_guesswork(hearing: Hearing) -> bool:
    """Words of which hardly one is likely."""
    count = len(hearing.word_probabilities)
    return count > 0 and sum(hearing.word_probabilities) < MIN_MEAN_PROBABILITY * count


def runs_away(hearing: Hearing) -> bool:
    """Repetition alone may be real, as in a chorus or a drill; faster than anybody speaks it is not."""
    count = len(hearing.word_seconds)
    crammed = sum(each < CRAMMED_SECONDS for each in hearing.word_seconds)
    too_fast = count > MAX_WORDS_PER_SECOND * hearing.seconds or crammed > MAX_CRAMMED_SHARE * count
    return hearing.compression_ratio > MAX_COMPRESSION_RATIO and too_fast
