"""Timing of dub lines: they start with the source lines, have similar durations, and never overlap."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from proofs.stage.report import Report
from tests.support.dub_stage import FinishedDub

MIN_WITHIN, MIN_WITHIN_SHORT = 0.9, 0.85  # the short form has few lines
MIN_TEMPO, MAX_TEMPO = 0.85, 1.25
MIN_NATURAL, MAX_NATURAL = 0.9, 1.2
MAX_START_MS = 150


async def prove_sync(report: Report, dubs: Sequence[FinishedDub], *, short: bool) -> None:
    """Compare the API's segments of source and dub; the tempo comes from the job's result."""
    minimum = MIN_WITHIN_SHORT if short else MIN_WITHIN
    shares, overlaps, errors, tempos = [], [], [], []
    for language in dict.fromkeys(each.language for each in dubs):
        made = [each for each in dubs if each.language == language]
        pairs = [pair for each in made for pair in _match_lines(each)]
        within = sum(_is_close(source, line) for source, line in pairs) / len(pairs)
        overlap = sum(map(_overlap_seconds, made))
        error = max(abs(line["start"] - source["start"]) for source, line in pairs) * 1000
        line_tempos = [line["stretch"] for each in made for line in each.sync["segments"]]
        shares.append(within)
        overlaps.append(overlap * 1000)
        errors.append(error)
        tempos += line_tempos
        lines = f"{language}, {len(pairs)} lines"
        report.claim(
            f"lines within 10 % of the source duration: {lines}",
            expected=f">= {minimum:.0%}",
            measured=f"{within:.0%}",
            holds=within >= minimum,
        )
        report.claim("... overlap, ms", expected="0", measured=round(overlap * 1000), holds=overlap < 0.001)
        report.claim(
            "... maximum start error, ms", expected="<= 150", measured=round(error), holds=error <= MAX_START_MS
        )
        holds = all(MIN_TEMPO - 0.001 <= each <= MAX_TEMPO + 0.001 for each in line_tempos)
        measured = f"{min(line_tempos):.2f} to {max(line_tempos):.2f}"
        report.claim("... tempo", expected="0.85 to 1.25", measured=measured, holds=holds)
    report.figures(
        within_10pct=round(min(shares), 4),
        overlap_ms=round(max(overlaps)),
        start_error_ms=round(max(errors)),
        max_stretch=max(tempos),
        min_stretch=min(tempos),
        lines=sum(len(each.segments) for each in dubs),
    )


def natural_fits(finished: FinishedDub) -> list[bool]:
    """For each line, whether its speech before the tempo changed was 10 % shorter to 20 % longer than the source."""
    tempos = {line["line"]: line["stretch"] * line["speakingRate"] for line in finished.sync["segments"]}
    ratios = [
        tempos[at] * (line["end"] - line["start"]) / (source["end"] - source["start"])
        for at, (source, line) in enumerate(_match_lines(finished))
    ]
    return [MIN_NATURAL - 0.001 <= ratio <= MAX_NATURAL + 0.001 for ratio in ratios]


def _overlap_seconds(finished: FinishedDub) -> float:
    ordered = sorted(finished.segments, key=lambda each: each["start"])
    return float(sum(max(0.0, one["end"] - two["start"]) for one, two in pairwise(ordered)))


def _match_lines(finished: FinishedDub) -> Sequence[tuple[dict[str, Any], dict[str, Any]]]:
    """Each dub line with its range of the source, up to the start of the next line."""
    source = sorted(finished.source, key=lambda each: (each["start"], each["end"]))
    pairs = []
    for at, line in enumerate(finished.segments):
        first = min(source, key=lambda each: abs(each["start"] - line["start"]))
        following = finished.segments[at + 1]["start"] - 0.2 if at + 1 < len(finished.segments) else float("inf")
        own = [each for each in source if first["start"] <= each["start"] < following]
        if {each["speaker"] for each in own} != {line["speaker"]}:
            raise RuntimeError(f"line {at} mixes speakers: {own}")
        pairs.append(({"start": first["start"], "end": max(each["end"] for each in own)}, line))
    covered = sum(len([each for each in source if pair["start"] <= each["start"] < pair["end"]]) for pair, _ in pairs)
    if covered != len(source):
        raise RuntimeError(f"only {covered} of {len(source)} sentences have a line")
    return pairs


def _is_close(source: Mapping[str, Any], line: Mapping[str, Any]) -> bool:
    slot = source["end"] - source["start"]
    return bool(abs((line["end"] - line["start"]) - slot) <= 0.1 * slot + 0.001)
