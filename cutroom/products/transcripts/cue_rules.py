"""What a good cue is, in figures, and a check of cues against it that does not care how they were made."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from cutroom.media.subtitles import DASH, Cue, Line, clean_text
from cutroom.products.transcripts.cue_timing import text_parts
from cutroom.products.transcripts.grammar import Joint, joints
from cutroom.products.transcripts.scripts import columns
from cutroom.products.transcripts.sentences import Segment
from cutroom.text.writing_systems import base_of

MAX_LINES = 2
DASH_COLUMNS = len(DASH)
LONELY_COLUMNS = 5  # a word no wider than this looks lost on a line of its own
_MILLISECOND = 0.0011  # with something for the sums of floats


@dataclass(frozen=True, slots=True)
class CueRules:
    """Figures for one language. Widths are in columns, of which a wide character takes two."""

    language: str
    line_columns: int = 42
    columns_per_second: float = 17.0
    column_name: str = "characters"
    shortest_seconds: float = 5 / 6
    longest_seconds: float = 7.0
    frame_rate: float = 25.0
    gap_frames: int = 2  # between two cues, so that the eye sees the change
    chain_frames: int = 12  # a shorter gap is closed to the smallest
    lead_frames: int = 5  # how much earlier than its first word a cue may start

    @property
    def gap_seconds(self) -> float:
        return self.seconds(self.gap_frames)

    def seconds(self, frames: int) -> float:
        """In whole milliseconds, as files have them, and no less than the frames take."""
        return math.ceil(round(frames * 1000 / self.frame_rate, 6)) / 1000

    @property
    def piece_columns(self) -> int:
        """The widest piece that fits on a line with a dash."""
        return self.line_columns - DASH_COLUMNS


# 16 wide characters a line; 9 of them a second in Chinese, 12 in Korean, which has more to say in blanks and endings.
# For Japanese 4 a second is asked of translations that leave things out; what is said word for word needs 7.
_OTHER_FIGURES: dict[str, tuple[int, float]] = {
    "zh": (32, 18.0),
    "yue": (32, 18.0),
    "ja": (32, 14.0),
    "ko": (32, 24.0),
    "th": (35, 17.0),
}


def rules_for(language: str, *, frame_rate: float = 25.0) -> CueRules:
    rules = CueRules(language, frame_rate=frame_rate)
    figures = _OTHER_FIGURES.get(base_of(language))
    if figures is None:
        return rules
    return replace(rules, line_columns=figures[0], columns_per_second=figures[1], column_name="columns")


class Rule(StrEnum):
    """What can be wrong with a cue."""

    LINES = "lines"
    LINE_LENGTH = "line_length"
    READING_SPEED = "reading_speed"
    SHORTEST = "shortest"
    LONGEST = "longest"
    GAP = "gap"
    START = "start"  # with its first word, or a few frames before
    END = "end"  # not before its last word, unless the next cue follows at once
    BELONGING = "belonging"  # words that belong together are parted
    LONELY = "lonely"  # one short word on a line, though there is a better break
    SPEAKERS = "speakers"  # two speakers only with a line each; a dash where the speaker changes
    TEXT = "text"  # something is lost, doubled or moved


@dataclass(frozen=True, slots=True)
class Violation:
    cue: int
    rule: Rule
    detail: str


def shown_columns(cue: Cue) -> int:
    return sum(columns(line.shown) for line in cue.lines)


def violations(cues: Sequence[Cue], rules: CueRules, *, segments: Sequence[Segment] | None = None) -> list[Violation]:
    """All that is wrong; with the segments the cues were made of, also what only these can tell."""
    found = []
    before: Cue | None = None
    for at, cue in enumerate(cues):
        wrong = [*_form(cue, rules), *_times(cue, before, rules), *_speakers(cue, before)]
        found += [Violation(at, rule, detail) for rule, detail in wrong]
        before = cue
    if segments is not None:
        found += _against(cues, [segment for segment in segments if not segment.deleted], rules)
    return found


def _form(cue: Cue, rules: CueRules) -> Iterator[tuple[Rule, str]]:
    if not 1 <= len(cue.lines) <= MAX_LINES or not all(line.text for line in cue.lines):
        yield Rule.LINES, f"{len(cue.lines)} lines"
    for line in cue.lines:
        if columns(line.shown) > rules.line_columns:
            yield Rule.LINE_LENGTH, f"{columns(line.shown)} > {rules.line_columns}"
    if len(cue.lines) == MAX_LINES and not cue.lines[1].dash and _avoidably_lonely(cue.lines, rules):
        yield Rule.LONELY, " / ".join(line.text for line in cue.lines)


def _avoidably_lonely(lines: Sequence[Line], rules: CueRules) -> bool:
    if not any(_is_lonely(line.text) for line in lines):
        return False
    parts = [part for line in lines for part in text_parts(line.text, rules.piece_columns)]
    found = joints([text for text, _ in parts], glued=[glued for _, glued in parts], language=rules.language)
    for at in range(1, len(parts)):
        left, right = _line(parts[:at]), _line(parts[at:])
        fits = max(columns(DASH * lines[0].dash + left), columns(right)) <= rules.line_columns
        if fits and found[at - 1] != Joint.NEVER and not _is_lonely(left) and not _is_lonely(right):
            return True
    return False


def _line(parts: Sequence[tuple[str, bool]]) -> str:
    return "".join(text if glued or at == 0 else f" {text}" for at, (text, glued) in enumerate(parts))


def _is_lonely(text: str) -> bool:
    return " " not in text and columns(text) <= LONELY_COLUMNS


def _times(cue: Cue, before: Cue | None, rules: CueRules) -> Iterator[tuple[Rule, str]]:
    duration = cue.end_seconds - cue.start_seconds
    if duration < rules.shortest_seconds - _MILLISECOND:
        yield Rule.SHORTEST, f"{duration:.3f} s"
    if duration > rules.longest_seconds + _MILLISECOND:
        yield Rule.LONGEST, f"{duration:.3f} s"
    if shown_columns(cue) > rules.columns_per_second * (duration + _MILLISECOND):
        yield Rule.READING_SPEED, f"{shown_columns(cue) / max(duration, 0.001):.1f} a second"
    if before and cue.start_seconds - before.end_seconds < rules.gap_frames / rules.frame_rate - _MILLISECOND:
        yield Rule.GAP, f"{cue.start_seconds - before.end_seconds:.3f} s"


def _speakers(cue: Cue, before: Cue | None) -> Iterator[tuple[Rule, str]]:
    dialogue = len({line.speaker for line in cue.lines}) > 1
    last = before.lines[-1].speaker if before else cue.lines[0].speaker
    for line in cue.lines:
        if line.dash != (dialogue or line.speaker != last):
            yield Rule.SPEAKERS, f"{line.shown!r} after {last!r}"
        last = line.speaker


@dataclass(frozen=True, slots=True)
class _Letter:
    """A character of the text as it should be shown; times where they are known."""

    character: str
    speaker: str
    start_seconds: float | None = None
    end_seconds: float | None = None
    joint: Joint | None = None  # with the next; nothing inside a piece


def _letters(segment: Segment, rules: CueRules) -> list[_Letter]:
    starts: list[float | None] = []
    ends: list[float | None] = []
    said = ""
    for word in segment.words:
        text = clean_text(word.text).replace(" ", "")
        said += text
        inner: list[float | None] = [None] * (len(text) - 1)
        starts += [word.start_seconds, *inner] if text else []
        ends += [*inner, max(word.start_seconds, word.end_seconds)] if text else []
    parts = text_parts(segment.text, rules.piece_columns)
    shown = "".join(part for part, _ in parts)
    if shown != said:
        nothing: list[float | None] = [None] * (len(shown) - 1)
        starts, ends = [segment.start_seconds, *nothing], [*nothing, segment.end_seconds]
    found = joints([part for part, _ in parts], glued=[glued for _, glued in parts], language=rules.language)
    after: list[Joint | None] = []
    for (part, _), joint in zip(parts, [*found, Joint.CLAUSE], strict=False):
        after += [*([None] * (len(part) - 1)), joint]
    return [_Letter(character, segment.speaker, starts[at], ends[at], after[at]) for at, character in enumerate(shown)]


def _against(cues: Sequence[Cue], segments: Sequence[Segment], rules: CueRules) -> Iterator[Violation]:
    letters = [letter for segment in segments for letter in _letters(segment, rules)]
    at = 0
    for index, cue in enumerate(cues):
        first = at
        for line in cue.lines:
            shown = letters[at : at + len(line.text.replace(" ", ""))]
            at += len(shown)
            if "".join(letter.character for letter in shown) != line.text.replace(" ", ""):
                yield Violation(index, Rule.TEXT, line.text)
                return
            if any(letter.speaker != line.speaker for letter in shown):
                yield Violation(index, Rule.SPEAKERS, line.text)
            if shown[-1].joint in {None, Joint.NEVER} and at < len(letters):
                yield Violation(index, Rule.BELONGING, line.text)
        following = cues[index + 1] if index + 1 < len(cues) else None
        yield from _with_words(index, cue, following, first=letters[first], last=letters[at - 1], rules=rules)
    if at < len(letters):
        yield Violation(len(cues), Rule.TEXT, "The end is missing.")


def _with_words(
    index: int, cue: Cue, following: Cue | None, *, first: _Letter, last: _Letter, rules: CueRules
) -> Iterator[Violation]:
    start, end = first.start_seconds, last.end_seconds
    if start is not None:
        early = start - cue.start_seconds
        if not -_MILLISECOND <= early <= rules.seconds(rules.lead_frames) + _MILLISECOND:
            yield Violation(index, Rule.START, f"{early:.3f} s early")
    # Where speech runs on without a pause, the smallest gap is cut from the end of the last word.
    follows = following and following.start_seconds - cue.end_seconds <= rules.gap_seconds + _MILLISECOND
    if end is not None and cue.end_seconds < end - _MILLISECOND and not follows:
        yield Violation(index, Rule.END, f"{end - cue.end_seconds:.3f} s before its last word")
