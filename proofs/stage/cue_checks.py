"""Checks subtitle cues parsed from files against the style rules, and whether the speech forces each violation.

Limits are repeated here so that the check does not share a mistake with the product. Only the grammar of line breaks
is taken from the product's own rules.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cutroom.engines.recognition.port import Word
from cutroom.media.subtitles import DASH, SubtitleCue, SubtitleLine
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.subtitling.cue_rules import CueRule, CueViolation, rules_for, violations
from cutroom.products.transcripts.subtitling.line_breaking import BreakPoint, break_points
from proofs.stage.subtitle_parsers import ParsedCue

LINE_CHARACTERS = 42
LINES = 2
SHORTEST_MS = 5000 / 6
LONGEST_MS = 7000
GAP_MS = 2 * 40  # two frames of 25 a second
LEAD_MS = 5 * 40  # how much earlier than its first word a cue may appear
CHARACTERS_PER_SECOND = 17
INNER_PAUSE_MS = 2000  # words further apart need not share a cue
SLACK_MS = 1  # rounding


@dataclass(frozen=True, slots=True)
class FoundViolation:
    """A violation of a rule by a cue; `reason` is empty unless the speech forces it."""

    cue: int
    rule: str
    detail: str
    reason: str


@dataclass(frozen=True, slots=True)
class SpokenSpan:
    """When the words of a cue are spoken, in milliseconds."""

    first: float
    last: float


def join_segments(transcript: dict[str, Any], words: Sequence[dict[str, Any]]) -> list[TranscriptSegment]:
    """The segments of a transcript with their words from the alignment file, matched by characters only."""
    segments, at = [], 0
    for each in transcript["segments"]:
        own: list[Word] = []
        expected = "".join(each["text"].split())
        while len("".join(word.text for word in own)) < len(expected):
            word = words[at]
            own.append(Word("".join(word["text"].split()), word["start"], word["end"], 1.0))
            at += 1
        segments.append(TranscriptSegment(each["start"], each["end"], each["speaker"], each["text"], tuple(own)))
    return segments


def find_violations(
    shown: Sequence[ParsedCue], cues: Sequence[SubtitleCue], *, segments: Sequence[TranscriptSegment], language: str
) -> list[FoundViolation]:
    """Every violation. `cues` are the cues of `shown` with the speaker of each line."""
    spans = spoken_spans(cues, segments)
    found = []
    for at, each in enumerate(shown):
        limits_broken = list(_limit_violations(each, shown[at - 1] if at else None))
        found += [
            FoundViolation(at, rule, detail, _reason(rule, at, shown=shown, cues=cues, spans=spans, language=language))
            for rule, detail in limits_broken
        ]
    for violation in violations(cues, rules_for(language), segments=segments):
        if violation.rule not in _LIMITS:
            reason = (
                _separation_reason(violation, cues, spans=spans, language=language)
                if violation.rule is CueRule.UNBREAKABLE
                else ""
            )
            found.append(FoundViolation(violation.cue, violation.rule, violation.detail, reason))
    return found


def spoken_spans(cues: Sequence[SubtitleCue], segments: Sequence[TranscriptSegment]) -> list[SpokenSpan]:
    """When each cue's words are spoken, matched by characters; where the text differs from the words, by segment."""
    letters: list[SpokenSpan] = []
    for segment in segments:
        expected = "".join(segment.text.split())
        timed = [
            SpokenSpan(word.start_seconds * 1000, word.end_seconds * 1000) for word in segment.words for _ in word.text
        ]
        if len(timed) != len(expected):
            duration = segment.end_seconds - segment.start_seconds
            share = duration * 1000 / max(1, len(expected))
            start = segment.start_seconds * 1000
            timed = [SpokenSpan(start + at * share, start + (at + 1) * share) for at in range(len(expected))]
        letters += timed
    spans, at = [], 0
    for cue in cues:
        count = sum(len("".join(line.text.split())) for line in cue.lines)
        own = letters[at : at + count] or letters[-1:]  # text that is too long is reported elsewhere
        spans.append(SpokenSpan(own[0].first, own[-1].last))
        at += count
    return spans


def count_by_rule(found: Sequence[FoundViolation]) -> str:
    """Violations per rule, as text."""
    return (
        ", ".join(f"{rule} {times}" for rule, times in sorted(Counter(each.rule for each in found).items())) or "none"
    )


def long_pauses(cues: Sequence[SubtitleCue], segments: Sequence[TranscriptSegment], *, ms: float) -> list[int]:
    """Cues that join the end of one sentence and the start of the next across more than `ms` of silence."""
    starts = [
        after.start_seconds * 1000
        for before, after in pairwise(segments)
        if (after.start_seconds - before.end_seconds) * 1000 > ms
    ]
    spans = spoken_spans(cues, segments)
    return [at for at, each in enumerate(spans) if any(each.first < start < each.last for start in starts)]


_LIMITS = frozenset(
    {CueRule.LINES, CueRule.LINE_LENGTH, CueRule.MIN_DURATION, CueRule.MAX_DURATION, CueRule.GAP, CueRule.READING_SPEED}
)


def _limit_violations(shown: ParsedCue, before: ParsedCue | None) -> Iterator[tuple[CueRule, str]]:
    duration = shown.end - shown.start
    if not 1 <= len(shown.lines) <= LINES or not all(line.strip() for line in shown.lines):
        yield CueRule.LINES, f"{len(shown.lines)} lines"
    longest = max(map(len, shown.lines))
    if longest > LINE_CHARACTERS:
        yield CueRule.LINE_LENGTH, f"{longest} characters"
    if duration + SLACK_MS < SHORTEST_MS:
        yield CueRule.MIN_DURATION, f"{duration} ms"
    if duration - SLACK_MS > LONGEST_MS:
        yield CueRule.MAX_DURATION, f"{duration} ms"
    if _needed_ms(shown.lines) > duration + SLACK_MS:
        yield CueRule.READING_SPEED, f"{1000 * _characters(shown.lines) / duration:.1f} characters a second"
    if before and shown.start - before.end + SLACK_MS < GAP_MS:
        yield CueRule.GAP, f"{shown.start - before.end} ms"


def _reason(
    rule: CueRule,
    at: int,
    *,
    shown: Sequence[ParsedCue],
    cues: Sequence[SubtitleCue],
    spans: Sequence[SpokenSpan],
    language: str,
) -> str:
    """Why the speech forces the violation; empty if the time until the next words would have been enough."""
    if rule is CueRule.MAX_DURATION and len(" ".join(shown[at].lines).split()) == 1:
        return "a single word lasts that long"
    if rule not in {CueRule.MIN_DURATION, CueRule.READING_SPEED}:
        return ""
    from_ms = max(shown[at - 1].end + GAP_MS if at else 0, spans[at].first - LEAD_MS)
    until_ms = spans[at + 1].first - GAP_MS if at + 1 < len(spans) else math.inf
    available = until_ms - from_ms
    needed = SHORTEST_MS if rule is CueRule.MIN_DURATION else _needed_ms(shown[at].lines)
    if available > needed + SLACK_MS or _could_merge(at, cues, spans=spans, language=language):
        return ""
    return f"the next words start after {available:.0f} ms, {needed:.0f} are needed"


def _could_merge(at: int, cues: Sequence[SubtitleCue], *, spans: Sequence[SpokenSpan], language: str) -> bool:
    """Whether a cue merged with a neighbor would follow every rule."""
    for first, second in ((at - 1, at), (at, at + 1)):
        if first < 0 or second >= len(cues):
            continue
        lines = [*cues[first].lines, *cues[second].lines]
        available = (spans[second + 1].first - GAP_MS if second + 1 < len(spans) else math.inf) - spans[first].first
        if (
            len({line.speaker for line in lines}) == 1
            and spans[second].first - spans[first].last <= INNER_PAUSE_MS
            and spans[second].last - spans[first].first <= LONGEST_MS
            and _breaks_well(lines, language=language)
            and _needed_ms([line.rendered for line in lines]) <= min(available, LONGEST_MS)
        ):
            return True
    return False


def _breaks_well(lines: Sequence[SubtitleLine], *, language: str) -> bool:
    """Whether these words fit on one or two lines without a break that the grammar forbids."""
    words = " ".join(line.text for line in lines).split()
    first_line = LINE_CHARACTERS - len(DASH) * lines[0].dash
    grammar = break_points(words, glued=[False] * len(words), language=language)
    return any(
        len(" ".join(words[:cut])) <= first_line
        and len(" ".join(words[cut:])) <= LINE_CHARACTERS
        and (cut == len(words) or grammar[cut - 1] != BreakPoint.NEVER)
        for cut in range(1, len(words) + 1)
    )


def _separation_reason(
    violation: CueViolation, cues: Sequence[SubtitleCue], *, spans: Sequence[SpokenSpan], language: str
) -> str:
    """Why words that belong together are separated: no better line break exists, or the speaker pauses."""
    lines = cues[violation.cue].lines
    if violation.detail != lines[-1].text:
        return "" if _breaks_well(lines, language=language) else "no better line break exists"
    pause = spans[violation.cue + 1].first - spans[violation.cue].last if violation.cue + 1 < len(spans) else 0
    return f"the speaker pauses for {pause:.0f} ms" if pause > INNER_PAUSE_MS else ""


def _characters(lines: Sequence[str]) -> int:
    return sum(map(len, lines))


def _needed_ms(lines: Sequence[str]) -> float:
    return 1000 * _characters(lines) / CHARACTERS_PER_SECOND
