"""The list of every model: its files and their hashes, its licence, and where it can be had."""

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

# What runs code when it is loaded. A .bin may be one too: its first bytes tell, once it is here (store.py).
PICKLES = (".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib", ".dill", ".npz", ".zip", ".tar")
ARRAYS = ".safetensors"

# None of these can begin with a dash or a dot: names become arguments of programs, and files in folders.
_MODEL_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_VERSION = re.compile(r"[0-9][A-Za-z0-9.+!-]{0,63}")
_PLATFORM = re.compile(r"[a-z][a-z0-9_]{0,63}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_FOLDER = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*)?")


class ModelTask(StrEnum):
    """What a model is for."""

    RECOGNISE = "transcribe"
    DETECT_VOICE = "detect-voice"
    PROFILE_VOICES = "profile-voices"
    TRANSLATE = "translate"
    SPEAK = "speak"
    SEPARATE = "separate"
    FIND_FACES = "find-faces"
    CUT_OUT = "cut-out"
    EMBED = "embed"
    WRITE = "write"


class Registry(StrEnum):
    """Whose packages may carry models."""

    PYPI = "pypi"
    NPM = "npm"


_PACKAGE_NAME = {
    Registry.PYPI: re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"),
    Registry.NPM: re.compile(r"(?:@[a-z0-9][a-z0-9._-]{0,63}/)?[a-z0-9][a-z0-9._-]{0,127}"),
}


@dataclass(frozen=True, slots=True)
class Package:
    """A registry package of one version; the platform is that of its wheel, where it is built for one."""

    registry: Registry
    name: str
    version: str
    platform: str | None = None

    def __post_init__(self) -> None:
        _check(self.name, _PACKAGE_NAME[self.registry], "the name of a package")
        _check(self.version, _VERSION, "one version of a package")
        if self.platform is not None:
            _check(self.platform, _PLATFORM, "the platform of a wheel")

    def __str__(self) -> str:
        return f"{self.registry} package {self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class ModelComponent:
    """A member of a package: a file, or a stretch of one."""

    package: Package
    member: str


@dataclass(frozen=True, slots=True)
class Pickle:
    """A torch file of arrays. It is read only while a model is pulled, never unpickled, and not kept."""

    size_bytes: int
    sha256: str

    def __post_init__(self) -> None:
        _check_pin("a pickle", self.size_bytes, self.sha256)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file; its parts, joined in order, give it, or a pickle whose arrays are the file."""

    name: str
    size_bytes: int
    sha256: str
    parts: tuple[ModelComponent, ...] = ()
    arrays_of: Pickle | None = None

    def __post_init__(self) -> None:
        _check(self.name, _FILE_NAME, "the name of a file")
        _check_pin(self.name, self.size_bytes, self.sha256)
        if self.name.lower().endswith(PICKLES):
            raise ValueError(f"{self.name}: formats that run code when they are loaded are not taken; convert it first")
        if self.arrays_of is not None and not (self.parts and self.name.endswith(ARRAYS)):
            raise ValueError(f"{self.name}: the arrays of a pickle have parts to come from, and become {ARRAYS}")

    @property
    def parts_bytes(self) -> int:
        """The size of what the parts give when they are joined."""
        return self.arrays_of.size_bytes if self.arrays_of else self.size_bytes


@dataclass(frozen=True, slots=True)
class Hub:
    """A repository of a model hub, and the folder in it where the files are."""

    repository: str
    folder: str = ""

    def __post_init__(self) -> None:
        _check(self.repository, _REPOSITORY, "a repository of a hub")
        _check(self.folder, _FOLDER, "a folder of a repository")


@dataclass(frozen=True, slots=True)
class Model:
    """What is pulled, verified and used as one."""

    name: str
    job: ModelTask
    licence: str
    about: str
    files: tuple[ModelFile, ...]
    hub: Hub | None = None

    def __post_init__(self) -> None:
        _check(self.name, _MODEL_NAME, "the name of a model")
        if not self.licence:
            raise ValueError(f"{self.name}: a model has a licence")
        if not 0 < len(self.files) <= MAX_FILES or len({file.name.lower() for file in self.files}) < len(self.files):
            raise ValueError(f"{self.name}: a model has 1 to {MAX_FILES} files, each of another name")
        if any(len(file.parts) > MAX_PARTS for file in self.files):
            raise ValueError(f"{self.name}: a file has at most {MAX_PARTS} parts")
        if self.hub is None and not self.in_registries:
            raise ValueError(f"{self.name}: a model without a hub needs parts for every file")

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    @property
    def in_registries(self) -> bool:
        """Whether registry packages alone give every file."""
        return all(file.parts for file in self.files)

    @property
    def packages(self) -> tuple[Package, ...]:
        """In the order in which the files need them, each once."""
        return tuple(dict.fromkeys(part.package for file in self.files for part in file.parts))


@dataclass(frozen=True, slots=True)
class Manifest:
    """All models by name, and named sets of them."""

    models: Mapping[str, Model]
    sets: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        for name, members in self.sets.items():
            if unknown := [member for member in members if member not in self.models]:
                raise ValueError(f"the set {name} names models that are not there: {', '.join(unknown)}")

    def model(self, name: str) -> Model:
        if name not in self.models:
            raise EngineUnavailableError(f"There is no model {name}. `cutroom models list` shows those there are.")
        return self.models[name]


def load_manifest(path: Path | None = None) -> Manifest:
    """Read a manifest; one with an error anywhere is refused as a whole."""
    return read_manifest((path or BUNDLED_MANIFEST).read_text(encoding="utf-8"))


def read_manifest(text: str) -> Manifest:
    tables = tomllib.loads(text)
    _check_keys(tables, {"models"}, optional={"sets"}, what="a manifest")
    try:
        models = [_model(table) for table in tables["models"]]
    except (TypeError, AttributeError) as error:
        raise ValueError(f"a table, a list or a text stands where another should: {error}") from error
    if len(models) > MAX_MODELS or len({model.name for model in models}) < len(models):
        raise ValueError(f"a manifest has at most {MAX_MODELS} models, each of another name")
    sets = {name: tuple(members) for name, members in tables.get("sets", {}).items()}
    return Manifest(models={model.name: model for model in models}, sets=sets)


def _model(table: Mapping[str, Any]) -> Model:
    _check_keys(table, {"name", "job", "licence", "about", "files"}, optional={"hub", "packages"}, what="a model")
    name = table["name"]
    packages = {key: _package(value) for key, value in table.get("packages", {}).items()}
    model = Model(
        name=name,
        job=ModelTask(table["job"]),
        licence=table["licence"],
        about=table["about"],
        files=tuple(_file(value, packages) for value in table["files"]),
        hub=_hub(table["hub"]) if "hub" in table else None,
    )
    if unused := set(packages.values()) - set(model.packages):
        raise ValueError(f"{name}: no file has a part in {', '.join(map(str, unused))}")
    return model


def _hub(table: Mapping[str, Any]) -> Hub:
    _check_keys(table, {"repository"}, optional={"folder"}, what="a hub")
    return Hub(**table)


def _package(table: Mapping[str, Any]) -> Package:
    _check_keys(table, {"registry", "name", "version"}, optional={"platform"}, what="a package")
    return Package(**{**table, "registry": Registry(table["registry"])})


def _file(table: Mapping[str, Any], packages: Mapping[str, Package]) -> ModelFile:
    _check_keys(table, {"name", "size_bytes", "sha256"}, optional={"parts", "arrays_of"}, what="a file")
    parts = tuple(_part(text, packages) for text in table.get("parts", ()))
    arrays_of = _pickle(table["arrays_of"]) if "arrays_of" in table else None
    return ModelFile(table["name"], table["size_bytes"], sha256=table["sha256"], parts=parts, arrays_of=arrays_of)


def _pickle(table: Mapping[str, Any]) -> Pickle:
    _check_keys(table, {"size_bytes", "sha256"}, optional=set(), what="a pickle")
    return Pickle(**table)


def _part(text: str, packages: Mapping[str, Package]) -> ModelComponent:
    package, colon, member = text.partition(":")
    if not colon or not member or package not in packages:
        raise ValueError(f"{text}: a part is package:member, of a package that the model lists")
    return ModelComponent(packages[package], member)


def _check_pin(name: str, size_bytes: object, sha256: object) -> None:
    _check(sha256, _SHA256, f"the sha256 of {name}")
    if type(size_bytes) is not int or not 0 < size_bytes <= MAX_FILE_BYTES:
        raise ValueError(f"{name}: size_bytes is a whole number from 1 to {MAX_FILE_BYTES}")


def _check(value: object, pattern: re.Pattern[str], what: str) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(f"{value!r} is not {what}")


def _check_keys(table: Mapping[str, Any], required: set[str], *, optional: set[str], what: str) -> None:
    if missing := required - set(table):
        raise ValueError(f"{what} misses {', '.join(sorted(missing))}: {table.get('name', '')}")
    if unknown := set(table) - required - optional:
        raise ValueError(f"{what} has no {', '.join(sorted(unknown))}: {table.get('name', '')}")
