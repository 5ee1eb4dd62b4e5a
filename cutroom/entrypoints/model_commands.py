"""The `cutroom-server models` commands: list, pull and verify the models on this machine."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, TextIO, TypeVar

import typer

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.files import ModelSourceError
from cutroom.engines.models.hub import HubSource, MissingHub
from cutroom.engines.models.manifest import Manifest, Model, ModelFile, ModelPackage
from cutroom.engines.models.manifest_reader import load_manifest
from cutroom.engines.models.mirror import MirrorSource
from cutroom.engines.models.packages import PackageFetcher, PackageSource, find_package
from cutroom.engines.models.pull import ModelSource, PullOutcome, PullResult, pull, select_models
from cutroom.engines.models.store import ModelStore, default_models_dir
from cutroom.platform.settings import ModelSourceSettings

REDRAW_SECONDS = 0.1
MEGABYTE = 1_000_000
NO_MIRROR = "Set CUTROOM_TRANSLATION_MODELS_URL to a mirror of the Firefox Translations models, https://..."

app = typer.Typer(no_args_is_help=True, help="List, pull and verify models.")

Result = TypeVar("Result")


class SourceName(StrEnum):
    """Where to download models from."""

    ANY = "any"  # the mirror for models that have one, otherwise the hub if configured, then the package registries
    REGISTRY = "registry"
    HUB = "hub"
    MIRROR = "mirror"


Folder = Annotated[
    Path | None,
    typer.Option(help="Model directory; default $CUTROOM_MODELS_DIR, else the user's data directory."),
]
ManifestFile = Annotated[
    Path | None,
    typer.Option(
        "--manifest",
        envvar="CUTROOM_MODELS_MANIFEST",
        exists=True,
        dir_okay=False,
        help="Model manifest to use instead of the bundled one.",
    ),
]
Names = Annotated[list[str] | None, typer.Argument(metavar="NAMES", help="Models, as printed by `list`, or sets.")]


@app.command("list")
def list_models(*, folder: Folder = None, manifest: ManifestFile = None) -> None:
    """List every model and whether it is installed, by file size only; `verify` checks hashes."""
    store = _store(folder, manifest)
    rows = [("NAME", "TASK", "SIZE", "LICENSE", "INSTALLED")]
    for model in store.manifest.models.values():
        installed = "yes" if store.is_complete(model) else "incomplete" if store.has_any_file(model) else "no"
        rows.append((model.name, model.task, _size(model.size_bytes), model.license, installed))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    typer.echo(f"\nSets: {_describe_sets(store.manifest)}\nStore: {store.folder}")


@app.command("pull")
def pull_models(
    names: Names = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every model in the manifest.")] = False,
    sets: Annotated[list[str] | None, typer.Option("--set", help="A named set of models, such as ci.")] = None,
    source: Annotated[
        SourceName, typer.Option(envvar="CUTROOM_MODEL_SOURCE", help="Where to download from.")
    ] = SourceName.ANY,
    from_folder: Annotated[
        Path | None,
        typer.Option("--from", exists=True, file_okay=False, help="A folder of wheels and tarballs; no network."),
    ] = None,
    folder: Folder = None,
    manifest: ManifestFile = None,
) -> None:
    """Download models, verify every file, then install them."""
    store = _store(folder, manifest)
    selected = _choose(store, names, sets=sets, everything=everything)
    if not selected:
        raise typer.BadParameter("name models, or give --set or --all")
    line = ProgressLine(sys.stderr)
    with tempfile.TemporaryDirectory(prefix="cutroom-pull-") as scratch:
        try:
            sources = _sources(source, from_folder, scratch=Path(scratch), line=line)
        except ModelSourceError as error:
            raise typer.BadParameter(str(error)) from error
        unavailable = [model for model in selected if not sources.of(model) and not store.is_complete(model)]
        available = [model for model in selected if model not in unavailable]
        results = _run(_pull_all(available, store, sources=sources, line=line))
    if unavailable:
        typer.echo(f"{', '.join(model.name for model in unavailable)}: not pulled\n  {NO_MIRROR}", err=True)
    if unavailable or any(result.outcome is PullOutcome.FAILED for result in results):
        raise typer.Exit(1)


@app.command("verify")
def verify_models(names: Names = None, *, folder: Folder = None, manifest: ManifestFile = None) -> None:
    """Hash every file of the models that are here, or of those named."""
    store = _store(folder, manifest)
    everything = list(store.manifest.models.values())
    selected = _choose(store, names) or [model for model in everything if store.has_any_file(model)]
    if not selected:
        typer.echo(f"No model is installed in {store.folder}.")
    bad = 0
    for model in selected:
        faults = store.faults(model, rehash=True)
        bad += len(faults)
        for file, fault in faults.items():
            typer.echo(f"bad  {model.name}/{file} {fault}")
        if not faults:
            typer.echo(f"ok   {model.name} ({_size(model.size_bytes)})")
    if bad:
        raise typer.Exit(1)


def _store(folder: Path | None, manifest: Path | None) -> ModelStore:
    try:
        return ModelStore(folder or default_models_dir(os.environ), manifest=load_manifest(manifest))
    except ValueError as error:
        raise typer.BadParameter(f"{manifest}: {error}") from error


def _choose(
    store: ModelStore, names: Sequence[str] | None, *, sets: Sequence[str] | None = None, everything: bool = False
) -> list[Model]:
    try:
        return select_models(store.manifest, names or (), sets=sets or (), everything=everything)
    except (EngineUnavailableError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error


@dataclass(frozen=True, slots=True)
class ModelSources:
    """Sources in the order to try them: of models with a folder on a mirror, and of all others."""

    mirrored: Sequence[ModelSource]
    others: Sequence[ModelSource]

    def of(self, model: Model) -> Sequence[ModelSource]:
        return self.others if model.mirror is None else self.mirrored


def _sources(source: SourceName, from_folder: Path | None, *, scratch: Path, line: "ProgressLine") -> ModelSources:
    if from_folder is not None:

        async def find(package: ModelPackage) -> Path:
            return await asyncio.to_thread(find_package, package, from_folder)

        packages = [PackageSource(find, scratch=scratch, name="folder")]
        return ModelSources(packages, packages)
    settings = ModelSourceSettings()
    others: list[ModelSource] = []
    if settings.model_hub and source in {SourceName.ANY, SourceName.HUB}:
        others.append(HubSource(settings.model_hub, report=partial(line.show_bytes, source=HubSource.name)))
    if source in {SourceName.ANY, SourceName.REGISTRY}:
        fetcher = PackageFetcher(scratch, environment=os.environ, report=line.show)
        others.append(PackageSource(fetcher.get, scratch=scratch))
    if not settings.model_hub and source in {SourceName.ANY, SourceName.HUB}:
        others.append(MissingHub())
    if source not in {SourceName.ANY, SourceName.MIRROR}:
        return ModelSources(others, others)
    url = settings.translation_models_url
    mirrors = [MirrorSource(url, report=partial(line.show_bytes, source=MirrorSource.name))] if url else []
    return ModelSources(mirrors, others or mirrors)


async def _pull_all(
    selected: Sequence[Model], store: ModelStore, *, sources: ModelSources, line: "ProgressLine"
) -> list[PullResult]:
    results = []
    for model in selected:
        line.begin(model.name)
        started = time.monotonic()
        result = await pull(model, store, sources=sources.of(model), report=line.show)
        line.clear()
        typer.echo(_describe(result, seconds=time.monotonic() - started), err=result.outcome is PullOutcome.FAILED)
        results.append(result)
    return results


def _describe(result: PullResult, *, seconds: float) -> str:
    model = result.model
    match result.outcome:
        case PullOutcome.ALREADY_INSTALLED:
            return f"{model.name}: already installed"
        case PullOutcome.PULLED:
            return f"{model.name}: pulled from the {result.source}, {_size(model.size_bytes)} in {seconds:.1f} s"
        case PullOutcome.FAILED:
            return "\n  ".join((f"{model.name}: not pulled", *result.reasons))


def _run(work: Coroutine[None, None, Result]) -> Result:
    """Cancels the work on SIGTERM as on Ctrl-C, so that subprocesses stop and temporary directories are removed."""

    async def run() -> Result:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    try:
        return asyncio.run(run())
    except (asyncio.CancelledError, KeyboardInterrupt) as error:
        raise typer.Exit(130) from error


def _describe_sets(manifest: Manifest) -> str:
    return ", ".join(f"{name} ({len(members)} models)" for name, members in manifest.sets.items()) or "none"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / MEGABYTE:.1f} MB"


class ProgressLine:
    """Progress output: one line redrawn in place on a terminal, otherwise one line per step."""

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._clock = clock
        self._model = ""
        self._drawn = float("-inf")
        self._text = ""

    def begin(self, model: str) -> None:
        self._model = model

    def show(self, text: str) -> None:
        self._draw(f"{self._model}: {text}")

    def show_bytes(self, file: ModelFile, done_bytes: int, *, source: str) -> None:
        text = f"{self._model}: fetching {file.name} from the {source}"
        if not self._terminal:
            if text != self._text:
                self._draw(text)
        elif self._clock() - self._drawn >= REDRAW_SECONDS or done_bytes == file.size_bytes:
            self._draw(f"{text}, {done_bytes / file.size_bytes:4.0%} of {_size(file.size_bytes)}")

    def clear(self) -> None:
        if self._terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _draw(self, text: str) -> None:
        self._text, self._drawn = text, self._clock()
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write(f"\r\x1b[K{text[:width]}")
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()
