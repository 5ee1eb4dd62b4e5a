"""The local model store, which verifies files before an adapter gets them."""

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import astuple
from itertools import islice
from pathlib import Path

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.files import PART_SUFFIX, FileStamp, check_file, file_stamp
from cutroom.engines.models.manifest import Manifest, Model, ModelFile
from cutroom.engines.models.manifest_reader import load_manifest

STAMP = ".verified.json"
MAX_STAMP_BYTES = 1024 * 1024
MAX_LISTED_FAULTS = 3  # in an error message
# An edit within the timestamp granularity would go unnoticed, so recently changed files are not trusted.
SETTLED_SECONDS = 2.0

# Verified sha256 and stamp by file name.
Verified = dict[str, tuple[str, FileStamp]]


def default_models_dir(environment: Mapping[str, str]) -> Path:
    """The setting, else a place among the user's own data."""
    if chosen := environment.get("CUTROOM_MODELS_DIR"):
        return Path(chosen)
    data = environment.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "cutroom" / "models"


class ModelStore:
    """A folder with one folder per model. Anyone with write access is trusted."""

    def __init__(
        self, folder: Path, *, manifest: Manifest | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.folder = folder
        self.manifest = manifest or load_manifest()
        self._clock = clock
        self._verified: dict[str, Verified] = {}

    def path(self, name: str) -> Path:
        """The folder of a model after verifying that every file matches the manifest."""
        model = self.manifest.model(name)
        if not (faults := self.faults(model)):
            return self.folder_of(model)
        if not self.has_any_file(model):
            raise EngineUnavailableError(f"The model {name} is not installed. Run `cutroom-server models pull {name}`.")
        details = "; ".join(f"{file} {fault}" for file, fault in islice(faults.items(), MAX_LISTED_FAULTS))
        raise EngineUnavailableError(
            f"The model {name} is damaged: {details}. Run `cutroom-server models pull {name}` to repair it."
        )

    def faults(self, model: Model, *, rehash: bool = False) -> dict[str, str]:
        """Faults by file name. Hashes files that changed since the last check, or all with `rehash`."""
        before: Verified = {} if rehash else self._load_verified(model)
        after: Verified = {}
        faults: dict[str, str] = {}
        for file in model.files:
            path = self.folder_of(model) / file.name
            known = before.get(file.name)
            if known is not None and known == (file.sha256, file_stamp(path)):
                after[file.name] = known
                continue
            checked = check_file(path, file)
            if checked.stamp is None:
                faults[file.name] = checked.fault or "cannot be read"
            elif self._is_settled(checked.stamp):
                after[file.name] = (file.sha256, checked.stamp)
        if after != before:
            self._save_verified(model, after)
        return faults

    def is_complete(self, model: Model) -> bool:
        """Whether all files exist with the right size, without hashing."""
        return all(self._has_size(model, file) for file in model.files)

    def has_any_file(self, model: Model) -> bool:
        return any(file_stamp(self.folder_of(model) / file.name) is not None for file in model.files)

    def folder_of(self, model: Model) -> Path:
        """The model's folder, whether or not it exists."""
        return self.folder / model.name

    def _has_size(self, model: Model, file: ModelFile) -> bool:
        stamp = file_stamp(self.folder_of(model) / file.name)
        return stamp is not None and stamp.size_bytes == file.size_bytes

    def _is_settled(self, stamp: FileStamp) -> bool:
        return stamp.ctime_ns < (self._clock() - SETTLED_SECONDS) * 1e9

    def _load_verified(self, model: Model) -> Verified:
        if model.name not in self._verified:
            self._verified[model.name] = _read_stamp(self.folder_of(model) / STAMP)
        return self._verified[model.name]

    def _save_verified(self, model: Model, known: Verified) -> None:
        self._verified[model.name] = known
        # A read-only store works too: each process then hashes for itself.
        with suppress(OSError):
            _write_stamp(self.folder_of(model) / STAMP, known)


def installed_directions(store: ModelStore, *, prefix: str) -> dict[tuple[str, str], Model]:
    """The installed translation model of each direction; of several, the one with the highest published score."""
    best: dict[tuple[str, str], tuple[float, Model]] = {}
    for model in store.manifest.models.values():
        if model.direction is None or not model.name.startswith(prefix) or not store.is_complete(model):
            continue
        pair, score = (model.direction.source, model.direction.target), model.direction.flores_comet or 0.0
        if pair not in best or score > best[pair][0]:
            best[pair] = (score, model)
    return {pair: model for pair, (_, model) in best.items()}


def installed_models(store: ModelStore, *, prefix: str) -> list[Model]:
    """Complete models whose names start with the prefix; their files have not been verified."""
    models = store.manifest.models.values()
    return [model for model in models if model.name.startswith(prefix) and store.is_complete(model)]


def _read_stamp(path: Path) -> Verified:
    """Results of earlier processes; an unreadable stamp file is ignored."""
    try:
        with path.open("rb") as handle:
            entries = json.loads(handle.read(MAX_STAMP_BYTES))
        return {name: (sha256, FileStamp(*map(int, numbers))) for name, (sha256, numbers) in entries.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write_stamp(path: Path, known: Verified) -> None:
    fresh = path.with_name(f"{path.name}.{os.getpid()}-{time.monotonic_ns()}{PART_SUFFIX}")
    try:
        fresh.write_text(json.dumps({name: (sha256, astuple(stamp)) for name, (sha256, stamp) in known.items()}))
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
