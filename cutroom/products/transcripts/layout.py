"""Which words make a cue, and which of them a line: the cheapest of all ways to cut a speech.

A way through the pieces from first to last is a chain of cues; each has a price for where it ends, where its line
breaks, how fast it must be read and how it sits in time. Prices only compare: what must never be parted costs more
than all else a cue can do wrong, and a rule that is broken costs the more the worse it is broken.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from cutroom.products.transcripts.cue_rules import DASH_COLUMNS, LONELY_COLUMNS, CueRules
from cutroom.products.transcripts.grammar import Joint

MOST_INNER_PAUSE_MS = 2000  # words so far apart are never shown together

_CUE_END = {
    Joint.SENTENCE: 0.0,
    Joint.CLAUSE: 6.0,
    Joint.PHRASE: 14.0,
    Joint.PLAIN: 24.0,
    Joint.TIGHT: 60.0,
    Joint.NEVER: 5000.0,
}
_LINE_END = {
    Joint.SENTENCE: 0.0,
    Joint.CLAUSE: 2.0,
    Joint.PHRASE: 5.0,
    Joint.PLAIN: 10.0,
    Joint.TIGHT: 30.0,
    Joint.NEVER: 5000.0,
}
_EACH_CUE = 12.0
_SENTENCE_INSIDE = 4.0
_RUNNING_ON = 60.0  # if it does not end with a sentence either, but stops within the next
_RUNNING_ON_PAUSE = 0.05  # a millisecond
_SENTENCE_IN_LINE = 10.0  # if there are two lines, and none of them ends with it
_UNBALANCED = 12.0  # if one line has all
_TOP_HEAVY = 1.0
_LONELY = 300.0
# Too fast or too short at all, and by how much. A hair costs less than to run on into the next sentence, and more than
# to show whole sentences together.
_BROKEN = 80.0
_BROKEN_BY = 1200.0
_PAUSE_INSIDE = 0.012  # a millisecond
_NO_PAUSE_AFTER = 0.012  # a millisecond that lacks to a good pause
_GOOD_PAUSE_MS = 500
_DIALOGUE = 16.0
_PART_OF_TURN = 25.0


@dataclass(frozen=True, slots=True)
class Track:
    """All pieces of a speech, one list for each of their sides; times in milliseconds."""

    texts: list[str] = field(default_factory=list)
    glued: list[bool] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    speakers: list[str] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)  # with the next piece

    def __len__(self) -> int:
        return len(self.texts)

    def text(self, start: int, end: int) -> str:
        blanks = ("" if at == start or self.glued[at] else " " for at in range(start, end))
        return "".join(blank + text for blank, text in zip(blanks, self.texts[start:end], strict=True))


@dataclass(frozen=True, slots=True)
class Block:
    """The pieces of one cue; the second line starts at `split`, if there is one."""

    start: int
    end: int
    split: int | None = None


def lay_out(track: Track, rules: CueRules, *, until_ms: float) -> list[Block]:
    """The cheapest chain of cues."""
    prices = _Prices(track, rules, until_ms)
    count = len(track)
    best = [0.0] + [math.inf] * count
    chosen: list[Block | None] = [None] * (count + 1)
    for start in range(count):
        for end in range(start + 1, count + 1):
            if not prices.together(start, end):
                break
            price = best[start] + prices.of_cue(start, end)
            if price >= best[end]:
                continue  # lines only add to it
            lines = prices.of_lines(start, end)
            if lines is not None and price + lines[0] < best[end]:
                best[end] = price + lines[0]
                chosen[end] = Block(start, end, lines[1])
    return _chain(chosen)


def _chain(chosen: Sequence[Block | None]) -> list[Block]:
    blocks = []
    block = chosen[-1]
    while block is not None:
        blocks.append(block)
        block = chosen[block.start]
    return blocks[::-1]


class _Prices:
    def __init__(self, track: Track, rules: CueRules, until_ms: float) -> None:
        self.track = track
        self.limit = rules.line_columns
        self.longest = rules.longest_seconds * 1000
        self.shortest = rules.shortest_seconds * 1000
        self.per_column = 1000 / rules.columns_per_second
        count = len(track)
        blanks = [0 if glued else 1 for glued in track.glued]
        before = accumulate((width + blank for width, blank in zip(track.widths, blanks, strict=True)), initial=0)
        self.blanks = list(accumulate(blanks, initial=0))
        self.reach = list(before)  # columns of all pieces before this one
        self.opening = [self.reach[at] + blanks[at] for at in range(count)]  # where this piece itself begins
        self.pauses = [0] + [max(0, track.starts[at] - track.ends[at - 1]) for at in range(1, count)]
        ended = [False] + [joint == Joint.SENTENCE for joint in track.joints]
        self.sentences = list(accumulate(ended))
        self.silence = list(accumulate(self.pauses))
        seams = (_SENTENCE_INSIDE * ended[at] + _PAUSE_INSIDE * self.pauses[at] for at in range(count))
        self.seams = list(accumulate(seams))  # what it costs to have all joints so far inside
        self.parting = [_EACH_CUE + _CUE_END[joint] for joint in track.joints]
        for at in range(1, count):
            self.parting[at - 1] += _NO_PAUSE_AFTER * max(0, _GOOD_PAUSE_MS - self.pauses[at])
        gap = math.ceil(rules.gap_seconds * 1000)
        self.free = [start - gap for start in track.starts[1:]] + [until_ms]  # until when a cue may stay
        self.turns = [0] * count  # where the turn of each piece begins
        for at in range(1, count):
            self.turns[at] = self.turns[at - 1] if track.speakers[at] == track.speakers[at - 1] else at

    def dash(self, start: int) -> int:
        return DASH_COLUMNS if start and self.turns[start] == start else 0

    def width(self, start: int, end: int) -> int:
        return self.reach[end] - self.opening[start]

    def lonely(self, start: int, end: int) -> bool:
        """Whether a line of these pieces is one short word."""
        return self.width(start, end) <= LONELY_COLUMNS and self.blanks[end] == self.blanks[start + 1]

    def together(self, start: int, end: int) -> bool:
        """Whether these pieces, and perhaps more after them, can be one cue."""
        last = end - 1
        if last == start:
            return True
        if self.pauses[last] > MOST_INNER_PAUSE_MS or self.track.ends[last] - self.track.starts[start] > self.longest:
            return False
        turn = self.turns[last]
        if turn <= start:
            return self.width(start, end) <= 2 * self.limit
        one_change = self.turns[turn - 1] <= start
        line = max(self.width(start, turn), self.width(turn, end))
        return one_change and line + DASH_COLUMNS <= self.limit

    def of_cue(self, start: int, end: int) -> float:
        """What it costs to show these pieces together and to part them from the next."""
        last = end - 1
        price = self.parting[last] + self.seams[last] - self.seams[start]
        if self.sentences[last] > self.sentences[start] and self.track.joints[last] != Joint.SENTENCE:
            price += _RUNNING_ON + _RUNNING_ON_PAUSE * (self.silence[last] - self.silence[start])
        width = self.width(start, end) + self.dash(start)
        turn = self.turns[last]
        if turn > start:
            width = self.width(start, turn) + self.width(turn, end) + 2 * DASH_COLUMNS
            whole = self.turns[start] == start and (end == len(self.turns) or self.turns[end] == end)
            price += _DIALOGUE if whole else _DIALOGUE + _PART_OF_TURN
        time = max(1, min(self.longest, self.free[last] - self.track.starts[start]))
        for needed in (self.shortest, width * self.per_column):
            if time < needed:
                price += _BROKEN + _BROKEN_BY * min(1, (needed - time) / needed)
        return price

    def of_lines(self, start: int, end: int) -> tuple[float, int | None] | None:
        """The price of the best line break, and where it is; nothing if two lines do not hold it."""
        turn = self.turns[end - 1]
        if turn > start:
            return 0.0, turn
        dash = self.dash(start)
        if self.width(start, end) + dash <= self.limit:
            return 0.0, None
        sentence = self.sentences[end - 1] > self.sentences[start]
        best: tuple[float, int | None] | None = None
        for split in range(end - 1, start, -1):
            bottom = self.width(split, end)
            if bottom > self.limit:
                break
            top = self.width(start, split) + dash
            if top > self.limit:
                continue
            price = _LINE_END[self.track.joints[split - 1]] + _UNBALANCED * abs(top - bottom) / self.limit
            price += _TOP_HEAVY if top > bottom else 0.0
            price += _SENTENCE_IN_LINE if sentence and self.track.joints[split - 1] != Joint.SENTENCE else 0.0
            if self.lonely(start, split) or self.lonely(split, end):
                price += _LONELY
            if best is None or price < best[0]:
                best = price, split
        return best
