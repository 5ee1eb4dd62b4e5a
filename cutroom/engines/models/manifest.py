"""The model manifest: models, their files with hashes, licenses and sources."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from cutroom.engines.errors import EngineUnavailableError

MAX_FILES = 500  # in one model
MAX_PARTS = 500  # of one file
MAX_FILE_BYTES = 32 * 1024**3
MAX_PITCH_HZ = 600
GENDERS = ("female", "male", "neutral")
AGES = ("young", "middle-aged", "old")

# Formats that run code when loaded. A .bin may be one too, which files.py detects by its first bytes.
UNSAFE_SUFFIXES = (".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib", ".dill", ".npz", ".zip", ".tar")
SAFETENSORS_SUFFIX = ".safetensors"
GZIP_SUFFIX = ".gz"

# None may start with a dash or a dot: names become program arguments and file names.
_MODEL_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_VERSION = re.compile(r"[0-9][A-Za-z0-9.+!-]{0,63}")
_PLATFORM = re.compile(r"[a-z][a-z0-9_]{0,63}")
_PYTHON = re.compile(r"3\.\d{1,2}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_FOLDER = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*)?")
_VOICE_TEXT = re.compile(r"[^\x00-\x1f/]{0,80}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-[A-Z]{2})?")


class ModelTask(StrEnum):
    """What a model is used for."""

    RECOGNITION = "recognition"
    VOICE_ACTIVITY_DETECTION = "voice_activity_detection"
    SPEAKER_EMBEDDING = "speaker_embedding"
    SPEAKER_SEGMENTATION = "speaker_segmentation"
    TRANSLATION = "translation"
    SYNTHESIS = "synthesis"
    SOURCE_SEPARATION = "source_separation"
    FACE_DETECTION = "face_detection"
    FACE_LANDMARKS = "face_landmarks"
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
    """One version of a registry package; `platform` and `python` are tags of the wheel, if it has any."""

    registry: PackageRegistry
    name: str
    version: str
    platform: str | None = None
    python: str | None = None

    def __post_init__(self) -> None:
        _check(self.name, _PACKAGE_NAME[self.registry], "a package name")
        _check(self.version, _VERSION, "an exact package version")
        if self.platform is not None:
            _check(self.platform, _PLATFORM, "a wheel platform tag")
        if self.python is not None:
            _check(self.python, _PYTHON, "a Python version")

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
class GzipPin:
    """The gzip file that a mirror serves in place of a model file; unpacked during a pull, and not kept."""

    size_bytes: int
    sha256: str

    def __post_init__(self) -> None:
        _check_pin("a gzip file", self.size_bytes, self.sha256)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One model file: the concatenation of its parts, the arrays of a torch file, or an unpacked gzip file."""

    name: str
    size_bytes: int
    sha256: str
    parts: tuple[ModelComponent, ...] = ()
    arrays_of: TorchPickle | None = None
    gzip: GzipPin | None = None

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

    @property
    def served(self) -> "ModelFile":
        """The file as a mirror serves it: gzipped, or as it is."""
        if self.gzip is None:
            return self
        return ModelFile(self.name + GZIP_SUFFIX, self.gzip.size_bytes, sha256=self.gzip.sha256)

    @property
    def pull_bytes(self) -> int:
        """Disk space that pulling the file takes."""
        return self.size_bytes + (self.gzip.size_bytes if self.gzip else 0)


@dataclass(frozen=True, slots=True)
class HubLocation:
    """A repository of a model hub, and the folder of the files in it."""

    repository: str
    folder: str = ""

    def __post_init__(self) -> None:
        _check(self.repository, _REPOSITORY, "a hub repository")
        _check(self.folder, _FOLDER, "a repository folder")


@dataclass(frozen=True, slots=True)
class Direction:
    """The source and target language of a translation model, and its published COMET score on FLORES-200."""

    source: str
    target: str
    flores_comet: float | None = None

    def __post_init__(self) -> None:
        for language in (self.source, self.target):
            _check(language, _LANGUAGE, "a language tag")
        if self.source == self.target:
            raise ValueError(f"{self.source}: a direction needs two languages")
        if self.flores_comet is not None and not 0 < self.flores_comet <= 1:
            raise ValueError("flores_comet must be a number above 0 and up to 1")


@dataclass(frozen=True, slots=True)
class ModelVoice:
    """A voice of a synthesis model; `speaker` is its name inside a model of several. Zero is an unknown pitch."""

    speaker: str = ""
    title: str = ""
    gender: str = "neutral"
    age: str = "middle-aged"
    pitch_hz: float = 0.0

    def __post_init__(self) -> None:
        if self.gender not in GENDERS or self.age not in AGES:
            raise ValueError(f"a voice must be {', '.join(GENDERS)}, and {', '.join(AGES)}")
        for text in (self.speaker, self.title):
            _check(text, _VOICE_TEXT, "a speaker or title of a voice")
        if not 0 <= self.pitch_hz <= MAX_PITCH_HZ:
            raise ValueError(f"pitch_hz must be a number up to {MAX_PITCH_HZ}")


@dataclass(frozen=True, slots=True)
class Model:
    """A set of files that is pulled, verified and used together; `mirror` is its folder on a mirror."""

    name: str
    task: ModelTask
    license: str
    about: str
    files: tuple[ModelFile, ...]
    hub: HubLocation | None = None
    mirror: str | None = None
    direction: Direction | None = None
    voices: tuple[ModelVoice, ...] = ()

    def __post_init__(self) -> None:
        _check(self.name, _MODEL_NAME, "a model name")
        if not self.license:
            raise ValueError(f"{self.name}: the license is missing")
        if not 0 < len(self.files) <= MAX_FILES or len({file.name.lower() for file in self.files}) < len(self.files):
            raise ValueError(f"{self.name}: a model needs 1 to {MAX_FILES} files with unique names")
        if any(len(file.parts) > MAX_PARTS for file in self.files):
            raise ValueError(f"{self.name}: a file may have at most {MAX_PARTS} parts")
        self._check_sources()
        if self.direction is not None and self.task is not ModelTask.TRANSLATION:
            raise ValueError(f"{self.name}: only translation models have a direction")
        if self.voices and self.task is not ModelTask.SYNTHESIS:
            raise ValueError(f"{self.name}: only synthesis models have voices")
        if len({voice.speaker for voice in self.voices}) < len(self.voices):
            raise ValueError(f"{self.name}: voices need unique speakers")

    def _check_sources(self) -> None:
        if self.mirror is None:
            if any(file.gzip for file in self.files):
                raise ValueError(f"{self.name}: only a mirror serves gzip files")
            if self.hub is None and not self.in_registries:
                raise ValueError(f"{self.name}: a model without a hub or a mirror needs parts for every file")
            return
        _check(self.mirror, _FOLDER, "a mirror folder")
        if self.hub is not None or any(file.parts for file in self.files):
            raise ValueError(f"{self.name}: a model has either a mirror, or a hub or packages")

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
            if name in self.models:
                raise ValueError(f"{name} is the name of a set and of a model")
            if unknown := [member for member in members if member not in self.models]:
                raise ValueError(f"the set {name} contains unknown models: {', '.join(unknown)}")

    def model(self, name: str) -> Model:
        if name not in self.models:
            raise EngineUnavailableError(f"Unknown model: {name}. `cutroom-server models list` lists all models.")
        return self.models[name]


def _check_pin(name: str, size_bytes: object, sha256: object) -> None:
    _check(sha256, _SHA256, f"the sha256 of {name}")
    if type(size_bytes) is not int or not 0 < size_bytes <= MAX_FILE_BYTES:
        raise ValueError(f"{name}: size_bytes must be an integer from 1 to {MAX_FILE_BYTES}")


def _check(value: object, pattern: re.Pattern[str], what: str) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(f"{value!r} is not {what}")
