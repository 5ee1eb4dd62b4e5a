"""The model manifest: files with hashes, licenses and sources."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from cutroom.engines.errors import EngineUnavailableError

BUNDLED_MANIFEST = Path(__file__).with_name("manifest.toml")
MAX_MODELS = 500
MAX_FILES = 500  # in one model
MAX_PARTS = 500  # of one file
MAX_FILE_BYTES = 32 * 1024**3

# Formats that run code when loaded. A .bin may be one too, which files.py detects by its first bytes.
UNSAFE_SUFFIXES = (".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib", ".dill", ".npz", ".zip", ".tar")
SAFETENSORS_SUFFIX = ".safetensors"

# None may start with a dash or a dot: names become program arguments and file names.
_MODEL_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_VERSION = re.compile(r"[0-9][A-Za-z0-9.+!-]{0,63}")
_PLATFORM = re.compile(r"[a-z][a-z0-9_]{0,63}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_FOLDER = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*)?")


class ModelTask(StrEnum):
    """What a model is used for."""

    RECOGNITION = "recognition"
    VOICE_ACTIVITY_DETECTION = "voice_activity_detection"
    SPEAKER_EMBEDDING = "speaker_embedding"
    TRANSLATION = "translation"
    SYNTHESIS = "synthesis"
    SOURCE_SEPARATION = "source_separation"
    FACE_DETECTION = "face_detection"
    BACKGROUND_REMOVAL = "background_removal"
    TEXT_EMBEDDING = "text_embedding"
    TEXT_GENERATION = "text_generation"


class PackageRegistry(StrEnum):
    """Package registries that may serve models."""

    PYPI = "pypi"
    NPM = "npm"


_PACKAGE_NAME = {
    PackageRegistry.PYPI: re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"),
    PackageRegistry.NPM: re.compile(r"(?:@[a-z0-9][a-z0-9._-]{0,63}/)?[a-z0-9][a-z0-9._-]{0,127}"),
}


@dataclass(frozen=True, slots=True)
class ModelPackage:
    """One version of a registry package; `platform` is the wheel's platform tag, if any."""

    registry: PackageRegistry
    name: str
    version: str
    platform: str | None = None

    def __post_init__(self) -> None:
        _check(self.name, _PACKAGE_NAME[self.registry], "a package name")
        _check(self.version, _VERSION, "an exact package version")
        if self.platform is not None:
            _check(self.platform, _PLATFORM, "a wheel platform tag")

    def __str__(self) -> str:
        return f"{self.registry} package {self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class ModelComponent:
    """A member of a package: a model file, or one of its parts."""

    package: ModelPackage
    member: str


@dataclass(frozen=True, slots=True)
class TorchPickle:
    """A pinned torch file with arrays; read only during a pull, never unpickled, and not kept."""

    size_bytes: int
    sha256: str

    def __post_init__(self) -> None:
        _check_pin("a pickle", self.size_bytes, self.sha256)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One model file: the concatenation of its parts, or the arrays of a torch file built that way."""

    name: str
    size_bytes: int
    sha256: str
    parts: tuple[ModelComponent, ...] = ()
    arrays_of: TorchPickle | None = None

    def __post_init__(self) -> None:
        _check(self.name, _FILE_NAME, "a file name")
        _check_pin(self.name, self.size_bytes, self.sha256)
        if self.name.lower().endswith(UNSAFE_SUFFIXES):
            raise ValueError(f"{self.name}: formats that run code when loaded are not allowed; convert it first")
        if self.arrays_of is not None and not (self.parts and self.name.endswith(SAFETENSORS_SUFFIX)):
            raise ValueError(f"{self.name}: arrays_of needs parts and a {SAFETENSORS_SUFFIX} file name")

    @property
    def parts_bytes(self) -> int:
        """Size of the concatenated parts."""
        return self.arrays_of.size_bytes if self.arrays_of else self.size_bytes


@dataclass(frozen=True, slots=True)
class HubLocation:
    """A repository of a model hub, and the folder of the files in it."""

    repository: str
    folder: str = ""

    def __post_init__(self) -> None:
        _check(self.repository, _REPOSITORY, "a hub repository")
        _check(self.folder, _FOLDER, "a repository folder")


@dataclass(frozen=True, slots=True)
class Model:
    """A set of files that is pulled, verified and used together."""

    name: str
    task: ModelTask
    license: str
    about: str
    files: tuple[ModelFile, ...]
    hub: HubLocation | None = None

    def __post_init__(self) -> None:
        _check(self.name, _MODEL_NAME, "a model name")
        if not self.license:
            raise ValueError(f"{self.name}: the license is missing")
        if not 0 < len(self.files) <= MAX_FILES or len({file.name.lower() for file in self.files}) < len(self.files):
            raise ValueError(f"{self.name}: a model needs 1 to {MAX_FILES} files with unique names")
        if any(len(file.parts) > MAX_PARTS for file in self.files):
            raise ValueError(f"{self.name}: a file may have at most {MAX_PARTS} parts")
        if self.hub is None and not self.in_registries:
            raise ValueError(f"{self.name}: a model without a hub needs parts for every file")

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    @property
    def in_registries(self) -> bool:
        """Whether registry packages provide every file."""
        return all(file.parts for file in self.files)

    @property
    def packages(self) -> tuple[ModelPackage, ...]:
        """Unique packages in the order the files need them."""
        return tuple(dict.fromkeys(part.package for file in self.files for part in file.parts))


@dataclass(frozen=True, slots=True)
class Manifest:
    """All models by name, and named sets of models."""

    models: Mapping[str, Model]
    sets: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        for name, members in self.sets.items():
            if unknown := [member for member in members if member not in self.models]:
                raise ValueError(f"the set {name} contains unknown models: {', '.join(unknown)}")

    def model(self, name: str) -> Model:
        if name not in self.models:
            raise EngineUnavailableError(f"Unknown model: {name}. `cutroom-server models list` lists all models.")
        return self.models[name]


def load_manifest(path: Path | None = None) -> Manifest:
    """Loads and validates a manifest; raises ValueError on any error."""
    return read_manifest((path or BUNDLED_MANIFEST).read_text(encoding="utf-8"))


def read_manifest(text: str) -> Manifest:
    tables = tomllib.loads(text)
    _check_keys(tables, {"models"}, optional={"sets"}, what="a manifest")
    try:
        models = [_model(table) for table in tables["models"]]
    except (TypeError, AttributeError) as error:
        raise ValueError(f"the manifest has a value of the wrong type: {error}") from error
    if len(models) > MAX_MODELS or len({model.name for model in models}) < len(models):
        raise ValueError(f"a manifest may have at most {MAX_MODELS} models with unique names")
    sets = {name: tuple(members) for name, members in tables.get("sets", {}).items()}
    return Manifest(models={model.name: model for model in models}, sets=sets)


def _model(table: Mapping[str, Any]) -> Model:
    _check_keys(table, {"name", "task", "license", "about", "files"}, optional={"hub", "packages"}, what="a model")
    name = table["name"]
    packages = {key: _package(value) for key, value in table.get("packages", {}).items()}
    model = Model(
        name=name,
        task=ModelTask(table["task"]),
        license=table["license"],
        about=table["about"],
        files=tuple(_file(value, packages) for value in table["files"]),
        hub=_hub(table["hub"]) if "hub" in table else None,
    )
    if unused := set(packages.values()) - set(model.packages):
        raise ValueError(f"{name}: unused packages: {', '.join(map(str, unused))}")
    return model


def _hub(table: Mapping[str, Any]) -> HubLocation:
    _check_keys(table, {"repository"}, optional={"folder"}, what="a hub")
    return HubLocation(**table)


def _package(table: Mapping[str, Any]) -> ModelPackage:
    _check_keys(table, {"registry", "name", "version"}, optional={"platform"}, what="a package")
    return ModelPackage(**{**table, "registry": PackageRegistry(table["registry"])})


def _file(table: Mapping[str, Any], packages: Mapping[str, ModelPackage]) -> ModelFile:
    _check_keys(table, {"name", "size_bytes", "sha256"}, optional={"parts", "arrays_of"}, what="a file")
    parts = tuple(_part(text, packages) for text in table.get("parts", ()))
    arrays_of = _pickle(table["arrays_of"]) if "arrays_of" in table else None
    return ModelFile(table["name"], table["size_bytes"], sha256=table["sha256"], parts=parts, arrays_of=arrays_of)


def _pickle(table: Mapping[str, Any]) -> TorchPickle:
    _check_keys(table, {"size_bytes", "sha256"}, optional=set(), what="a pickle")
    return TorchPickle(**table)


def _part(text: str, packages: Mapping[str, ModelPackage]) -> ModelComponent:
    package, colon, member = text.partition(":")
    if not colon or not member or package not in packages:
        raise ValueError(f"{text}: a part must be package:member with a package of the model")
    return ModelComponent(packages[package], member)


def _check_pin(name: str, size_bytes: object, sha256: object) -> None:
    _check(sha256, _SHA256, f"the sha256 of {name}")
    if type(size_bytes) is not int or not 0 < size_bytes <= MAX_FILE_BYTES:
        raise ValueError(f"{name}: size_bytes must be an integer from 1 to {MAX_FILE_BYTES}")


def _check(value: object, pattern: re.Pattern[str], what: str) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(f"{value!r} is not {what}")


def _check_keys(table: Mapping[str, Any], required: set[str], *, optional: set[str], what: str) -> None:
    if missing := required - set(table):
        raise ValueError(f"{what} is missing {', '.join(sorted(missing))}: {table.get('name', '')}")
    if unknown := set(table) - required - optional:
        raise ValueError(f"{what} has unknown keys {', '.join(sorted(unknown))}: {table.get('name', '')}")
