"""How fleets are told: tables, and each number with the sum that it comes from."""

from collections.abc import Iterator, Mapping
from typing import Any

from dev.docs import fleet as f
from dev.docs.fleet import Fleet, Video, of_video, plan

PARTS = ("api", "postgres", "temporal", "seaweedfs", "redis")


def measured(figures: Mapping[str, Any]) -> list[str]:
    film, machine = figures["film"], figures["machine"]
    lines = [
        f"A film of {film['minutes']:.2f} minutes in 720p in which people speak; {machine['cores']} cores of "
        f"{machine['processor']}; {machine['measured_on']}. `speech` is for a minute of what is read.",
        "",
        "| product | worker, CPU s a minute | house, CPU s a minute | peak, MiB | stored, MB a minute | transitions |",
        "|---|---|---|---|---|---|",
    ]
    for name, told in figures["products"].items():
        worker = told["cpu_seconds_a_minute"]["worker"]
        others = sum(f.house(figures, name, part) for part in PARTS)
        stored = max(0, told["stored_bytes_a_minute"]) / 1e6
        lines.append(
            f"| {name} | {worker:.1f} | {others:.2f} | {told['peak_mib']:.0f} | {stored:.2f} | {told['transitions']} |"
        )
    if "note" in figures:
        lines += ["", figures["note"]]
    asked = figures["requests"]["cpu_seconds"]
    for name in ("read", "write"):
        parts = ", ".join(f"{part} {1000 * asked[name][part]:.1f} ms" for part in ("api", "postgres", "redis"))
        lines += ["", f"One request that {name}s: {parts} of processor."]
    return lines


def assumptions() -> list[str]:
    shard, cell = f"{f.TRANSITIONS_A_SHARD:g}", f"{f.TRANSITIONS_A_CELL:,.0f}"
    rows = (
        ("length of a video", f"{f.VIDEO_MINUTES} minutes", "VIDEO_MINUTES"),
        ("a camera's file", f"{f.SOURCE_MEGABITS:g} Mbit/s", "SOURCE_MEGABITS"),
        ("the busiest hour beside the average", f"{f.PEAK:g} times", "PEAK"),
        ("how full cores are planned to be", f"{f.BUSY:.0%}", "BUSY"),
        ("cores of a worker", f"{f.WORKER_CORES}", "WORKER_CORES"),
        ("cores of an API pod", f"{f.API_CORES}", "API_CORES"),
        ("reads of callers a video", f"{f.READS_A_VIDEO}", "READS_A_VIDEO"),
        ("writes of callers a video", f"{f.WRITES_A_VIDEO}", "WRITES_A_VIDEO"),
        ("how long rows and objects are kept", f"{f.KEPT_DAYS} days", "KEPT_DAYS"),
        ("a partition of PostgreSQL", f"{f.PARTITION_GB} GB", "PARTITION_GB"),
        ("cores of a PostgreSQL primary", f"{f.POSTGRES_CORES}", "POSTGRES_CORES"),
        ("state transitions a second of a Temporal shard", shard, "TRANSITIONS_A_SHARD"),
        ("state transitions a second of a Temporal cluster", cell, "TRANSITIONS_A_CELL"),
    )
    head = ["| assumed | value | constant in `dev/docs/fleet.py` |", "|---|---|---|"]
    return [*head, *(f"| {what} | {value} | `{name}` |" for what, value, name in rows)]


def video(figures: Mapping[str, Any]) -> list[str]:
    lines = ["| product | of each video | queue | arithmetic | CPU s |", "|---|---|---|---|---|"]
    for name, (count, kind) in f.MIX.items():
        if name not in figures["products"]:
            continue
        each = figures["products"][name]["cpu_seconds_a_minute"]["worker"]
        total = count * f.VIDEO_MINUTES * each
        how = f"{count:g} x {f.VIDEO_MINUTES} min x {each:.1f} s"
        lines.append(f"| {name} | {count:g} | `{kind}` | {how} | {total:.0f} |")
    one = of_video(figures)
    missing = [f"`{name}`" for name in f.MIX if name not in figures["products"]]
    lines += [
        f"| **all** | | | | **{sum(one.worker_seconds.values()):.0f}** |",
        "",
        f"So one video asks {_by_kind(one)}; {one.api_seconds:.2f} s of the API; "
        f"{one.postgres_seconds:.2f} s of PostgreSQL; "
        f"{one.transitions:.0f} state transitions of Temporal; {one.row_bytes / 1000:.0f} kB of rows; "
        f"{one.stored_bytes / 1e6:.0f} MB in the object store.",
    ]
    if missing:
        lines += ["", f"Not measured yet, and so not counted: {', '.join(missing)}."]
    return lines


def _by_kind(one: Video) -> str:
    return ", ".join(f"{seconds:.0f} s of `{kind}` workers" for kind, seconds in one.worker_seconds.items())


def arithmetic(figures: Mapping[str, Any], videos: int) -> list[str]:
    """The sums of one fleet, written out; the others differ in the number of videos alone."""
    one, made = of_video(figures), plan(figures, videos)
    per_core = f"({f.DAY_SECONDS:,} s x {f.BUSY:g})"
    lines = [f"For {videos:,} videos a day:", ""]
    for kind, seconds in one.worker_seconds.items():
        cores = videos * seconds * f.PEAK / (f.DAY_SECONDS * f.BUSY)
        lines.append(
            f"- `{kind}`: {videos:,} x {seconds:.0f} s x {f.PEAK:g} / {per_core} = {cores:,.1f} cores; "
            f"/ {f.WORKER_CORES} = {made.workers[kind]:,} workers, each with {_memory(figures, kind)} of memory"
        )
    kept, day = f.KEPT_DAYS, f.DAY_SECONDS
    stored = made.stored_tb_a_day
    lines += [
        f"- API: {videos:,} x {one.api_seconds:.2f} s x {f.PEAK:g} / {per_core} = {made.api_pods:,} pods",
        f"- PostgreSQL: {videos:,} x {one.postgres_seconds:.2f} s x {f.PEAK:g} / {per_core} = "
        f"{made.postgres_cores:,.1f} cores",
        f"- Rows: {videos:,} x {one.row_bytes / 1000:.0f} kB = {made.row_gb_a_day:,.1f} GB a day; x {kept} days / "
        f"{f.PARTITION_GB} GB, up to a power of two = {made.partitions:,} partitions",
        f"- Temporal: {videos:,} x {one.transitions:.0f} x {f.PEAK:g} / {day:,} s = "
        f"{made.transitions_a_second:,.0f} transitions a second; / {f.TRANSITIONS_A_SHARD:g}, up to a power of two "
        f"and at least {f.LEAST_SHARDS} = {made.shards:,} shards",
        f"- Object store: {videos:,} x {one.stored_bytes / 1e6:.0f} MB = {stored:,.1f} TB a day; x {kept} days = "
        f"{stored * kept / 1000:,.1f} PB",
        f"- Uploads: {videos:,} x {f.VIDEO_MINUTES * 60} s x {f.SOURCE_MEGABITS:g} Mbit/s x {f.PEAK:g} / {day:,} s = "
        f"{made.upload_gbit:,.1f} Gbit/s",
    ]
    return lines


def _memory(figures: Mapping[str, Any], kind: str) -> str:
    """For one task at a time, and the half again for what was not seen."""
    return f"{-(-1.5 * f.memory_mib(figures, kind) // 512) * 0.5:.1f} GiB"


def fleets(figures: Mapping[str, Any]) -> list[str]:
    made = [plan(figures, videos) for videos in f.FLEETS]
    head = ["| videos a day | " + " | ".join(f"{each.videos:,}" for each in made) + " |", "|---|" + "---|" * len(made)]
    return [*head, *(f"| {name} | " + " | ".join(values) + " |" for name, values in _rows(made))]


def _rows(made: list[Fleet]) -> Iterator[tuple[str, list[str]]]:
    yield "cells", [f"{each.cells:,}" for each in made]
    yield f"API pods, {f.API_CORES} core", [f"{each.api_pods:,}" for each in made]
    for kind in f.KINDS:
        yield f"`{kind}` workers, {f.WORKER_CORES} cores", [f"{each.workers[kind]:,}" for each in made]
    yield "cores of workers in all", [f"{each.worker_cores:,.0f}" for each in made]
    yield "PostgreSQL, cores in all", [f"{each.postgres_cores:,.1f}" for each in made]
    yield "PostgreSQL, GB of rows a day", [f"{each.row_gb_a_day:,.1f}" for each in made]
    yield "PostgreSQL, partitions in all", [f"{each.partitions:,}" for each in made]
    yield "Temporal, state transitions a second", [f"{each.transitions_a_second:,.0f}" for each in made]
    yield "Temporal, shards in all", [f"{each.shards:,}" for each in made]
    yield "object store, TB a day", [f"{each.stored_tb_a_day:,.1f}" for each in made]
    yield "uploads, Gbit/s", [f"{each.upload_gbit:,.1f}" for each in made]


def gpus(figures: Mapping[str, Any]) -> list[str]:
    made = [plan(figures, videos) for videos in f.FLEETS]
    head = "| instead of | a larger model | GPU s, assumed | " + " | ".join(f"{each.videos:,}" for each in made) + " |"
    lines = [head, "|---|---|---|" + "---|" * len(made)]
    for name, (model, seconds, unit) in f.GPU_SECONDS.items():
        counts = " | ".join(f"{each.gpus[name]:,}" for each in made)
        lines.append(f"| {name} | {model} | {seconds:g} {unit} | {counts} |")
    total = " | ".join(f"{sum(each.gpus.values()):,}" for each in made)
    return [*lines, f"| **all** | | | {total} |"]


def blocks(figures: Mapping[str, Any]) -> dict[str, str]:
    """The parts of the page, by name."""
    made = {
        "measured": measured(figures),
        "assumptions": assumptions(),
        "video": video(figures),
        "arithmetic": arithmetic(figures, f.FLEETS[1]),
        "fleets": fleets(figures),
        "gpus": gpus(figures),
    }
    return {name: "\n".join(lines) for name, lines in made.items()}
