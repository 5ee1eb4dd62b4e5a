"""When the words of a Whisper model, here or on a server, are not to be believed."""

# The measures are those that the models give with each segment of text.
MAX_COMPRESSION_RATIO = 2.4  # of the text: beyond it the text repeats itself
MIN_LOG_PROBABILITY = -1.0  # on average over the text
MAX_NO_SPEECH_PROBABILITY = 0.6
MAX_WORDS_PER_SECOND = 5.0  # over a whole window nobody speaks faster


def is_doubtful(compression_ratio: float, log_probability: float) -> bool:
    """Worth a second hearing."""
    return compression_ratio > MAX_COMPRESSION_RATIO or log_probability < MIN_LOG_PROBABILITY


def is_silence(no_speech_probability: float, log_probability: float) -> bool:
    """The model itself thinks that nobody speaks, and is not sure of its words either."""
    return no_speech_probability > MAX_NO_SPEECH_PROBABILITY and log_probability < MIN_LOG_PROBABILITY


def runs_away(compression_ratio: float, words: int, *, seconds: float) -> bool:
    """Repetition alone may be real, as in a chorus or a drill; faster than anybody speaks it is not."""
    return compression_ratio > MAX_COMPRESSION_RATIO and words > MAX_WORDS_PER_SECOND * seconds
