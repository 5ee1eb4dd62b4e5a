"""Places changed lines among those that are kept."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.editing.redub_lines import LineWork, RedubLine
from cutroom.products.dubs.line_levels import LineLevel, lift_quiet_lines
from cutroom.products.dubs.line_sync import Slot, line_starts
from cutroom.products.dubs.mixdown import MAX_PARALLEL_READS
from cutroom.products.dubs.mixing import matching_gain, speech_level
from cutroom.products.dubs.script import AssignedVoice, DubLine, DubScript, LineSchedule, PlacedLine
from cutroom.products.dubs.source_separation import measured_level
from cutroom.products.dubs.synthesis import read_line
from cutroom.products.speech.encoding import from_pcm

GAIN_DECIMALS = 4  # of automatic gains


async def place_lines(
    artifacts: DubArtifacts,
    *,
    dub: DubRef,
    script: DubScript,
    lines: Sequence[RedubLine],
    voices: Mapping[str, AssignedVoice],
) -> LineSchedule:
    """The schedule of the new version: kept lines with their start and gain, and the others fitted between them."""
    heard = [at for at, each in enumerate(lines) if each.is_spoken]
    found: dict[int, PlacedLine] = {}
    spoken = [at for at in heard if lines[at].work is LineWork.SPOKEN]
    for first in range(0, len(spoken), MAX_PARALLEL_READS):
        numbers = spoken[first : first + MAX_PARALLEL_READS]
        measured = [_measure(artifacts, dub, script, script.lines[at], voices) for at in numbers]
        found.update(zip(numbers, await asyncio.gather(*measured), strict=True))
    for at in heard:
        published = lines[at].published
        if at not in found and published is not None and published.placed is not None:
            found[at] = _known(at, lines[at], published.placed)
    return arrange(script.lines, lines, found)


def arrange(script: Sequence[DubLine], lines: Sequence[RedubLine], found: Mapping[int, PlacedLine]) -> LineSchedule:
    """The schedule of lines whose duration and automatic gain are known, by their number."""
    heard = sorted(found)
    speakers = [script[at].speaker for at in heard]
    levels = [LineLevel(speaker, found[at].level, found[at].gain) for at, speaker in zip(heard, speakers, strict=True)]
    lifted = dict(zip(heard, lift_quiet_lines(levels), strict=True))
    fixed = {number for number, at in enumerate(heard) if lines[at].work is LineWork.KEPT}
    slots = [
        (_fixed_slot(found[at]) if number in fixed else script[at].slot, found[at].seconds)
        for number, at in enumerate(heard)
    ]
    starts = line_starts(slots, fixed=fixed)
    placed = []
    for at, start in zip(heard, starts, strict=True):
        line = found[at]
        if lines[at].work is LineWork.KEPT:
            published = lines[at].published
            assert published is not None
            assert published.placed is not None
            placed.append(replace(published.placed, number=at))
            continue
        automatic = lifted[at] if lines[at].work is LineWork.SPOKEN else line.gain
        gain = automatic * _ratio(lines[at].edits.gain_db)
        placed.append(replace(line, start_seconds=start, gain=gain))
    original = tuple(span for each in lines if (span := each.original_span) is not None)
    return LineSchedule(tuple(placed), original)


async def _measure(
    artifacts: DubArtifacts, dub: DubRef, script: DubScript, line: DubLine, voices: Mapping[str, AssignedVoice]
) -> PlacedLine:
    """A line that was just spoken, with the gain that makes it as loud as its source line."""
    synthesized = await read_line(artifacts, dub=dub, line=line, voice=voices[line.voice_key])
    level = speech_level(from_pcm(await artifacts.read(dub.line_path(synthesized.key))))
    source = await measured_level(artifacts, dub=dub, script=script, line=line)
    return PlacedLine(
        number=line.number,
        key=synthesized.key,
        start_seconds=line.start_seconds,
        seconds=synthesized.seconds,
        tempo=synthesized.tempo,
        text=line.texts[synthesized.text_index],
        shortened=synthesized.text_index > 0,
        gain=matching_gain(source, level),
        level=round(level, 6),
        speaking_rate=synthesized.speaking_rate,
    )


def _known(number: int, line: RedubLine, placed: PlacedLine) -> PlacedLine:
    """A line whose speech is that of the published audio, with its automatic gain."""
    gain_db = line.published.inputs.get("gain") if line.published is not None else None
    return replace(placed, number=number, gain=round(placed.gain / _ratio(gain_db), GAIN_DECIMALS))


def _fixed_slot(placed: PlacedLine) -> Slot:
    end = placed.start_seconds + placed.seconds
    return Slot(placed.start_seconds, end, end)


def _ratio(gain_db: float | None) -> float:
    return 10 ** ((gain_db or 0.0) / 20)
