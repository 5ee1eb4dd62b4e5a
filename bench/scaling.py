"""Resource usage of every product per minute of media: CPU time, memory, bytes and Temporal state transitions.

One worker runs one product after another on the same video of ten minutes, with real engines. CPU time is measured per
process, so other load on the machine counts little. Loading an engine counts for the first product that needs it, which
overestimates. docs/scaling.md is based on these figures: `--write` saves them to docs/figures/scaling.json. The last
line compares the cost of a media minute and of a video with the goals. A run that is aborted leaves its figures beside
the committed ones, which only a complete run replaces.
"""

import argparse
import asyncio
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.talk_video import make_talk_video
from bench.usage import SETTLE_SECONDS, Usage, UsageMeter
from cutroom.platform.clock import system_clock
from cutroom.platform.storage.objects import Storage
from dev.docs.fleet import video_cost
from dev.docs.scaling_figures import replace_figures, save_partial
from dev.environment import MODELS
from dev.services import control
from eval.publishable.reference import open_engines
from tests.recording.examples import Recorder, request_core_services, write
from tests.support.product_walk import STEPS, ProductWalk, Step, configure_worker, ingest, open_walk, transcripts
from tests.support.shorts_video import make_video

UNMEASURED = frozenset({"quotes", "subtitles"})  # a single request each
READS, WRITES = 300, 100
IDLE_SECONDS = 60.0  # what services clean up after a product should count little
MINUTES = 10.0
# CPU seconds of the worker per minute of media, and the cost of a video with the average mix of products.
PRODUCT_GOALS = {"dubs": 75.0, "playback": 43.0, "shorts": 34.0, "ingest": 15.0, "transcripts": 12.0}
VIDEO_GOALS = {"cpu_s": 2_000.0, "temporal_transitions": 900.0, "postgres_cpu_s": 4.0, "rows_kb": 300.0}
CORE_STEP = "core"  # requests to core services


@dataclass(frozen=True, slots=True)
class Options:
    """Command-line options."""

    video: Path | None  # None to generate one
    short: bool
    save: bool  # save the figures
    record: bool  # also record requests and responses
    only: frozenset[str] = frozenset()  # measure only these products and keep the saved figures of the others

    @property
    def steps(self) -> Sequence[Step]:
        """The selected products, and the import and transcript that they need."""
        names = {*self.only, ingest.__name__, transcripts.__name__}
        return [step for step in STEPS if not self.only or step.__name__ in names]

    def is_selected(self, name: str) -> bool:
        return not self.only or name in {*self.only, CORE_STEP}


async def measure(options: Options) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        video = options.video
        if video is None:
            video = await asyncio.to_thread(_make_video, folder, short=options.short)
        async with open_walk("bench_scaling", video, folder / "stage") as walk:
            meter = UsageMeter(walk.stage, Storage.connect(walk.stage.settings))
            recorder = Recorder(walk.stage.api.url)
            walk.client.event_hooks["response"].append(recorder.listen)
            figures: dict[str, Any] = {"machine": _machine(), "video": {}, "products": {}, "requests": {}}
            for step in options.steps:
                recorder.begin(step.__name__)
                await _measure_step(walk, meter, step, figures)
                figures["video"] |= {"bytes": video.stat().st_size}
                if options.save:
                    save_partial(figures)
            recorder.begin(CORE_STEP)
            await request_core_services(walk.client, walk.video_id)
            walk.client.event_hooks["response"].clear()
            figures["requests"] = await _requests(walk, meter)
    save(figures, recorder, options)
    return figures


def _make_video(folder: Path, *, short: bool) -> Path:
    if short:
        return make_video(folder, long=False).path
    return make_talk_video(folder, open_engines(MODELS).synthesizer(), minutes=MINUTES)


async def _measure_step(walk: ProductWalk, meter: UsageMeter, step: Step, figures: dict[str, Any]) -> None:
    if configure_worker(walk, step):
        await asyncio.sleep(SETTLE_SECONDS)
    walk.notes, walk.polls = {}, 0
    async with meter.measure() as usage:
        await step(walk)
    name = step.__name__
    if name == "ingest":
        figures["video"]["minutes"] = round(walk.notes["minutes"], 4)
    if name not in UNMEASURED:
        minutes = walk.notes.get("minutes", figures["video"]["minutes"])
        figures["products"][name] = {**_per_minute(usage, minutes, walk.notes), "polls": walk.polls}
        _print_step(name, figures["products"][name])


def save(figures: Mapping[str, Any], recorder: Recorder, options: Options) -> None:
    """Save the figures and recordings of a complete run if requested."""
    if options.save:
        replace_figures(figures, only=options.only)
    if options.record:
        write([each for each in recorder.examples if options.is_selected(each.step)])


def _per_minute(usage: Usage, minutes: float, notes: Mapping[str, float]) -> dict[str, Any]:
    cpu = {process: round(seconds / minutes, 3) for process, seconds in usage.cpu_seconds.items()}
    return {
        "minutes": round(minutes, 3),
        "wall_seconds": round(usage.wall_seconds, 1),
        "cpu_seconds_a_minute": cpu,
        "peak_mib": usage.peak_mib,
        "stored_bytes_a_minute": round(usage.stored_bytes / minutes),
        "workflows": usage.workflows,
        "transitions": usage.transitions,
        "history_bytes": usage.history_bytes,
        "row_bytes": usage.row_bytes,
        **({"outputs": int(notes["outputs"])} if "outputs" in notes else {}),
    }


async def _requests(walk: ProductWalk, meter: UsageMeter) -> dict[str, Any]:
    """CPU time of a read and of a write, in the API and the services behind it."""
    async with meter.measure() as idle:
        await asyncio.sleep(IDLE_SECONDS)
    found = {}
    for name, count in (("read", READS), ("write", WRITES)):
        async with meter.measure() as usage:
            for number in range(count):
                if name == "read":
                    await walk.get(f"/v1/videos/{walk.video_id}")
                else:
                    await walk.post("/v1/folders", {"name": f"Folder {number}"})
        found[name] = {
            process: round(usage.cpu_seconds[process] / count, 6) for process in ("api", "postgres", "redis")
        }
    return {"cpu_seconds": found, "idle": asdict(idle)}


def _machine() -> dict[str, Any]:
    text = Path("/proc/cpuinfo").read_text()
    models = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    cores = len(models)
    return {
        "processor": models[0] if models else platform.machine(),
        "cores": cores,
        "measured_on": system_clock().date().isoformat(),
    }


def _print_step(name: str, product: Mapping[str, Any]) -> None:
    worker, seconds = product["cpu_seconds_a_minute"]["worker"], product["wall_seconds"]
    Console(stderr=True).print(
        f"{name}: {worker:.1f} CPU s per minute, {product['peak_mib']:.0f} MiB, in {seconds:.0f} s", highlight=False
    )


def _show(figures: Mapping[str, Any]) -> None:
    table = Table("product", "CPU s per minute", "of it services", "peak MiB", "stored KiB per minute", "transitions")
    for name, product in figures["products"].items():
        cpu = product["cpu_seconds_a_minute"]
        total, stored = sum(cpu.values()), product["stored_bytes_a_minute"] / 1024
        row = (f"{total:.1f}", f"{total - cpu['worker']:.2f}", f"{product['peak_mib']:.0f}", f"{stored:.0f}")
        table.add_row(name, *row, str(product["transitions"]))
    Console().print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a video of about one minute instead of ten")
    parser.add_argument("--video", type=Path, help="use this video instead of a generated one")
    parser.add_argument("--write", action="store_true", help="save the figures for docs/scaling.md")
    parser.add_argument("--record", action="store_true", help="also record the requests and responses for the guides")
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="PRODUCT", help="measure only these and keep the others"
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.only) - {step.__name__ for step in STEPS}:
        parser.error(f"unknown products: {', '.join(sorted(unknown))}")
    control.start_all()
    options = Options(
        arguments.video,
        arguments.short,
        save=arguments.write,
        record=arguments.record,
        only=frozenset(arguments.only),
    )
    figures = asyncio.run(measure(options))
    _show(figures)
    print(json.dumps(summary(figures)))
    return 0


def summary(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The figures that have goals: those of measured products, and those of a video if all products were measured."""
    goals = {f"{name}_cpu_s": goal for name, goal in PRODUCT_GOALS.items() if name in figures["products"]}
    found = {
        f"{name}_cpu_s": round(figures["products"][name]["cpu_seconds_a_minute"]["worker"], 1)
        for name in PRODUCT_GOALS
        if name in figures["products"]
    }
    if {step.__name__ for step in STEPS} - UNMEASURED <= figures["products"].keys():
        cost = video_cost(figures)
        goals |= VIDEO_GOALS
        found |= {
            "cpu_s": round(sum(cost.worker_seconds.values())),
            "temporal_transitions": round(cost.transitions),
            "postgres_cpu_s": round(cost.postgres_seconds, 1),
            "rows_kb": round(cost.row_bytes / 1000),
        }
    missed = sorted(name for name, goal in goals.items() if found[name] > goal)
    return {**found, "minutes": figures["video"]["minutes"], "missed": missed, "ok": not missed}


if __name__ == "__main__":
    sys.exit(main())
