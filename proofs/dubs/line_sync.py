"""Lines of a dub start with those of the source, last as long, and never run into each other."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from proofs.stage.report import Report
from tests.support.dub_stage import Dubbed

MIN_WITHIN = 0.85
MIN_STRETCH, MAX_STRETCH = 0.85, 1.25
MAX_START_MS = 150


async def prove_times(report: Report, made: Mapping[str, Dubbed]) -> None:
    """By the segments that the API gives for source and dub; only the stretch is as the job tells it."""
    shares, overlaps, errors, stretches = [], [], [], []
    for language, dubbed in made.items():
        pairs = _pairs(dubbed)
        within = sum(_is_close(source, line) for source, line in pairs) / len(pairs)
        overlap = sum(
            max(0.0, one["end"] - two["start"])
            for one, two in pairwise(sorted(dubbed.segments, key=lambda each: each["start"]))
        )
        error = max(abs(line["start"] - source["start"]) for source, line in pairs) * 1000
        stretched = [each["stretch"] for each in dubbed.sync["segments"]]
        shares.append(within)
        overlaps.append(overlap * 1000)
        errors.append(error)
        stretches += stretched
        lines = f"{language}, {len(pairs)} lines"
        report.claim(
            f"within 10 % of their slot: {lines}",
            wanted=">= 85 %",
            measured=f"{within:.0%}",
            holds=within >= MIN_WITHIN,
        )
        report.claim("... overlap, ms", wanted="0", measured=round(overlap * 1000), holds=overlap < 0.001)
        report.claim("... start off by, ms", wanted="<= 150", measured=round(error), holds=error <= MAX_START_MS)
        holds = all(MIN_STRETCH - 0.001 <= each <= MAX_STRETCH + 0.001 for each in stretched)
        told = f"{min(stretched):.2f} to {max(stretched):.2f}"
        report.claim("... stretched", wanted="0.85 to 1.25", measured=told, holds=holds)
    report.figures(
        within_10pct=round(min(shares), 4),
        overlap_ms=round(max(overlaps)),
        start_error_ms=round(max(errors)),
        max_stretch=max(stretches),
        min_stretch=min(stretches),
        lines=sum(len(each.segments) for each in made.values()),
    )


def _pairs(dubbed: Dubbed) -> Sequence[tuple[dict[str, Any], dict[str, Any]]]:
    """Each line of the dub with the stretch of the source that it stands for: up to the next line's start."""
    source = sorted(dubbed.source, key=lambda each: (each["start"], each["end"]))
    pairs = []
    for at, line in enumerate(dubbed.segments):
        first = min(source, key=lambda each: abs(each["start"] - line["start"]))
        following = dubbed.segments[at + 1]["start"] - 0.2 if at + 1 < len(dubbed.segments) else float("inf")
        own = [each for each in source if first["start"] <= each["start"] < following]
        if {each["speaker"] for each in own} != {line["speaker"]}:
            raise RuntimeError(f"line {at} speaks for another: {own}")
        pairs.append(({"start": first["start"], "end": max(each["end"] for each in own)}, line))
    covered = sum(len([each for each in source if pair["start"] <= each["start"] < pair["end"]]) for pair, _ in pairs)
    if covered != len(source):
        raise RuntimeError(f"{covered} of {len(source)} sentences have a line")
    return pairs


def _is_close(source: Mapping[str, Any], line: Mapping[str, Any]) -> bool:
    slot = source["end"] - source["start"]
    return bool(abs((line["end"] - line["start"]) - slot) <= 0.1 * slot + 0.001)
