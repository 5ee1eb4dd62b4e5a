"""Says how much time a line has and how fast its voice speaks, so that clients can show whether a text fits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from cutroom.capabilities.rules import stock_voice_id
from cutroom.products.dubs.editing.lines import PublishedDub
from cutroom.products.dubs.editing.staleness import LineState
from cutroom.products.dubs.line_sync import characters_per_second, line_slots
from cutroom.products.dubs.script import AssignedVoice, PlacedLine

MIN_CHARACTERS = 20  # of a voice, to measure how fast it speaks


@dataclass(frozen=True, slots=True)
class TextFit:
    """The time from the start of a line to the latest end that scheduling allows, and the pace of its voice."""

    available_seconds: float
    seconds_per_character: float  # without a change of tempo

    def seconds(self, text: str) -> float:
        """About how long the voice speaks a text."""
        return round(len(text) * self.seconds_per_character, 3)

    def excess_seconds(self, seconds: float) -> float:
        """By how much speech is too long; 0 if it fits."""
        return round(max(0.0, seconds - self.available_seconds), 3)


def text_fits(
    states: Sequence[LineState], dub: PublishedDub, *, language: str, until_seconds: float
) -> dict[str, TextFit]:
    """By line; none for lines that were removed."""
    paces = voice_paces(dub)
    usual = median(paces.values()) if paces else 1 / characters_per_second(language)
    fits: dict[str, TextFit] = {}
    following: float | None = None  # the start of the next line that is heard
    for state in sorted(states, key=_start, reverse=True):
        if state.desired is None:
            continue
        start = _start(state)
        cut = state.source.cut_seconds  # of the time until the next line
        span = (start, max(start, state.source.end_seconds - cut + (state.edits.start_offset or 0.0)))
        after = [(following - cut, following - cut)] if following is not None else []
        slot = line_slots([span, *after], until_seconds=until_seconds - cut)[0]
        pace = paces.get(voice_of(state, dub), usual) / (state.edits.speed or 1.0)
        fits[state.id] = TextFit(round(slot.max_seconds, 3), round(pace, 4))
        if not state.edits.mute:
            following = start
    return fits


def voice_paces(dub: PublishedDub) -> dict[str, float]:
    """Seconds per character of each voice at its natural speed, measured from what it says in the published audio."""
    spoken: dict[str, list[PlacedLine]] = {}
    for line in dub.lines:
        if line.placed is not None and line.voice is not None and line.placed.text:
            spoken.setdefault(voice_name(line.voice), []).append(line.placed)
    return {voice: found for voice, lines in spoken.items() if (found := _pace(lines)) is not None}


def _pace(lines: Iterable[PlacedLine]) -> float | None:
    characters, seconds = 0, 0.0
    for each in lines:
        characters += len(each.text)
        seconds += each.seconds * each.tempo * each.speaking_rate
    return seconds / characters if characters >= MIN_CHARACTERS and seconds > 0 else None


def voice_of(state: LineState, dub: PublishedDub) -> str:
    """Names the voice that speaks a line; empty if none was assigned yet."""
    if state.edits.voice is not None:
        return state.edits.voice
    voice = dub.voice_of(state.source.speaker)
    return voice_name(voice) if voice is not None else ""


def voice_name(voice: AssignedVoice) -> str:
    return stock_voice_id(voice.engine, voice.voice) if voice.voice is not None else voice.identity


def _start(state: LineState) -> float:
    """Where a line begins: a current one where it is heard, any other one where it should be."""
    placed = state.published.placed if state.published is not None else None
    if placed is not None and not state.is_stale:
        return placed.start_seconds
    return state.source.start_seconds + (state.edits.start_offset or 0.0)
