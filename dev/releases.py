"""Releases: their source and environment for a proof, and the checksums that freeze their migrations."""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dev.environment import PROJECT, data_dir, locked

RELEASES = PROJECT / "releases.toml"
FROZEN = ("migrations/versions/*.py", "migrations/schema/*.sql")
# What the products need that the proof of an upgrade uses.
EXTRAS = ("speech-german", "vision")
SYNC_SECONDS = 900.0


class UnavailableReleaseError(Exception):
    """The source or the packages of a release cannot be had on this machine."""


@dataclass(frozen=True, slots=True)
class Release:
    """A released version, its commit, and the SHA-256 of each file of its migrations."""

    version: str
    commit: str
    migrations: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Installation:
    """A version with an environment that can run it."""

    version: str
    folder: Path
    python: Path

    def variables(self, settings: Mapping[str, str]) -> dict[str, str]:
        """The environment of its processes: they import this version, whatever the working directory is."""
        return {**settings, "PYTHONPATH": str(self.folder), "PYTHONSAFEPATH": "1"}


def released() -> list[Release]:
    """Every release, the latest last."""
    found = tomllib.loads(RELEASES.read_text())
    return [Release(each["version"], each["commit"], each["migrations"]) for each in found["release"]]


def migration_checksums(folder: Path = PROJECT) -> dict[str, str]:
    files = sorted(path for pattern in FROZEN for path in folder.glob(pattern))
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def working_tree(version: str) -> Installation:
    return Installation(version, PROJECT, Path(sys.executable))


def install(release: Release) -> Installation:
    """Unpacks a release and makes its environment from its own lock file; a second call finds both."""
    folder = data_dir() / "releases" / release.commit[:12]
    with locked("releases"):
        if not (folder / ".installed").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            _unpack(release, folder)
            _make_environment(release, folder)
            (folder / ".installed").touch()
    return Installation(release.version, folder, folder / ".venv" / "bin" / "python")


def _unpack(release: Release, folder: Path) -> None:
    known = subprocess.run(
        ["git", "cat-file", "-e", f"{release.commit}^{{commit}}"], cwd=PROJECT, capture_output=True, check=False
    )
    if known.returncode != 0:
        message = f"commit {release.commit} of {release.version} is not in this clone: `git fetch --unshallow` gets it"
        raise UnavailableReleaseError(message)
    command = ["git", "archive", "--format=tar", release.commit]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE) as git:
        assert git.stdout is not None
        with tarfile.open(fileobj=git.stdout, mode="r|") as archive:
            archive.extractall(folder, filter="data")
    if git.returncode != 0:
        raise UnavailableReleaseError(f"`git archive {release.commit}` failed")


def _make_environment(release: Release, folder: Path) -> None:
    extras = [option for extra in EXTRAS for option in ("--extra", extra)]
    command = [
        "uv",
        "sync",
        "--quiet",
        "--frozen",
        "--no-dev",
        "--no-install-project",
        *extras,
        "--project",
        str(folder),
    ]
    ours = {"VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "PYTHONPATH"}
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SYNC_SECONDS, check=False
    )
    if done.returncode != 0:
        raise UnavailableReleaseError(f"the packages of {release.version} cannot be installed:\n{done.stderr[-2000:]}")


def main() -> int:
    """Prints the entry of a release: `python -m dev.releases 0.2.0`, at its commit."""
    [version] = sys.argv[1:]
    command = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.strip()
    print(f'[[release]]\nversion = "{version}"\ncommit = "{commit}"\n\n[release.migrations]')
    for path, checksum in migration_checksums().items():
        print(f'"{path}" = "{checksum}"')
    return 0


if __name__ == "__main__":
    sys.exit(main())
