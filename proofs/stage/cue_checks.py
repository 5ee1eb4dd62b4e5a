"""Whether cues that were read back from files keep the rules of the house, and where they do not, whether they could.

The figures are written down here once more, so that this check does not share a slip with what it checks. The breaks
of the grammar alone are asked of the product's own rules.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cutroom.engines.recognition.port import Word
from cutroom.media.subtitles import DASH, Cue, Line
from cutroom.products.transcripts.cue_rules import Rule, Violation, rules_for, violations
from cutroom.products.transcripts.grammar import Joint, joints
from cutroom.products.transcripts.sentences import Segment
from proofs.stage.subtitle_parsers import Shown

LINE_CHARACTERS = 42
LINES = 2
SHORTEST_MS = 5000 / 6
LONGEST_MS = 7000
GAP_MS = 2 * 40  # two frames of 25 a second
LEAD_MS = 5 * 40  # how much earlier than its first word a cue may come
CHARACTERS_PER_SECOND = 17
INNER_PAUSE_MS = 2000  # what is said so far apart need not be shown together
SLACK_MS = 1  # what rounding takes


@dataclass(frozen=True, slots=True)
class Break:
    """A cue that does not keep a rule; the reason is empty where the speech does not force it."""

    cue: int
    rule: str
    detail: str
    reason: str


@dataclass(frozen=True, slots=True)
class Said:
    """When the words of one cue are said, in milliseconds."""

    first: float
    last: float


def segments_from(transcript: dict[str, Any], words: Sequence[dict[str, Any]]) -> list[Segment]:
    """The segments of a transcript with the words of its alignment file, by nothing but their letters."""
    segments, at = [], 0
    for each in transcript["segments"]:
        own: list[Word] = []
        wanted = "".join(each["text"].split())
        while len("".join(word.text for word in own)) < len(wanted):
            word = words[at]
            own.append(Word("".join(word["text"].split()), word["start"], word["end"], 1.0))
            at += 1
        segments.append(Segment(each["start"], each["end"], each["speaker"], each["text"], tuple(own)))
    return segments


def breaks(shown: Sequence[Shown], cues: Sequence[Cue], *, segments: Sequence[Segment], language: str) -> list[Break]:
    """Every rule that some cue does not keep. `cues` are the same as `shown`, with who says each line."""
    said = said_in(cues, segments)
    found = []
    for at, each in enumerate(shown):
        faults = list(_plain_faults(each, shown[at - 1] if at else None))
        found += [
            Break(at, rule, detail, _reason(rule, at, shown=shown, cues=cues, said=said, language=language))
            for rule, detail in faults
        ]
    for fault in violations(cues, rules_for(language), segments=segments):
        if fault.rule not in _PLAIN:
            reason = _parted(fault, cues, said=said, language=language) if fault.rule is Rule.BELONGING else ""
            found.append(Break(fault.cue, fault.rule, fault.detail, reason))
    return found


def said_in(cues: Sequence[Cue], segments: Sequence[Segment]) -> list[Said]:
    """The time of each cue's words, found by letters alone; where a text is not what was heard, its segment's."""
    letters: list[Said] = []
    for segment in segments:
        wanted = "".join(segment.text.split())
        timed = [Said(word.start_seconds * 1000, word.end_seconds * 1000) for word in segment.words for _ in word.text]
        if len(timed) != len(wanted):
            whole = segment.end_seconds - segment.start_seconds
            share = whole * 1000 / max(1, len(wanted))
            start = segment.start_seconds * 1000
            timed = [Said(start + at * share, start + (at + 1) * share) for at in range(len(wanted))]
        letters += timed
    said, at = [], 0
    for cue in cues:
        count = sum(len("".join(line.text.split())) for line in cue.lines)
        own = letters[at : at + count] or letters[-1:]  # a text that is too long is told of elsewhere
        said.append(Said(own[0].first, own[-1].last))
        at += count
    return said


def counted(found: Sequence[Break]) -> str:
    """How often each rule is broken."""
    return (
        ", ".join(f"{rule} {times}" for rule, times in sorted(Counter(each.rule for each in found).items())) or "none"
    )


def long_pauses(cues: Sequence[Cue], segments: Sequence[Segment], *, ms: float) -> list[int]:
    """Cues that hold the end of one sentence and the start of the next, with more than so much silence between."""
    starts = [
        after.start_seconds * 1000
        for before, after in pairwise(segments)
        if (after.start_seconds - before.end_seconds) * 1000 > ms
    ]
    said = said_in(cues, segments)
    return [at for at, each in enumerate(said) if any(each.first < start < each.last for start in starts)]


_PLAIN = frozenset({Rule.LINES, Rule.LINE_LENGTH, Rule.SHORTEST, Rule.LONGEST, Rule.GAP, Rule.READING_SPEED})


def _plain_faults(shown: Shown, before: Shown | None) -> Iterator[tuple[Rule, str]]:
    duration = shown.end - shown.start
    if not 1 <= len(shown.lines) <= LINES or not all(line.strip() for line in shown.lines):
        yield Rule.LINES, f"{len(shown.lines)} lines"
    longest = max(map(len, shown.lines))
    if longest > LINE_CHARACTERS:
        yield Rule.LINE_LENGTH, f"{longest} characters"
    if duration + SLACK_MS < SHORTEST_MS:
        yield Rule.SHORTEST, f"{duration} ms"
    if duration - SLACK_MS > LONGEST_MS:
        yield Rule.LONGEST, f"{duration} ms"
    if _needed_ms(shown.lines) > duration + SLACK_MS:
        yield Rule.READING_SPEED, f"{1000 * _characters(shown.lines) / duration:.1f} characters a second"
    if before and shown.start - before.end + SLACK_MS < GAP_MS:
        yield Rule.GAP, f"{shown.start - before.end} ms"


def _reason(
    rule: Rule, at: int, *, shown: Sequence[Shown], cues: Sequence[Cue], said: Sequence[Said], language: str
) -> str:
    """Why the speech forces it, or nothing: a cue has the time from a little before its words to the next words."""
    if rule is Rule.LONGEST and len(" ".join(shown[at].lines).split()) == 1:
        return "one word lasts as long"
    if rule not in {Rule.SHORTEST, Rule.READING_SPEED}:
        return ""
    from_ms = max(shown[at - 1].end + GAP_MS if at else 0, said[at].first - LEAD_MS)
    until_ms = said[at + 1].first - GAP_MS if at + 1 < len(said) else math.inf
    room = until_ms - from_ms
    needed = SHORTEST_MS if rule is Rule.SHORTEST else _needed_ms(shown[at].lines)
    if room > needed + SLACK_MS or _could_join(at, cues, said=said, language=language):
        return ""
    return f"the next words come after {room:.0f} ms, and {needed:.0f} are needed"


def _could_join(at: int, cues: Sequence[Cue], *, said: Sequence[Said], language: str) -> bool:
    """Whether one cue with the words of a neighbour as well would keep every rule."""
    for first, second in ((at - 1, at), (at, at + 1)):
        if first < 0 or second >= len(cues):
            continue
        lines = [*cues[first].lines, *cues[second].lines]
        room = (said[second + 1].first - GAP_MS if second + 1 < len(said) else math.inf) - said[first].first
        if (
            len({line.speaker for line in lines}) == 1
            and said[second].first - said[first].last <= INNER_PAUSE_MS
            and said[second].last - said[first].first <= LONGEST_MS
            and _breaks_well(lines, language=language)
            and _needed_ms([line.shown for line in lines]) <= min(room, LONGEST_MS)
        ):
            return True
    return False


def _breaks_well(lines: Sequence[Line], *, language: str) -> bool:
    """Whether the words of these lines fit on one line or on two, and none are parted that belong together."""
    words = " ".join(line.text for line in lines).split()
    room = LINE_CHARACTERS - len(DASH) * lines[0].dash
    grammar = joints(words, glued=[False] * len(words), language=language)
    return any(
        len(" ".join(words[:cut])) <= room
        and len(" ".join(words[cut:])) <= LINE_CHARACTERS
        and (cut == len(words) or grammar[cut - 1] != Joint.NEVER)
        for cut in range(1, len(words) + 1)
    )


def _parted(fault: Violation, cues: Sequence[Cue], *, said: Sequence[Said], language: str) -> str:
    """Words that belong together may stand apart where no line breaks better, or where the speaker makes a pause."""
    lines = cues[fault.cue].lines
    if fault.detail != lines[-1].text:
        return "" if _breaks_well(lines, language=language) else "the line can break nowhere better"
    pause = said[fault.cue + 1].first - said[fault.cue].last if fault.cue + 1 < len(said) else 0
    return f"the speaker pauses for {pause:.0f} ms" if pause > INNER_PAUSE_MS else ""


def _characters(lines: Sequence[str]) -> int:
    return sum(map(len, lines))


def _needed_ms(lines: Sequence[str]) -> float:
    return 1000 * _characters(lines) / CHARACTERS_PER_SECOND
