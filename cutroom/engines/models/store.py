"""Where models are kept, and the check without which no adapter gets one."""

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import astuple
from itertools import islice
from pathlib import Path

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.files import PART_SUFFIX, VerifiedFiles, check_file, look_at
from cutroom.engines.models.manifest import Manifest, Model, ModelFile, load_manifest

STAMP = ".verified.json"
MAX_STAMP_BYTES = 1024 * 1024
FAULTS_TOLD = 3  # in one sentence
# A file system's clock ticks. An edit within the tick of the last change would not show, so a file has to rest first.
SETTLED_SECONDS = 2.0

# The sha256 that a file had, and how it looked then.
Known = dict[str, tuple[str, VerifiedFiles]]


def default_models_dir(environment: Mapping[str, str]) -> Path:
    """The setting, else a place among the user's own data."""
    if chosen := environment.get("CUTROOM_MODELS_DIR"):
        return Path(chosen)
    data = environment.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "cutroom" / "models"


class ModelStore:
    """One folder with a folder for each model. Whoever may write there is trusted: keep it the operator's."""

    def __init__(
        self, folder: Path, *, manifest: Manifest | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.folder = folder
        self.manifest = manifest or load_manifest()
        self._clock = clock
        self._known: dict[str, Known] = {}

    def path(self, name: str) -> Path:
        """The folder of a model whose every file is what the manifest says."""
        model = self.manifest.model(name)
        if not (faults := self.faults(model)):
            return self.folder_of(model)
        if not self.holds_any(model):
            raise EngineUnavailableError(f"The model {name} is not installed. `cutroom models pull {name}` fetches it.")
        details = "; ".join(f"{file} {fault}" for file, fault in islice(faults.items(), FAULTS_TOLD))
        raise EngineUnavailableError(f"The model {name} is damaged: {details}. `cutroom models pull {name}` mends it.")

    def faults(self, model: Model, *, afresh: bool = False) -> dict[str, str]:
        """What is wrong, by file. Files are hashed that have changed since they last were, or all of them `afresh`."""
        before: Known = {} if afresh else self._recall(model)
        after: Known = {}
        faults: dict[str, str] = {}
        for file in model.files:
            path = self.folder_of(model) / file.name
            known = before.get(file.name)
            if known is not None and known == (file.sha256, look_at(path)):
                after[file.name] = known
                continue
            checked = check_file(path, file)
            if checked.seen is None:
                faults[file.name] = checked.fault or "cannot be read"
            elif self._settled(checked.seen):
                after[file.name] = (file.sha256, checked.seen)
        if after != before:
            self._remember(model, after)
        return faults

    def holds(self, model: Model) -> bool:
        """Whether all files are there and of the right size; for lists, since nothing is hashed."""
        return all(self._has_size(model, file) for file in model.files)

    def holds_any(self, model: Model) -> bool:
        return any(look_at(self.folder_of(model) / file.name) is not None for file in model.files)

    def folder_of(self, model: Model) -> Path:
        """Where a model's files belong, be they there or not."""
        return self.folder / model.name

    def _has_size(self, model: Model, file: ModelFile) -> bool:
        seen = look_at(self.folder_of(model) / file.name)
        return seen is not None and seen.size_bytes == file.size_bytes

    def _settled(self, seen: VerifiedFiles) -> bool:
        return seen.ctime_ns < (self._clock() - SETTLED_SECONDS) * 1e9

    def _recall(self, model: Model) -> Known:
        if model.name not in self._known:
            self._known[model.name] = _read_stamp(self.folder_of(model) / STAMP)
        return self._known[model.name]

    def _remember(self, model: Model, known: Known) -> None:
        self._known[model.name] = known
        # A store that cannot be written is as good: each process then hashes for itself.
        with suppress(OSError):
            _write_stamp(self.folder_of(model) / STAMP, known)


def _read_stamp(path: Path) -> Known:
    """What an earlier process found; a stamp that cannot be read says nothing."""
    try:
        with path.open("rb") as handle:
            entries = json.loads(handle.read(MAX_STAMP_BYTES))
        return {name: (sha256, VerifiedFiles(*map(int, numbers))) for name, (sha256, numbers) in entries.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write_stamp(path: Path, known: Known) -> None:
    fresh = path.with_name(f"{path.name}.{os.getpid()}-{time.monotonic_ns()}{PART_SUFFIX}")
    try:
        fresh.write_text(json.dumps({name: (sha256, astuple(seen)) for name, (sha256, seen) in known.items()}))
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
