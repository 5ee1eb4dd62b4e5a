"""Builds subtitle cues from transcript segments.

If a segment's text matches the recognized words, word times are used. Otherwise, as for translations, the text is
interpolated over the segment and its pauses are kept. Deleted segments are skipped.

A cue starts with its first word, or up to five frames earlier if it needs the time, and never later. It ends with its
last word, or later if reading takes longer. In continuous speech there is no time for the gap between two cues, so it
is taken from the end of the last word, two frames at most.

A cue contains one speaker. A dash marks a cue with which the speaker changes.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cutroom.media.subtitles import MAX_SECONDS, SubtitleCue, SubtitleLine
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.subtitling.cue_layout import MAX_INNER_PAUSE_MS, CueBlock, CueTrack, layout_cues
from cutroom.products.transcripts.subtitling.cue_rules import CueRule, CueRules, shown_columns
from cutroom.products.transcripts.subtitling.cue_timing import timed_texts
from cutroom.products.transcripts.subtitling.line_breaking import BreakPoint, break_points
from cutroom.products.transcripts.text_units import display_width
from cutroom.text.writing_systems import SENTENCE_MARKS, strip_closing_marks

MIN_FRAMES = 1  # even a cue without any time is shown


@dataclass(frozen=True, slots=True)
class RuleException:
    """A rule that a cue violates unavoidably, and the reason."""

    cue: int
    rule: CueRule
    reason: str


@dataclass(frozen=True, slots=True)
class CueSheet:
    """Cues, and the rule violations that could not be avoided."""

    cues: tuple[SubtitleCue, ...]
    exceptions: tuple[RuleException, ...]


def make_cues(
    segments: Sequence[TranscriptSegment], rules: CueRules, *, until_seconds: float = MAX_SECONDS
) -> CueSheet:
    """Build cues for segments in order; no cue ends after `until_seconds`."""
    track, spoken_starts = _track(segments, rules)
    until_ms = math.floor(until_seconds * 1000)
    blocks = layout_cues(track, rules, until_ms=until_ms)
    lines = [_lines(track, block) for block in blocks]
    spans = _CueTiming(rules, until_ms).spans(
        track, blocks, [sum(display_width(line.rendered) for line in each) for each in lines]
    )
    cues = tuple(SubtitleCue(start / 1000, end / 1000, each) for (start, end), each in zip(spans, lines, strict=True))
    exceptions = []
    for at, (cue, block) in enumerate(zip(cues, blocks, strict=True)):
        violated = [
            *_duration_violations(cue, rules),
            *_sync_violations(cue, track, block, spoken_starts),
            *_break_violations(track, block),
        ]
        exceptions += [RuleException(at, rule, reason) for rule, reason in violated]
    return CueSheet(cues, tuple(exceptions))


def _track(segments: Sequence[TranscriptSegment], rules: CueRules) -> tuple[CueTrack, list[int]]:
    """The track of all shown units, with monotonic times, and the original start time of each unit."""
    track = CueTrack()
    spoken_starts = []
    for segment in segments:
        units = [] if segment.deleted else timed_texts(segment, language=rules.language, max_columns=rules.unit_columns)
        if not units:
            continue
        for unit in units:
            start, end = _to_ms(unit.start_seconds, unit.end_seconds)
            spoken_starts.append(start)
            start = max(start, track.starts[-1]) if track.starts else start
            track.texts.append(unit.text)
            track.glued.append(unit.glued)
            track.widths.append(display_width(unit.text))
            track.starts.append(start)
            track.ends.append(max(start, end))
            track.speakers.append(segment.speaker)
        texts, glued = [unit.text for unit in units], [unit.glued for unit in units]
        ended = strip_closing_marks(texts[-1])[-1:] in SENTENCE_MARKS
        track.breaks.extend(break_points(texts, glued=glued, language=rules.language))
        track.breaks.append(BreakPoint.SENTENCE if ended else BreakPoint.CLAUSE)
    return track, spoken_starts


def _to_ms(start_seconds: float, end_seconds: float) -> tuple[int, int]:
    """Round outwards to whole milliseconds, ignoring floating-point noise."""
    if not (math.isfinite(start_seconds) and math.isfinite(end_seconds)):
        raise ValueError("A word has no finite time.")
    return max(0, math.floor(round(start_seconds * 1000, 3))), max(0, math.ceil(round(end_seconds * 1000, 3)))


def _lines(track: CueTrack, block: CueBlock) -> tuple[SubtitleLine, ...]:
    start, end = block.start, block.end
    speaker = track.speakers[start]
    turn = start > 0 and track.speakers[start - 1] != speaker
    top = SubtitleLine(track.text(start, block.split or end), speaker, dash=turn)
    return (top,) if block.split is None else (top, SubtitleLine(track.text(block.split, end), speaker))


class _CueTiming:
    """Computes when each cue is shown, in milliseconds."""

    def __init__(self, rules: CueRules, until_ms: int) -> None:
        self.rules = rules
        self.until = until_ms
        self.gap = round(rules.gap_seconds * 1000)
        self.lead = round(rules.seconds(rules.lead_frames) * 1000)
        self.min_visible = round(rules.seconds(MIN_FRAMES) * 1000)
        self.min_duration = math.ceil(rules.min_seconds * 1000)
        self.max_duration = math.floor(rules.max_seconds * 1000)

    def spans(self, track: CueTrack, blocks: Sequence[CueBlock], widths: Sequence[int]) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        for at, (block, width) in enumerate(zip(blocks, widths, strict=True)):
            free_from = spans[-1][1] + self.gap if spans else 0
            free_until = track.starts[blocks[at + 1].start] - self.gap if at + 1 < len(blocks) else self.until
            speech = track.starts[block.start], max(track.ends[block.start : block.end])
            spans.append(self._cue_span(speech, width, free_from=free_from, free_until=free_until))
        return self._close_short_gaps(spans)

    def _cue_span(self, speech: tuple[int, int], width: int, *, free_from: int, free_until: int) -> tuple[int, int]:
        """Extend the cue after its words first, then before them."""
        first, last = speech
        needed = max(self.min_duration, math.ceil(width * 1000 / self.rules.columns_per_second))
        needed = min(needed, self.max_duration)
        start = max(first, free_from)
        end = max(min(max(last, start + needed), free_until), start + self.min_visible)
        if end - start < needed:
            start = min(start, max(free_from, first - self.lead, end - needed))
        return start, end

    def _close_short_gaps(self, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Reduce gaps below chain_frames to the minimum gap."""
        chain = round(self.rules.seconds(self.rules.chain_frames) * 1000)
        chained = []
        for at, (start, end) in enumerate(spans):
            until = spans[at + 1][0] - self.gap if at + 1 < len(spans) else end
            close = end < until < end + chain - self.gap and until - start <= self.max_duration
            chained.append((start, until if close else end))
        return chained


def _duration_violations(cue: SubtitleCue, rules: CueRules) -> Iterator[tuple[CueRule, str]]:
    duration = round(cue.end_seconds - cue.start_seconds, 3)
    if duration < rules.min_seconds:
        yield CueRule.MIN_DURATION, "the next words or the end of the file follow too soon"
    if duration > rules.max_seconds:
        yield CueRule.MAX_DURATION, f"one word lasts longer than {rules.max_seconds:g} s"
    if shown_columns(cue) > rules.columns_per_second * duration:
        yield (
            CueRule.READING_SPEED,
            f"speech is faster than {rules.columns_per_second:g} {rules.column_name} per second",
        )


def _sync_violations(
    cue: SubtitleCue, track: CueTrack, block: CueBlock, spoken_starts: Sequence[int]
) -> Iterator[tuple[CueRule, str]]:
    if round(cue.start_seconds * 1000) > spoken_starts[block.start]:
        yield CueRule.START, "too many words at the same time"
    if block.end == len(track) and round(cue.end_seconds * 1000) < track.ends[-1]:
        yield CueRule.END, "the file ends before the last word"


def _break_violations(track: CueTrack, block: CueBlock) -> Iterator[tuple[CueRule, str]]:
    if block.split is not None and track.breaks[block.split - 1] == BreakPoint.NEVER:
        yield CueRule.UNBREAKABLE, "an unbreakable unit does not fit on one line"
    if track.breaks[block.end - 1] == BreakPoint.NEVER:
        pause = track.starts[block.end] - track.ends[block.end - 1]
        if pause > MAX_INNER_PAUSE_MS:
            yield CueRule.UNBREAKABLE, "the speaker pauses inside an unbreakable unit"
        else:
            yield CueRule.UNBREAKABLE, "an unbreakable unit does not fit into one cue"
