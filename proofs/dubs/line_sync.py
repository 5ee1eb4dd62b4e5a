"""Timing of dub lines: they start with the source lines, have similar durations, and never overlap."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from proofs.stage.report import Report
from tests.support.dub_stage import FinishedDub

MIN_WITHIN = 0.85
MIN_TEMPO, MAX_TEMPO = 0.85, 1.25
MAX_START_MS = 150


async def prove_sync(report: Report, made: Mapping[str, FinishedDub]) -> None:
    """Compare the API's segments of source and dub; the tempo comes from the job's result."""
    shares, overlaps, errors, tempos = [], [], [], []
    for language, finished in made.items():
        pairs = _match_lines(finished)
        within = sum(_is_close(source, line) for source, line in pairs) / len(pairs)
        overlap = sum(
            max(0.0, one["end"] - two["start"])
            for one, two in pairwise(sorted(finished.segments, key=lambda each: each["start"]))
        )
        error = max(abs(line["start"] - source["start"]) for source, line in pairs) * 1000
        line_tempos = [each["stretch"] for each in finished.sync["segments"]]
        shares.append(within)
        overlaps.append(overlap * 1000)
        errors.append(error)
        tempos += line_tempos
        lines = f"{language}, {len(pairs)} lines"
        report.claim(
            f"lines within 10 % of the source duration: {lines}",
            expected=">= 85 %",
            measured=f"{within:.0%}",
            holds=within >= MIN_WITHIN,
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
        lines=sum(len(each.segments) for each in made.values()),
    )


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
