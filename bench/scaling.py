"""What every product costs for a minute of media: processor time, memory, bytes and steps of Temporal.

One worker makes one product after another out of one film, with real engines. Processor time is what the kernel
wrote down for each process, so a machine that others use too tells the same. Programs that are loaded for the first
time are counted with the product that needed them, which is on the careful side. The figures are the ground of
docs/scaling.md: `--write` puts them into docs/figures/scaling.json.
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

from bench.usage import SETTLE_SECONDS, UsageMeter, Usage
from cutroom.platform.clock import system_clock
from cutroom.platform.storage.objects import Storage
from dev.environment import PROJECT
from dev.services import control
from tests.recording.examples import Recorder, request_core_services, write
from tests.support.product_walk import STEPS, Step, ProductWalk, ingest, open_walk, configure_worker, transcripts
from tests.support.shorts_video import make_video

FIGURES = PROJECT / "docs" / "figures" / "scaling.json"
UNMEASURED = frozenset({"quotes", "subtitles"})  # one request each: no more than any other
READS, WRITES = 300, 100
CORE_STEP = "house"  # what is asked beside the products


@dataclass(frozen=True, slots=True)
class Options:
    """How to measure."""

    video: Path | None  # one's own, instead of the one that is made here
    short: bool
    save: bool  # the figures, after each product
    record: bool  # requests and answers too
    only: frozenset[str] = frozenset()  # these products; the others stay as they were measured before

    @property
    def steps(self) -> Sequence[Step]:
        """A product needs a film that has come in, with its transcript."""
        names = {*self.only, ingest.__name__, transcripts.__name__}
        return [step for step in STEPS if not self.only or step.__name__ in names]

    def is_selected(self, name: str) -> bool:
        return not self.only or name in {*self.only, CORE_STEP}


async def measure(options: Options) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        video = options.video
        if video is None:
            video = (await asyncio.to_thread(lambda: make_video(folder, long=not options.short))).path
        async with open_walk("bench_scaling", video, folder / "stage") as walk:
            meter = UsageMeter(walk.stage, Storage.connect(walk.stage.settings))
            recorder = Recorder(walk.stage.api.url, str(walk.stage.settings.s3_endpoint))
            walk.client.event_hooks["response"].append(recorder.listen)
            figures: dict[str, Any] = {"machine": _machine(), "film": {}, "products": {}, "requests": {}}
            for step in options.steps:
                recorder.begin(step.__name__)
                await _measure_step(walk, meter, step, figures)
                figures["film"] |= {"bytes": video.stat().st_size}
                save(figures, recorder, options)
            recorder.begin(CORE_STEP)
            await request_core_services(walk.client, walk.video_id)
            walk.client.event_hooks["response"].clear()
            if not options.only:
                figures["requests"] = await _requests(walk, meter)
    save(figures, recorder, options)
    return figures


async def _measure_step(walk: ProductWalk, meter: UsageMeter, step: Step, figures: dict[str, Any]) -> None:
    if configure_worker(walk, step):
        await asyncio.sleep(SETTLE_SECONDS)
    walk.notes, walk.polls = {}, 0
    async with meter.measure() as usage:
        await step(walk)
    name = step.__name__
    if name == "ingest":
        figures["film"]["minutes"] = round(walk.notes["minutes"], 4)
    if name not in UNMEASURED:
        minutes = walk.notes.get("minutes", figures["film"]["minutes"])
        figures["products"][name] = {**_per_minute(usage, minutes, walk.notes), "polls": walk.polls}
        _print_step(name, figures["products"][name])


def save(figures: Mapping[str, Any], recorder: Recorder, options: Options) -> None:
    """Whatever was asked to be kept, after each product, so that a run that ends early was not for nothing."""
    if options.save:
        merged = {**figures}
        if options.only:
            known = json.loads(FIGURES.read_text())
            measured = {name: description for name, description in figures["products"].items() if options.is_selected(name)}
            merged = {**known, "products": {**known["products"], **measured}}
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(json.dumps(merged, indent=2) + "\n")
    if options.record:
        write([each for each in recorder.examples if options.is_selected(each.step)])


def _per_minute(usage: Usage, minutes: float, notes: Mapping[str, float]) -> dict[str, Any]:
    cpu = {part: round(seconds / minutes, 3) for part, seconds in usage.cpu_seconds.items()}
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
    """Processor time of a read and of a write, over the API and what stands behind it."""
    async with meter.measure() as idle:
        await asyncio.sleep(SETTLE_SECONDS)
    found = {}
    for name, count in (("read", READS), ("write", WRITES)):
        async with meter.measure() as usage:
            for number in range(count):
                if name == "read":
                    await walk.get(f"/v1/videos/{walk.video_id}")
                else:
                    await walk.post("/v1/folders", {"name": f"Folder {number}"})
        found[name] = {part: round(usage.cpu_seconds[part] / count, 6) for part in ("api", "postgres", "redis")}
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


def _print_step(name: str, description: Mapping[str, Any]) -> None:
    worker, seconds = description["cpu_seconds_a_minute"]["worker"], description["wall_seconds"]
    Console(stderr=True).print(
        f"{name}: {worker:.1f} s of processor a minute, {description['peak_mib']:.0f} MiB, in {seconds:.0f} s", highlight=False
    )


def _show(figures: Mapping[str, Any]) -> None:
    table = Table("product", "CPU s a minute", "of it the house", "peak MiB", "stored KiB a minute", "transitions")
    for name, description in figures["products"].items():
        cpu = description["cpu_seconds_a_minute"]
        total, stored = sum(cpu.values()), description["stored_bytes_a_minute"] / 1024
        row = (f"{total:.1f}", f"{total - cpu['worker']:.2f}", f"{description['peak_mib']:.0f}", f"{stored:.0f}")
        table.add_row(name, *row, str(description["transitions"]))
    Console().print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a film of about one minute instead of about three")
    parser.add_argument("--film", type=Path, help="a film of your own")
    parser.add_argument("--write", action="store_true", help="keep the figures for docs/scaling.md")
    parser.add_argument("--record", action="store_true", help="also keep the requests and answers for the guides")
    parser.add_argument("--only", nargs="+", default=(), metavar="PRODUCT", help="these; the others stay as they are")
    description = parser.parse_args()
    if unknown := set(description.only) - {step.__name__ for step in STEPS}:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    control.start_all()
    options = Options(description.video, description.short, save=description.write, record=description.record, only=frozenset(description.only))
    figures = asyncio.run(measure(options))
    _show(figures)
    products = figures["products"].items()
    print(json.dumps({name: round(sum(each["cpu_seconds_a_minute"].values()), 2) for name, each in products}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
