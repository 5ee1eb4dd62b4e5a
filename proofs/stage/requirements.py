"""Checks what a proof needs of the machine, and names the command that provides what is missing."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cutroom.engines.models.store import ModelStore
from dev.environment import MODELS
from dev.probe import program_beside_python

GB = 1000**3
SETUP = "`just setup` installs it"


def models_dir() -> Path:
    """The folder of the models on this machine."""
    return Path(os.environ.get("CUTROOM_MODELS_DIR") or MODELS)


@dataclass(frozen=True, slots=True)
class Needs:
    """Requirements of a proof, checked before it starts anything."""

    model_set: str | None = None  # a set in the model manifest
    long_model_set: str | None = None  # replaces `model_set` in the long form
    programs: tuple[str, ...] = ()
    disk_bytes: int = 0  # free space for temporary files in the long form
    short_disk_bytes: int = 0
    root: bool = False

    def missing(self, *, short: bool) -> list[str]:
        """One line per unmet requirement."""
        return [*self._models(short=short), *self._programs(), *self._disk(short=short), *self._root()]

    def _models(self, *, short: bool) -> Iterator[str]:
        model_set = self.model_set if short else self.long_model_set or self.model_set
        if model_set is None:
            return
        store = ModelStore(models_dir())
        names = store.manifest.sets[model_set]
        absent = [name for name in names if not store.is_complete(store.manifest.model(name))]
        if absent:
            yield f"models {', '.join(absent)} are not installed: `just models --set {model_set}` fetches them"

    def _programs(self) -> Iterator[str]:
        for name in self.programs:
            if shutil.which(name) is None and shutil.which(program_beside_python(name)) is None:
                yield f"{name} is not installed: {SETUP}"

    def _disk(self, *, short: bool) -> Iterator[str]:
        folder = tempfile.gettempdir()
        needed, free = self.short_disk_bytes if short else self.disk_bytes, shutil.disk_usage(folder).free
        if free < needed:
            yield (
                f"{folder} has {free / GB:.1f} GB free, {needed / GB:.1f} GB are needed: "
                "free some, or set TMPDIR to another file system"
            )

    def _root(self) -> Iterator[str]:
        if self.root and os.geteuid() != 0:
            yield "a network namespace needs root: run it with `sudo`"
