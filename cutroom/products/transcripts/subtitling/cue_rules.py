"""Subtitle quality rules per language, and a validator of finished cues that is independent of the layout."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from cutroom.media.subtitles import DASH, SubtitleCue, SubtitleLine, clean_text
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.subtitling.cue_timing import split_text
from cutroom.products.transcripts.subtitling.line_breaking import BreakPoint, break_points
from cutroom.products.transcripts.text_units import display_width
from cutroom.text.writing_systems import primary_language

MAX_LINES = 2
DASH_COLUMNS = len(DASH)
ORPHAN_COLUMNS = 5  # a single word up to this width should not be alone on a line
_MILLISECOND = 0.0011  # includes floating-point tolerance


@dataclass(frozen=True, slots=True)
class CueRules:
    """Limits for one language. Widths are in columns; a wide character takes two."""

    language: str
    line_columns: int = 42
    columns_per_second: float = 17.0
    column_name: str = "characters"
    min_seconds: float = 5 / 6
    max_seconds: float = 7.0
    frame_rate: float = 25.0
    gap_frames: int = 2  # between two cues, so that the change is visible
    chain_frames: int = 12  # shorter gaps are closed to gap_frames
    lead_frames: int = 5  # a cue may start this much before its first word

    @property
    def gap_seconds(self) -> float:
        return self.seconds(self.gap_frames)

    def seconds(self, frames: int) -> float:
        """Duration of frames, rounded up to whole milliseconds as in subtitle files."""
        return math.ceil(round(frames * 1000 / self.frame_rate, 6)) / 1000

    @property
    def unit_columns(self) -> int:
        """The widest unit that fits on a line with a speaker dash."""
        return self.line_columns - DASH_COLUMNS


# 16 wide characters per line; per second 9 in Chinese, 12 in Korean (spaces and endings), and 7 in Japanese.
# Style guides ask for 4 in Japanese, but that assumes condensed translations; verbatim text needs 7.
_LANGUAGE_LIMITS: dict[str, tuple[int, float]] = {
    "zh": (32, 18.0),
    "yue": (32, 18.0),
    "ja": (32, 14.0),
    "ko": (32, 24.0),
    "th": (35, 17.0),
}


def rules_for(language: str, *, frame_rate: float = 25.0) -> CueRules:
    rules = CueRules(language, frame_rate=frame_rate)
    limits = _LANGUAGE_LIMITS.get(primary_language(language))
    if limits is None:
        return rules
    return replace(rules, line_columns=limits[0], columns_per_second=limits[1], column_name="columns")


class CueRule(StrEnum):
    """The rules that a cue can violate."""

    LINES = "lines"
    LINE_LENGTH = "line_length"
    READING_SPEED = "reading_speed"
    MIN_DURATION = "min_duration"
    MAX_DURATION = "max_duration"
    GAP = "gap"
    START = "start"  # with its first word, or up to lead_frames before
    END = "end"  # not before its last word, unless the next cue follows directly
    UNBREAKABLE = "unbreakable"  # a grammatical unit is split
    ORPHAN = "orphan"  # one short word on a line although a better break exists
    SPEAKERS = "speakers"  # one speaker per cue, and a dash where the speaker changes
    TEXT = "text"  # missing, duplicated or reordered text


@dataclass(frozen=True, slots=True)
class CueViolation:
    cue: int
    rule: CueRule
    detail: str


def shown_columns(cue: SubtitleCue) -> int:
    return sum(display_width(line.rendered) for line in cue.lines)


def violations(
    cues: Sequence[SubtitleCue], rules: CueRules, *, segments: Sequence[TranscriptSegment] | None = None
) -> list[CueViolation]:
    """All violations; `segments` enables the rules that compare cues with the spoken words."""
    found = []
    before: SubtitleCue | None = None
    for at, cue in enumerate(cues):
        broken = [*_check_lines(cue, rules), *_check_timing(cue, before, rules), *_check_speakers(cue, before)]
        found += [CueViolation(at, rule, detail) for rule, detail in broken]
        before = cue
    if segments is not None:
        found += _compare_with_segments(cues, [segment for segment in segments if not segment.deleted], rules)
    return found


def _check_lines(cue: SubtitleCue, rules: CueRules) -> Iterator[tuple[CueRule, str]]:
    if not 1 <= len(cue.lines) <= MAX_LINES or not all(line.text for line in cue.lines):
        yield CueRule.LINES, f"{len(cue.lines)} lines"
    for line in cue.lines:
        if display_width(line.rendered) > rules.line_columns:
            yield CueRule.LINE_LENGTH, f"{display_width(line.rendered)} > {rules.line_columns}"
    if len(cue.lines) == MAX_LINES and not cue.lines[1].dash and _has_avoidable_orphan(cue.lines, rules):
        yield CueRule.ORPHAN, " / ".join(line.text for line in cue.lines)


def _has_avoidable_orphan(lines: Sequence[SubtitleLine], rules: CueRules) -> bool:
    if not any(_is_orphan(line.text) for line in lines):
        return False
    units = [unit for line in lines for unit in split_text(line.text, rules.unit_columns)]
    found = break_points([text for text, _ in units], glued=[glued for _, glued in units], language=rules.language)
    for at in range(1, len(units)):
        left, right = _join(units[:at]), _join(units[at:])
        fits = max(display_width(DASH * lines[0].dash + left), display_width(right)) <= rules.line_columns
        if fits and found[at - 1] != BreakPoint.NEVER and not _is_orphan(left) and not _is_orphan(right):
            return True
    return False


def _join(units: Sequence[tuple[str, bool]]) -> str:
    return "".join(text if glued or at == 0 else f" {text}" for at, (text, glued) in enumerate(units))


def _is_orphan(text: str) -> bool:
    return " " not in text and display_width(text) <= ORPHAN_COLUMNS


def _check_timing(cue: SubtitleCue, before: SubtitleCue | None, rules: CueRules) -> Iterator[tuple[CueRule, str]]:
    duration = cue.end_seconds - cue.start_seconds
    if duration < rules.min_seconds - _MILLISECOND:
        yield CueRule.MIN_DURATION, f"{duration:.3f} s"
    if duration > rules.max_seconds + _MILLISECOND:
        yield CueRule.MAX_DURATION, f"{duration:.3f} s"
    if shown_columns(cue) > rules.columns_per_second * (duration + _MILLISECOND):
        yield CueRule.READING_SPEED, f"{shown_columns(cue) / max(duration, 0.001):.1f} per second"
    if before and cue.start_seconds - before.end_seconds < rules.gap_frames / rules.frame_rate - _MILLISECOND:
        yield CueRule.GAP, f"{cue.start_seconds - before.end_seconds:.3f} s"


def _check_speakers(cue: SubtitleCue, before: SubtitleCue | None) -> Iterator[tuple[CueRule, str]]:
    speaker = cue.lines[0].speaker
    changed = before is not None and before.lines[-1].speaker != speaker
    for at, line in enumerate(cue.lines):
        if line.speaker != speaker or line.dash != (changed and at == 0):
            yield CueRule.SPEAKERS, f"{line.rendered!r} of {line.speaker!r}"


@dataclass(frozen=True, slots=True)
class _Letter:
    """A character of the expected text, with times where known."""

    character: str
    speaker: str
    start_seconds: float | None = None
    end_seconds: float | None = None
    break_after: BreakPoint | None = None  # None inside a unit


def _expected_letters(segment: TranscriptSegment, rules: CueRules) -> list[_Letter]:
    starts: list[float | None] = []
    ends: list[float | None] = []
    spoken = ""
    for word in segment.words:
        text = clean_text(word.text).replace(" ", "")
        spoken += text
        inner: list[float | None] = [None] * (len(text) - 1)
        starts += [word.start_seconds, *inner] if text else []
        ends += [*inner, max(word.start_seconds, word.end_seconds)] if text else []
    units = split_text(segment.text, rules.unit_columns)
    shown = "".join(unit for unit, _ in units)
    if shown != spoken:
        unknown: list[float | None] = [None] * (len(shown) - 1)
        starts, ends = [segment.start_seconds, *unknown], [*unknown, segment.end_seconds]
    found = break_points([unit for unit, _ in units], glued=[glued for _, glued in units], language=rules.language)
    after: list[BreakPoint | None] = []
    for (unit, _), quality in zip(units, [*found, BreakPoint.CLAUSE], strict=False):
        after += [*([None] * (len(unit) - 1)), quality]
    return [_Letter(character, segment.speaker, starts[at], ends[at], after[at]) for at, character in enumerate(shown)]


def _compare_with_segments(
    cues: Sequence[SubtitleCue], segments: Sequence[TranscriptSegment], rules: CueRules
) -> Iterator[CueViolation]:
    letters = [letter for segment in segments for letter in _expected_letters(segment, rules)]
    at = 0
    for index, cue in enumerate(cues):
        first = at
        for line in cue.lines:
            shown = letters[at : at + len(line.text.replace(" ", ""))]
            at += len(shown)
            if "".join(letter.character for letter in shown) != line.text.replace(" ", ""):
                yield CueViolation(index, CueRule.TEXT, line.text)
                return
            if any(letter.speaker != line.speaker for letter in shown):
                yield CueViolation(index, CueRule.SPEAKERS, line.text)
            if shown[-1].break_after in {None, BreakPoint.NEVER} and at < len(letters):
                yield CueViolation(index, CueRule.UNBREAKABLE, line.text)
        next_cue = cues[index + 1] if index + 1 < len(cues) else None
        yield from _check_word_timing(index, cue, next_cue, first=letters[first], last=letters[at - 1], rules=rules)
    if at < len(letters):
        yield CueViolation(len(cues), CueRule.TEXT, "Text is missing at the end.")


def _check_word_timing(
    index: int, cue: SubtitleCue, next_cue: SubtitleCue | None, *, first: _Letter, last: _Letter, rules: CueRules
) -> Iterator[CueViolation]:
    start, end = first.start_seconds, last.end_seconds
    if start is not None:
        early = start - cue.start_seconds
        if not -_MILLISECOND <= early <= rules.seconds(rules.lead_frames) + _MILLISECOND:
            yield CueViolation(index, CueRule.START, f"{early:.3f} s early")
    # In continuous speech the minimum gap is taken from the end of the last word.
    follows = next_cue and next_cue.start_seconds - cue.end_seconds <= rules.gap_seconds + _MILLISECOND
    if end is not None and cue.end_seconds < end - _MILLISECOND and not follows:
        yield CueViolation(index, CueRule.END, f"{end - cue.end_seconds:.3f} s before its last word")
