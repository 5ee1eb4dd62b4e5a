"""Times for the pieces of a text: those of its own words, or for a translation a fair share of the sentence's time."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from cutroom.media.subtitles import clean_text
from cutroom.products.transcripts.grammar import Joint, joints
from cutroom.products.transcripts.scripts import columns, parts_of
from cutroom.products.transcripts.sentences import Segment, TimedWord

PAUSE_SECONDS = 0.2  # shorter silences belong to speech
# A pause is kept only if the text on neither side of it has to be read so much faster than the whole.
FASTEST = 1.4
NEAR_PIECES = 8  # how far around the place of a pause a better one is looked for
# How much nearer, as a share of the sentence, a worse place to part must be.
_FAR = {
    Joint.SENTENCE: 0.0,
    Joint.CLAUSE: 0.01,
    Joint.PHRASE: 0.05,
    Joint.PLAIN: 0.08,
    Joint.TIGHT: 0.15,
    Joint.NEVER: 1.0,
}


@dataclass(frozen=True, slots=True)
class TimedText:
    """The smallest part of a text that can stand on a line of its own; a glued one has no blank before it."""

    text: str
    start_seconds: float
    end_seconds: float
    glued: bool = False


def pieces_of(segment: Segment, *, language: str, most_columns: int) -> list[TimedText]:
    """The text of a segment with times: exact where the text is what was heard, else spread."""
    parts = text_parts(segment.text, most_columns)
    heard = _heard(parts, segment.words)
    if heard is not None:
        return heard
    pauses = [(left.end_seconds, right.start_seconds) for left, right in pairwise(segment.words)]
    return _spread(parts, (segment.start_seconds, segment.end_seconds), pauses=pauses, language=language)


def spread(
    text: str,
    span: tuple[float, float],
    *,
    pauses: Sequence[tuple[float, float]],
    language: str,
    most_columns: int,
) -> list[TimedText]:
    """Times in proportion to length; the pauses of what was said fall where the text can be parted."""
    return _spread(text_parts(text, most_columns), span, pauses=pauses, language=language)


def text_parts(text: str, most_columns: int) -> list[tuple[str, bool]]:
    """The pieces of a text, and whether each is glued to the one before it."""
    words = clean_text(text).split(" ")
    return [
        (part, at > 0) for word in words for at, part in enumerate(parts_of(word, most_columns=most_columns)) if part
    ]


def _heard(parts: Sequence[tuple[str, bool]], words: Sequence[TimedWord]) -> list[TimedText] | None:
    """Pieces with the times of the words they are made of, or nothing if the words are others."""
    times: list[tuple[float, float]] = []  # of each character
    said = []
    for word in words:
        text = clean_text(word.text).replace(" ", "")
        said.append(text)
        step = max(0.0, word.end_seconds - word.start_seconds) / max(1, len(text))
        times += [(word.start_seconds + at * step, word.start_seconds + (at + 1) * step) for at in range(len(text))]
    if "".join(said) != "".join(part for part, _ in parts):
        return None
    pieces = []
    at = 0
    for part, glued in parts:
        pieces.append(TimedText(part, times[at][0], times[at + len(part) - 1][1], glued=glued))
        at += len(part)
    return pieces


def _spread(
    parts: Sequence[tuple[str, bool]],
    span: tuple[float, float],
    *,
    pauses: Sequence[tuple[float, float]],
    language: str,
) -> list[TimedText]:
    if not parts:
        return []
    # Each piece weighs what it takes to say: its width, and something for the blank.
    ends = list(accumulate(max(1, columns(part)) + (not glued) for part, glued in parts))
    pieces: list[TimedText] = []
    first, start, weight = 0, span[0], 0
    for last, pause in [
        *_placed(parts, ends, span, pauses=pauses, language=language),
        (len(parts) - 1, (span[1],) * 2),
    ]:
        share = max(0.0, pause[0] - start) / max(1, ends[last] - weight)
        for at in range(first, last + 1):
            text, glued = parts[at]
            before = ends[at - 1] if at > first else weight
            pieces.append(
                TimedText(text, start + share * (before - weight), start + share * (ends[at] - weight), glued=glued)
            )
        first, start, weight = last + 1, pause[1], ends[last]
    return pieces


def _placed(
    parts: Sequence[tuple[str, bool]],
    ends: Sequence[int],
    span: tuple[float, float],
    *,
    pauses: Sequence[tuple[float, float]],
    language: str,
) -> list[tuple[int, tuple[float, float]]]:
    """The pauses that find a place, each with the piece it comes after."""
    silences = [
        (start, end) for start, end in pauses if end - start >= PAUSE_SECONDS and span[0] < start < end < span[1]
    ]
    speech = span[1] - span[0] - sum(end - start for start, end in silences)
    if not silences or speech <= 0:
        return []
    total = ends[-1]
    found = joints([text for text, _ in parts], glued=[glued for _, glued in parts], language=language)
    placed: list[tuple[int, tuple[float, float]]] = []
    silent, last, last_share, last_time = 0.0, -1, 0.0, 0.0
    for start, end in silences:
        time = (start - span[0] - silent) / speech  # the share of the speech before this pause
        silent += end - start
        middle = bisect_left(ends, time * total)
        near = range(max(last + 1, middle - NEAR_PIECES), min(len(parts) - 1, middle + NEAR_PIECES))
        if not near:
            continue
        _, best = min((abs(ends[at] / total - time) + _FAR[found[at]], at) for at in near)
        share = ends[best] / total
        if share - last_share <= FASTEST * (time - last_time) and 1 - share <= FASTEST * (1 - time):
            placed.append((best, (start, end)))
            last, last_share, last_time = best, share, time
    return placed
