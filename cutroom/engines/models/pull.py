"""Brings models into the store: from the first source that has them, checked, and never by halves."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from cutroom.engines.models.files import PART_SUFFIX, ModelSourceError, check_file, part_path, put_in_place
from cutroom.engines.models.manifest import Manifest, Model, ModelFile
from cutroom.engines.models.store import STAMP, ModelStore

LOCK_PAUSE_SECONDS = 0.2
LOCK_TRIES = 5 * 3600  # for an hour, as long as somebody else's pull of the same model may take

Tell = Callable[[str], None]


class ModelSource(Protocol):
    """A place that has models."""

    name: str

    async def bring(self, model: Model, files: Sequence[ModelFile], *, folder: Path) -> None:
        """Write each file as a part in the folder (`part_path`), or raise ModelSourceError."""
        ...


class Outcome(StrEnum):
    """How the pull of one model ended."""

    PULLED = "pulled"
    ALREADY_THERE = "already there"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Pulled:
    """The outcome for one model: where it came from, or a reason from each source that was tried."""

    model: Model
    outcome: Outcome
    source: str = ""
    reasons: tuple[str, ...] = ()


def choose(
    manifest: Manifest, names: Sequence[str], *, sets: Sequence[str] = (), everything: bool = False
) -> list[Model]:
    """The models that are asked for, each once; ValueError for a set that is not there."""
    wanted = list(manifest.models) if everything else list(names)
    for name in sets:
        if name not in manifest.sets:
            raise ValueError(f"There is no set {name}; there are {', '.join(manifest.sets) or 'none'}.")
        wanted += manifest.sets[name]
    return [manifest.model(name) for name in dict.fromkeys(wanted)]


async def pull(model: Model, store: ModelStore, *, sources: Sequence[ModelSource], tell: Tell) -> Pulled:
    """Install one model, or mend it; files that are there and right are left alone."""
    if not await asyncio.to_thread(store.faults, model):
        return Pulled(model, Outcome.ALREADY_THERE)
    folder = store.folder_of(model)
    reasons: list[str] = []
    try:
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        async with locked(store.folder / f".{model.name}.lock", tell=tell):
            # Whoever held the lock may have done it all.
            faults = await asyncio.to_thread(store.faults, model)
            files = [file for file in model.files if file.name in faults]
            if not files:
                return Pulled(model, Outcome.ALREADY_THERE)
            await asyncio.to_thread(_sweep, folder, keep=files)
            for source in sources:
                try:
                    await source.bring(model, files, folder=folder)
                    tell("checking")
                    await asyncio.to_thread(_install, files, folder, source=source)
                except ModelSourceError as error:
                    reasons.append(f"{source.name}: {error}")
                else:
                    return Pulled(model, Outcome.PULLED, source=source.name)
    except ModelSourceError as error:
        reasons.append(str(error))
    except OSError as error:
        reasons.append(f"{error.strerror or error}: {error.filename or folder}")
    return Pulled(model, Outcome.FAILED, reasons=tuple(reasons))


def _install(files: Sequence[ModelFile], folder: Path, *, source: ModelSource) -> None:
    """Check everything before anything gets its place."""
    for file in files:
        part = part_path(folder, file)
        fault = check_file(part, file).fault
        if fault is not None:
            part.unlink(missing_ok=True)
            raise ModelSourceError(f"{file.name} of the {source.name} is not the file of the manifest: it {fault}.")
    for file in files:
        put_in_place(part_path(folder, file), folder / file.name)


def _sweep(folder: Path, *, keep: Sequence[ModelFile]) -> None:
    """Remove what killed pulls left behind, but for what can be gone on with."""
    kept = {part_path(folder, file) for file in keep}
    for path in folder.glob(f".*{PART_SUFFIX}"):
        if path not in kept and not path.name.startswith(STAMP):  # a stamp may be just being written
            path.unlink(missing_ok=True)


@asynccontextmanager
async def locked(path: Path, *, tell: Tell) -> AsyncIterator[None]:
    """One pull of a model at a time. The system lets go of the lock when its holder dies, however it dies."""
    # The file stays: were it removed, two could hold two locks of the same name.
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        for waited in range(LOCK_TRIES):
            if _try_lock(lock):
                break
            if waited == 0:
                tell("waiting for another pull of it")
            await asyncio.sleep(LOCK_PAUSE_SECONDS)
        else:
            raise ModelSourceError("Another pull of it does not come to an end.")
        yield
    finally:
        os.close(lock)


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
