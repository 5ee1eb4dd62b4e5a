"""Subtitle cues from transcript segments, by the rules of the house.

A segment's text is shown; where it is what was heard, word by word, the words' times hold. Otherwise, as with a
translation, the text is spread over the segment's time and its pauses are kept. Deleted segments are left out.

A cue starts with its first word, or up to five frames before if it needs the time, and never later. It stays until its
last word ends, and longer if reading takes longer. Where speech runs on without a pause there is no room for the gap
between two cues: it is then taken from the end of the last word, two frames at most.

A cue is of one speaker, or of two with a line each when their turns are short. A dash opens each line with which the
speaker changes, and both lines of such a dialogue.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cutroom.media.subtitles import MAX_SECONDS, Cue, Line
from cutroom.products.transcripts.cue_rules import CueRules, Rule, shown_columns
from cutroom.products.transcripts.cue_timing import pieces_of
from cutroom.products.transcripts.grammar import Joint, joints
from cutroom.products.transcripts.layout import MOST_INNER_PAUSE_MS, Block, Track, lay_out
from cutroom.products.transcripts.scripts import columns
from cutroom.products.transcripts.sentences import Segment
from cutroom.text.writing_systems import SENTENCE_MARKS, bare

LEAST_FRAMES = 1  # a cue that has no time at all is still shown


@dataclass(frozen=True, slots=True)
class Excuse:
    """A rule that a cue does not keep, and why that could not be helped."""

    cue: int
    rule: Rule
    reason: str


@dataclass(frozen=True, slots=True)
class Subtitles:
    cues: tuple[Cue, ...]
    excuses: tuple[Excuse, ...]


def make_cues(segments: Sequence[Segment], rules: CueRules, *, until_seconds: float = MAX_SECONDS) -> Subtitles:
    """Cues for segments in the order in which they are said; none stays longer than `until_seconds`."""
    track, heard = _track(segments, rules)
    until_ms = math.floor(until_seconds * 1000)
    blocks = lay_out(track, rules, until_ms=until_ms)
    lines = [_lines(track, block) for block in blocks]
    spans = _Spans(rules, until_ms).of(track, blocks, [sum(columns(line.shown) for line in each) for each in lines])
    cues = tuple(Cue(start / 1000, end / 1000, each) for (start, end), each in zip(spans, lines, strict=True))
    excuses = []
    for at, (cue, block) in enumerate(zip(cues, blocks, strict=True)):
        faults = [
            *_faults_in_time(cue, rules),
            *_faults_in_step(cue, track, block, heard),
            *_faults_in_form(track, block),
        ]
        excuses += [Excuse(at, rule, reason) for rule, reason in faults]
    return Subtitles(cues, tuple(excuses))


def _track(segments: Sequence[Segment], rules: CueRules) -> tuple[Track, list[int]]:
    """All pieces that are shown, and when each was really heard: on the track they never go back in time."""
    track = Track()
    heard = []
    for segment in segments:
        pieces = (
            [] if segment.deleted else pieces_of(segment, language=rules.language, most_columns=rules.piece_columns)
        )
        if not pieces:
            continue
        for piece in pieces:
            start, end = _whole_ms(piece.start_seconds, piece.end_seconds)
            heard.append(start)
            start = max(start, track.starts[-1]) if track.starts else start
            track.texts.append(piece.text)
            track.glued.append(piece.glued)
            track.widths.append(columns(piece.text))
            track.starts.append(start)
            track.ends.append(max(start, end))
            track.speakers.append(segment.speaker)
        texts, glued = [piece.text for piece in pieces], [piece.glued for piece in pieces]
        ended = bare(texts[-1])[-1:] in SENTENCE_MARKS
        track.joints.extend(joints(texts, glued=glued, language=rules.language))
        track.joints.append(Joint.SENTENCE if ended else Joint.CLAUSE)
    return track, heard


def _whole_ms(start_seconds: float, end_seconds: float) -> tuple[int, int]:
    """Outwards, so that a word is inside; but what floats add to whole milliseconds does not count."""
    if not (math.isfinite(start_seconds) and math.isfinite(end_seconds)):
        raise ValueError("A word has no time.")
    return max(0, math.floor(round(start_seconds * 1000, 3))), max(0, math.ceil(round(end_seconds * 1000, 3)))


def _lines(track: Track, block: Block) -> tuple[Line, ...]:
    start, end = block.start, block.end
    first, last = track.speakers[start], track.speakers[end - 1]
    turn = start > 0 and track.speakers[start - 1] != first
    if block.split is None:
        return (Line(track.text(start, end), first, dash=turn),)
    dialogue = first != last
    top = Line(track.text(start, block.split), first, dash=turn or dialogue)
    return top, Line(track.text(block.split, end), last, dash=dialogue)


class _Spans:
    """When each cue is shown, in milliseconds."""

    def __init__(self, rules: CueRules, until_ms: int) -> None:
        self.rules = rules
        self.until = until_ms
        self.gap = round(rules.gap_seconds * 1000)
        self.lead = round(rules.seconds(rules.lead_frames) * 1000)
        self.least = round(rules.seconds(LEAST_FRAMES) * 1000)
        self.shortest = math.ceil(rules.shortest_seconds * 1000)
        self.longest = math.floor(rules.longest_seconds * 1000)

    def of(self, track: Track, blocks: Sequence[Block], widths: Sequence[int]) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        for at, (block, width) in enumerate(zip(blocks, widths, strict=True)):
            free_from = spans[-1][1] + self.gap if spans else 0
            free_until = track.starts[blocks[at + 1].start] - self.gap if at + 1 < len(blocks) else self.until
            said = track.starts[block.start], max(track.ends[block.start : block.end])
            spans.append(self._one(said, width, free_from=free_from, free_until=free_until))
        return self._chained(spans)

    def _one(self, said: tuple[int, int], width: int, *, free_from: int, free_until: int) -> tuple[int, int]:
        """The time after the words is used first, then the time before them."""
        first, last = said
        needed = max(self.shortest, math.ceil(width * 1000 / self.rules.columns_per_second))
        needed = min(needed, self.longest)
        start = max(first, free_from)
        end = max(min(max(last, start + needed), free_until), start + self.least)
        if end - start < needed:
            start = min(start, max(free_from, first - self.lead, end - needed))
        return start, end

    def _chained(self, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """A gap too short to be seen as one is closed to the smallest."""
        chain = round(self.rules.seconds(self.rules.chain_frames) * 1000)
        chained = []
        for at, (start, end) in enumerate(spans):
            until = spans[at + 1][0] - self.gap if at + 1 < len(spans) else end
            close = end < until < end + chain - self.gap and until - start <= self.longest
            chained.append((start, until if close else end))
        return chained


def _faults_in_time(cue: Cue, rules: CueRules) -> Iterator[tuple[Rule, str]]:
    duration = round(cue.end_seconds - cue.start_seconds, 3)
    if duration < rules.shortest_seconds:
        yield Rule.SHORTEST, "the next words, or the end of the file, come too soon"
    if duration > rules.longest_seconds:
        yield Rule.LONGEST, f"one word lasts longer than {rules.longest_seconds:g} s"
    if shown_columns(cue) > rules.columns_per_second * duration:
        yield Rule.READING_SPEED, f"speech is faster than {rules.columns_per_second:g} {rules.column_name} a second"


def _faults_in_step(cue: Cue, track: Track, block: Block, heard: Sequence[int]) -> Iterator[tuple[Rule, str]]:
    if round(cue.start_seconds * 1000) > heard[block.start]:
        yield Rule.START, "too many words come at the same time"
    if block.end == len(track) and round(cue.end_seconds * 1000) < track.ends[-1]:
        yield Rule.END, "the file ends before the last word"


def _faults_in_form(track: Track, block: Block) -> Iterator[tuple[Rule, str]]:
    if block.split is not None and track.joints[block.split - 1] == Joint.NEVER:
        yield Rule.BELONGING, "words that belong together do not fit on one line"
    if track.joints[block.end - 1] == Joint.NEVER:
        pause = track.starts[block.end] - track.ends[block.end - 1]
        if pause > MOST_INNER_PAUSE_MS:
            yield Rule.BELONGING, "the speaker pauses between words that belong together"
        else:
            yield Rule.BELONGING, "words that belong together do not fit into one cue"
