"""Sets the title of an output in large, balanced lines, for its cover."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from cutroom.engines.recognition.port import Word
from cutroom.engines.types import TimeSpan
from cutroom.media.fonts import Typeface
from cutroom.products.shorts.captions.ass import CaptionTrack, ass_document, write_screens
from cutroom.products.shorts.captions.layout import Typesetter, make_typesetter
from cutroom.products.shorts.captions.safe_zones import CaptionPosition, FrameRegion, cover_zone_for, covered_area
from cutroom.products.shorts.captions.screens import BREAK_COSTS, CaptionScreen
from cutroom.products.shorts.captions.styles import StyleSpec, TextShadow
from cutroom.products.transcripts.subtitling.line_breaking import break_points
from cutroom.products.transcripts.text_units import split_word

MAX_LINES = 4
MAX_COLUMNS = 24  # of one word
SIZES = (112, 98, 84, 72)  # the largest at which the title fits
_UNEVEN_COST = 60.0  # for a line that is empty, or twice as long as the average
_STYLE = StyleSpec(
    Typeface.BLACK,
    size=SIZES[0],
    max_words=0,
    max_columns=MAX_COLUMNS,
    unspaced_columns=MAX_COLUMNS,
    uppercase=False,
    outline=8,
    shadows=(TextShadow(opacity=0.6, blur=12, grow=8, drop=6),),
)

Line = tuple[Word, ...]


def write_cover_title(
    title: str, *, width: int, height: int, language: str, seconds: float, faces: Sequence[FrameRegion] = ()
) -> CaptionTrack:
    """The title as an ASS file for a frame of this size, in its lower part.

    It has the largest size that covers no face, else the one that covers the faces least.
    """
    units = [unit for word in title.split() for unit in split_word(word, max_columns=MAX_COLUMNS)]
    if not units:
        return CaptionTrack(ass_document(width, height), ())
    words = [Word(unit, 0.0, seconds, 1.0) for unit in units]
    zone = cover_zone_for(width, height)
    seen = [(TimeSpan(0.0, seconds), face) for face in faces]

    def write(setter: Typesetter, lines: tuple[Line, ...]) -> CaptionTrack:
        screen = CaptionScreen(lines, 0.0, seconds)
        position = CaptionPosition.BOTTOM
        return write_screens([screen], setter, zone, position=position, width=width, height=height, faces=seen)

    tracks = [write(*each) for each in _settings(words, width=width, height=height, language=language)]
    return min(tracks, key=lambda track: round(covered_area(track.boxes[0][1], faces), 4))


def _settings(
    words: Sequence[Word], *, width: int, height: int, language: str
) -> Iterator[tuple[Typesetter, tuple[Line, ...]]]:
    """Lines in each size that fits, the largest first; if none does, the smallest is reduced to fit."""
    setters = [
        make_typesetter(words, replace(_STYLE, size=size), width=width, height=height, language=language)
        for size in SIZES
    ]
    fits = False
    for setter in setters:
        counts = range(1, MAX_LINES + 1)
        lines = next(filter(None, (break_lines(words, setter, count=count) for count in counts)), None)
        if lines is not None:
            fits = True
            yield setter, lines
    if not fits:
        lines = break_lines(words, setters[-1], count=min(MAX_LINES, len(words)), max_width=float("inf"))
        assert lines is not None
        yield setters[-1], lines


def break_lines(
    words: Sequence[Word], setter: Typesetter, *, count: int, max_width: float | None = None
) -> tuple[Line, ...] | None:
    """The words in this many lines of similar width, broken between phrases; None if they do not fit."""
    max_width = setter.max_width if max_width is None else max_width
    texts = [word.text for word in words]
    glued = [False, *(setter.gap(left, right) == 0 for left, right in pairwise(words))]
    costs = [BREAK_COSTS[each] for each in break_points(texts, glued=glued, language=setter.language)] + [0.0]
    average = setter.line_width(words) / count
    # The cheapest lines that end before each word, and where the last of them starts.
    cheapest: list[tuple[float, tuple[int, ...]]] = [(0.0, ()), *[(float("inf"), ())] * len(words)]
    for _ in range(count):
        following: list[tuple[float, tuple[int, ...]]] = [(float("inf"), ())] * (len(words) + 1)
        for end in range(1, len(words) + 1):
            for start in range(end):
                line_width = setter.line_width(words[start:end])
                if line_width > max_width:
                    continue
                cost = cheapest[start][0] + _UNEVEN_COST * (line_width / average - 1) ** 2 + costs[end - 1]
                following[end] = min(following[end], (cost, (*cheapest[start][1], end)))
        cheapest = following
    cost, ends = cheapest[-1]
    if cost == float("inf"):
        return None
    return tuple(tuple(words[start:end]) for start, end in zip((0, *ends), ends, strict=False))
