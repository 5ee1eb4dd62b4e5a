"""Groups text units into cues and lines by dynamic programming.

Each possible cue has a cost for where it ends, where its line breaks, how fast it must be read and how well it fits
the timing of the speech; the result is the sequence of cues with the lowest total cost. Only relative costs matter:
splitting an unbreakable unit costs more than everything else, and larger violations of limits cost more. A cue always
ends where the speaker changes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from cutroom.products.transcripts.subtitling.cue_rules import DASH_COLUMNS, ORPHAN_COLUMNS, CueRules
from cutroom.products.transcripts.subtitling.line_breaking import BreakPoint

MAX_INNER_PAUSE_MS = 2000  # units further apart are never in one cue

_CUE_END_COST = {
    BreakPoint.SENTENCE: 0.0,
    BreakPoint.CLAUSE: 6.0,
    BreakPoint.PHRASE: 14.0,
    BreakPoint.WORD: 24.0,
    BreakPoint.AVOID: 60.0,
    BreakPoint.NEVER: 5000.0,
}
_LINE_END_COST = {
    BreakPoint.SENTENCE: 0.0,
    BreakPoint.CLAUSE: 2.0,
    BreakPoint.PHRASE: 5.0,
    BreakPoint.WORD: 10.0,
    BreakPoint.AVOID: 30.0,
    BreakPoint.NEVER: 5000.0,
}
_CUE_COST = 12.0
_INNER_SENTENCE_END = 4.0
_PARTIAL_SENTENCE = 60.0  # contains a sentence end, but stops inside the next sentence
_PARTIAL_SENTENCE_PAUSE = 0.05  # per millisecond of inner pauses
_SENTENCE_END_IN_LINE = 10.0  # two lines, and the break is not at the sentence end
_UNBALANCED = 12.0  # maximum, if one line is empty
_TOP_HEAVY = 1.0
_ORPHAN = 300.0
# Too fast or too short: a fixed cost plus a cost by extent. A marginal violation costs more than combining whole
# sentences in a cue, and less than including part of the next sentence.
_VIOLATION = 80.0
_VIOLATION_EXTENT = 1200.0
_INNER_PAUSE = 0.012  # per millisecond
_SHORT_PAUSE_AFTER = 0.012  # per millisecond below _GOOD_PAUSE_MS
_GOOD_PAUSE_MS = 500


@dataclass(frozen=True, slots=True)
class CueTrack:
    """All text units, stored as columns; times are in milliseconds."""

    texts: list[str] = field(default_factory=list)
    glued: list[bool] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    speakers: list[str] = field(default_factory=list)
    breaks: list[BreakPoint] = field(default_factory=list)  # after each unit

    def __len__(self) -> int:
        return len(self.texts)

    def text(self, start: int, end: int) -> str:
        spaces = ("" if at == start or self.glued[at] else " " for at in range(start, end))
        return "".join(space + text for space, text in zip(spaces, self.texts[start:end], strict=True))


@dataclass(frozen=True, slots=True)
class CueBlock:
    """The units of one cue; the second line starts at `split`, if there is one."""

    start: int
    end: int
    split: int | None = None


def layout_cues(track: CueTrack, rules: CueRules, *, until_ms: float) -> list[CueBlock]:
    """The sequence of cues with the lowest total cost."""
    costs = _CueCosts(track, rules, until_ms)
    count = len(track)
    best = [0.0] + [math.inf] * count
    chosen: list[CueBlock | None] = [None] * (count + 1)
    for start in range(count):
        for end in range(start + 1, count + 1):
            if not costs.can_share_cue(start, end):
                break
            cost = best[start] + costs.cue_cost(start, end)
            if cost >= best[end]:
                continue  # a line break only adds to the cost
            lines = costs.best_line_break(start, end)
            if lines is not None and cost + lines[0] < best[end]:
                best[end] = cost + lines[0]
                chosen[end] = CueBlock(start, end, lines[1])
    return _backtrack(chosen)


def _backtrack(chosen: Sequence[CueBlock | None]) -> list[CueBlock]:
    blocks = []
    block = chosen[-1]
    while block is not None:
        blocks.append(block)
        block = chosen[block.start]
    return blocks[::-1]


class _CueCosts:
    """Costs of candidate cues, based on prefix sums over the track."""

    def __init__(self, track: CueTrack, rules: CueRules, until_ms: float) -> None:
        self.track = track
        self.line_columns = rules.line_columns
        self.max_ms = rules.max_seconds * 1000
        self.min_ms = rules.min_seconds * 1000
        self.ms_per_column = 1000 / rules.columns_per_second
        count = len(track)
        spaces = [0 if glued else 1 for glued in track.glued]
        before = accumulate((width + space for width, space in zip(track.widths, spaces, strict=True)), initial=0)
        self.spaces = list(accumulate(spaces, initial=0))
        self.end_columns = list(before)  # total columns before each unit
        self.start_columns = [self.end_columns[at] + spaces[at] for at in range(count)]  # where each unit begins
        self.pauses = [0] + [max(0, track.starts[at] - track.ends[at - 1]) for at in range(1, count)]
        ended = [False] + [quality == BreakPoint.SENTENCE for quality in track.breaks]
        self.sentences = list(accumulate(ended))
        self.silence_ms = list(accumulate(self.pauses))
        inner = (_INNER_SENTENCE_END * ended[at] + _INNER_PAUSE * self.pauses[at] for at in range(count))
        self.inner_costs = list(accumulate(inner))  # prefix sums of breaks inside a cue
        self.end_costs = [_CUE_COST + _CUE_END_COST[quality] for quality in track.breaks]
        for at in range(1, count):
            self.end_costs[at - 1] += _SHORT_PAUSE_AFTER * max(0, _GOOD_PAUSE_MS - self.pauses[at])
        gap = math.ceil(rules.gap_seconds * 1000)
        self.latest_ends = [start - gap for start in track.starts[1:]] + [until_ms]  # of a cue that ends with each unit
        self.turns = [0] * count  # index of the first unit of each unit's speaker turn
        for at in range(1, count):
            self.turns[at] = self.turns[at - 1] if track.speakers[at] == track.speakers[at - 1] else at

    def dash(self, start: int) -> int:
        return DASH_COLUMNS if start and self.turns[start] == start else 0

    def width(self, start: int, end: int) -> int:
        return self.end_columns[end] - self.start_columns[start]

    def is_orphan(self, start: int, end: int) -> bool:
        """Whether a line of these units is a single short word."""
        return self.width(start, end) <= ORPHAN_COLUMNS and self.spaces[end] == self.spaces[start + 1]

    def can_share_cue(self, start: int, end: int) -> bool:
        """Whether these units, possibly with more after them, can be one cue."""
        last = end - 1
        if last == start:
            return True
        if self.pauses[last] > MAX_INNER_PAUSE_MS or self.track.ends[last] - self.track.starts[start] > self.max_ms:
            return False
        return self.turns[last] <= start and self.width(start, end) <= 2 * self.line_columns

    def cue_cost(self, start: int, end: int) -> float:
        """The cost of showing these units as one cue, without its line break."""
        last = end - 1
        cost = self.end_costs[last] + self.inner_costs[last] - self.inner_costs[start]
        if self.sentences[last] > self.sentences[start] and self.track.breaks[last] != BreakPoint.SENTENCE:
            cost += _PARTIAL_SENTENCE + _PARTIAL_SENTENCE_PAUSE * (self.silence_ms[last] - self.silence_ms[start])
        width = self.width(start, end) + self.dash(start)
        time = max(1, min(self.max_ms, self.latest_ends[last] - self.track.starts[start]))
        for needed in (self.min_ms, width * self.ms_per_column):
            if time < needed:
                cost += _VIOLATION + _VIOLATION_EXTENT * min(1, (needed - time) / needed)
        return cost

    def best_line_break(self, start: int, end: int) -> tuple[float, int | None] | None:
        """The cost and position of the best line break, or None if the text does not fit on two lines."""
        dash = self.dash(start)
        if self.width(start, end) + dash <= self.line_columns:
            return 0.0, None
        sentence = self.sentences[end - 1] > self.sentences[start]
        best: tuple[float, int | None] | None = None
        for split in range(end - 1, start, -1):
            bottom = self.width(split, end)
            if bottom > self.line_columns:
                break
            top = self.width(start, split) + dash
            if top > self.line_columns:
                continue
            cost = _LINE_END_COST[self.track.breaks[split - 1]] + _UNBALANCED * abs(top - bottom) / self.line_columns
            cost += _TOP_HEAVY if top > bottom else 0.0
            cost += _SENTENCE_END_IN_LINE if sentence and self.track.breaks[split - 1] != BreakPoint.SENTENCE else 0.0
            if self.is_orphan(start, split) or self.is_orphan(split, end):
                cost += _ORPHAN
            if best is None or cost < best[0]:
                best = cost, split
        return best
