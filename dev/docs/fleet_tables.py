"""Renders fleet sizes as Markdown tables, with the arithmetic behind each number."""

from collections.abc import Iterator, Mapping
from typing import Any

from dev.docs import fleet as f
from dev.docs.fleet import Fleet, VideoCost, plan, video_cost

SERVICES = ("api", "postgres", "temporal", "seaweedfs", "redis")


def measured(figures: Mapping[str, Any]) -> list[str]:
    source, machine = figures["video"], figures["machine"]
    lines = [
        f"Measured with a 720p video of {source['minutes']:.2f} minutes with speech, on {machine['cores']} cores of "
        f"{machine['processor']}, on {machine['measured_on']}. `speech` is per minute of synthesized audio.",
        "",
        "| product | worker, CPU s/min | other services, CPU s/min | peak, MiB | stored, MB/min | state transitions |",
        "|---|---|---|---|---|---|",
    ]
    for name, product in figures["products"].items():
        worker = product["cpu_seconds_a_minute"]["worker"]
        others = sum(f.service_seconds(figures, name, service) for service in SERVICES)
        stored = max(0, product["stored_bytes_a_minute"]) / 1e6
        lines.append(
            f"| {name} | {worker:.1f} | {others:.2f} | {product['peak_mib']:.0f} | {stored:.2f} "
            f"| {product['transitions']} |"
        )
    if "note" in figures:
        lines += ["", figures["note"]]
    requests = figures["requests"]["cpu_seconds"]
    for name in ("read", "write"):
        times = ", ".join(
            f"{service} {1000 * requests[name][service]:.1f} ms" for service in ("api", "postgres", "redis")
        )
        lines += ["", f"CPU time of a {name} request: {times}."]
    return lines


def assumptions() -> list[str]:
    shard, cell = f"{f.TRANSITIONS_PER_SHARD:g}", f"{f.TRANSITIONS_PER_CELL:,.0f}"
    rows = (
        ("duration of a video", f"{f.VIDEO_MINUTES} minutes", "VIDEO_MINUTES"),
        ("bitrate of a camera file", f"{f.SOURCE_MEGABITS:g} Mbit/s", "SOURCE_MEGABITS"),
        ("busiest hour relative to the average", f"{f.PEAK_FACTOR:g} times", "PEAK_FACTOR"),
        ("target CPU utilization", f"{f.UTILIZATION:.0%}", "UTILIZATION"),
        ("cores per worker", f"{f.WORKER_CORES}", "WORKER_CORES"),
        ("cores per API pod", f"{f.API_CORES}", "API_CORES"),
        ("read requests per video", f"{f.READS_PER_VIDEO}", "READS_PER_VIDEO"),
        ("write requests per video", f"{f.WRITES_PER_VIDEO}", "WRITES_PER_VIDEO"),
        ("retention of rows and objects", f"{f.RETENTION_DAYS} days", "RETENTION_DAYS"),
        ("size of a PostgreSQL partition", f"{f.PARTITION_GB} GB", "PARTITION_GB"),
        ("cores per PostgreSQL primary", f"{f.POSTGRES_CORES}", "POSTGRES_CORES"),
        ("state transitions per second and Temporal shard", shard, "TRANSITIONS_PER_SHARD"),
        ("state transitions per second and Temporal cluster", cell, "TRANSITIONS_PER_CELL"),
    )
    head = ["| assumption | value | constant in `dev/docs/fleet.py` |", "|---|---|---|"]
    return [*head, *(f"| {label} | {value} | `{name}` |" for label, value, name in rows)]


def video(figures: Mapping[str, Any]) -> list[str]:
    lines = ["| product | per video | queue | arithmetic | CPU s |", "|---|---|---|---|---|"]
    for name, (count, kind) in f.MIX.items():
        if name not in figures["products"]:
            continue
        each = figures["products"][name]["cpu_seconds_a_minute"]["worker"]
        total = count * f.VIDEO_MINUTES * each
        formula = f"{count:g} x {f.VIDEO_MINUTES} min x {each:.1f} s"
        lines.append(f"| {name} | {count:g} | `{kind}` | {formula} | {total:.0f} |")
    cost = video_cost(figures)
    missing = [f"`{name}`" for name in f.MIX if name not in figures["products"]]
    lines += [
        f"| **total** | | | | **{sum(cost.worker_seconds.values()):.0f}** |",
        "",
        f"One video uses {_by_kind(cost)}; {cost.api_seconds:.2f} s of the API; "
        f"{cost.postgres_seconds:.2f} s of PostgreSQL; "
        f"{cost.transitions:.0f} Temporal state transitions; {cost.row_bytes / 1000:.0f} kB of rows; "
        f"{cost.stored_bytes / 1e6:.0f} MB in the object store.",
    ]
    if missing:
        lines += ["", f"Not measured, and not included: {', '.join(missing)}."]
    return lines


def _by_kind(cost: VideoCost) -> str:
    return ", ".join(f"{seconds:.0f} s of `{kind}` workers" for kind, seconds in cost.worker_seconds.items())


def arithmetic(figures: Mapping[str, Any], videos: int) -> list[str]:
    """The arithmetic of one fleet; the others differ only in the number of videos."""
    cost, planned = video_cost(figures), plan(figures, videos)
    per_core = f"({f.DAY_SECONDS:,} s x {f.UTILIZATION:g})"
    lines = [f"For {videos:,} videos per day:", ""]
    for kind, seconds in cost.worker_seconds.items():
        cores = videos * seconds * f.PEAK_FACTOR / (f.DAY_SECONDS * f.UTILIZATION)
        lines.append(
            f"- `{kind}`: {videos:,} x {seconds:.0f} s x {f.PEAK_FACTOR:g} / {per_core} = {cores:,.1f} cores; "
            f"/ {f.WORKER_CORES} = {planned.workers[kind]:,} workers, each with {_memory(figures, kind)} of memory"
        )
    retention, day = f.RETENTION_DAYS, f.DAY_SECONDS
    stored = planned.stored_tb_per_day
    lines += [
        f"- API: {videos:,} x {cost.api_seconds:.2f} s x {f.PEAK_FACTOR:g} / {per_core} = {planned.api_pods:,} pods",
        f"- PostgreSQL: {videos:,} x {cost.postgres_seconds:.2f} s x {f.PEAK_FACTOR:g} / {per_core} = "
        f"{planned.postgres_cores:,.1f} cores",
        f"- Rows: {videos:,} x {cost.row_bytes / 1000:.0f} kB = {planned.row_gb_per_day:,.1f} GB per day; "
        f"x {retention} days / {f.PARTITION_GB} GB, rounded up to a power of two = {planned.partitions:,} partitions",
        f"- Temporal: {videos:,} x {cost.transitions:.0f} x {f.PEAK_FACTOR:g} / {day:,} s = "
        f"{planned.transitions_per_second:,.0f} transitions per second; / {f.TRANSITIONS_PER_SHARD:g}, "
        f"rounded up to a power of two, at least {f.MIN_SHARDS} = {planned.shards:,} shards",
        f"- Object store: {videos:,} x {cost.stored_bytes / 1e6:.0f} MB = {stored:,.1f} TB per day; "
        f"x {retention} days = {stored * retention / 1000:,.1f} PB",
        f"- Uploads: {videos:,} x {f.VIDEO_MINUTES * 60} s x {f.SOURCE_MEGABITS:g} Mbit/s "
        f"x {f.PEAK_FACTOR:g} / {day:,} s = {planned.upload_gbit:,.1f} Gbit/s",
    ]
    return lines


def _memory(figures: Mapping[str, Any], kind: str) -> str:
    """Memory for one task, plus a margin of 50%."""
    return f"{-(-1.5 * f.memory_mib(figures, kind) // 512) * 0.5:.1f} GiB"


def fleets(figures: Mapping[str, Any]) -> list[str]:
    planned = [plan(figures, videos) for videos in f.FLEETS]
    head = [
        "| videos per day | " + " | ".join(f"{each.videos:,}" for each in planned) + " |",
        "|---|" + "---|" * len(planned),
    ]
    return [*head, *(f"| {name} | " + " | ".join(values) + " |" for name, values in _rows(planned))]


def _rows(planned: list[Fleet]) -> Iterator[tuple[str, list[str]]]:
    yield "cells", [f"{each.cells:,}" for each in planned]
    yield f"API pods, {f.API_CORES} core", [f"{each.api_pods:,}" for each in planned]
    for kind in f.KINDS:
        yield f"`{kind}` workers, {f.WORKER_CORES} cores", [f"{each.workers[kind]:,}" for each in planned]
    yield "worker cores, total", [f"{each.worker_cores:,.0f}" for each in planned]
    yield "PostgreSQL cores, total", [f"{each.postgres_cores:,.1f}" for each in planned]
    yield "PostgreSQL, GB of rows per day", [f"{each.row_gb_per_day:,.1f}" for each in planned]
    yield "PostgreSQL partitions, total", [f"{each.partitions:,}" for each in planned]
    yield "Temporal state transitions per second", [f"{each.transitions_per_second:,.0f}" for each in planned]
    yield "Temporal shards, total", [f"{each.shards:,}" for each in planned]
    yield "object store, TB per day", [f"{each.stored_tb_per_day:,.1f}" for each in planned]
    yield "uploads, Gbit/s", [f"{each.upload_gbit:,.1f}" for each in planned]


def gpus(figures: Mapping[str, Any]) -> list[str]:
    planned = [plan(figures, videos) for videos in f.FLEETS]
    head = "| product | larger model | assumed GPU s | " + " | ".join(f"{each.videos:,}" for each in planned) + " |"
    lines = [head, "|---|---|---|" + "---|" * len(planned)]
    for name, (model, seconds, unit) in f.GPU_SECONDS.items():
        counts = " | ".join(f"{each.gpus[name]:,}" for each in planned)
        lines.append(f"| {name} | {model} | {seconds:g} {unit} | {counts} |")
    total = " | ".join(f"{sum(each.gpus.values()):,}" for each in planned)
    return [*lines, f"| **total** | | | {total} |"]


def blocks(figures: Mapping[str, Any]) -> dict[str, str]:
    """The generated blocks of the page by name."""
    planned = {
        "measured": measured(figures),
        "assumptions": assumptions(),
        "video": video(figures),
        "arithmetic": arithmetic(figures, f.FLEETS[1]),
        "fleets": fleets(figures),
        "gpus": gpus(figures),
    }
    return {name: "\n".join(lines) for name, lines in planned.items()}
