"""Stand-ins for the base images of the Dockerfile and compose.yaml, made from Debian packages.

For machines without an image registry, and for proofs only: nothing of the product is built on them. Each has the name
of the image that it replaces, and the part of its interface that we use. The base is made once per data directory.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from dev.environment import data_dir

DEBIAN = "bookworm"
BASE = "localhost/cutroom-standin-base:bookworm"
BASE_PACKAGES = ("ca-certificates", "libpython3.11-dev", "python3", "python3-pip", "python3-venv")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
STANDINS = Path(__file__).parent / "standins"  # a Containerfile and its files per image
PROGRAMS = ("podman", "runc", "mmdebstrap", "iptables")

# runc works with every cgroup layout. Podman would raise the limits, which may not be permitted.
CONTAINERS_CONF = """\
[containers]
default_ulimits = ["nofile=16000:16000", "nproc=16000:16000"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
runtime = "runc"
static_dir = "{folder}/storage/libpod"  # where podman looks for it when it is started with --root
tmp_dir = "{folder}/tmp"
volume_path = "{folder}/volumes"
[network]
network_config_dir = "{folder}/networks"
"""
STORAGE_CONF = """\
[storage]
driver = "overlay"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
"""


class ContainerError(Exception):
    """Podman is not usable on this machine, or one of its commands failed."""


@dataclass(frozen=True, slots=True)
class Standin:
    """An image made from Debian packages in place of one from a registry."""

    name: str  # as the Dockerfile or compose.yaml names it
    folder: str  # in `standins/`


PYTHON = Standin("localhost/python:3.11-slim-bookworm", "python")
POSTGRES = Standin("localhost/postgres:15-bookworm", "postgres")
REDIS = Standin("localhost/redis:7.2-bookworm", "redis")


class Podman:
    """Podman with storage, networks and locks below the data directory, apart from others on the machine."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or data_dir() / "containers"

    @property
    def environment(self) -> dict[str, str]:
        """Variables that make `podman` and `podman-compose` use this storage."""
        return {
            **os.environ,
            "CONTAINERS_CONF": str(self.folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.folder / "storage.conf"),
            "BUILDAH_FORMAT": "docker",
        }

    def prepare(self) -> None:
        """Write the configuration, and run one command that fails if podman cannot work here."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in (("containers.conf", CONTAINERS_CONF), ("storage.conf", STORAGE_CONF)):
            (self.folder / name).write_text(text.format(folder=self.folder))
        self("info")

    def __call__(self, *arguments: str, check: bool = True, variables: Mapping[str, str] | None = None) -> str:
        """Run a podman command and return its output."""
        return self.run(("podman", *arguments), check=check, variables=variables).stdout

    def run(
        self, command: Sequence[str], *, check: bool = True, variables: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command in this environment; raises ContainerError with the end of its output if it fails."""
        environment = {**self.environment, **(variables or {})}
        try:
            done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
        except FileNotFoundError as error:
            raise ContainerError(f"{command[0]} is not installed: `just setup` installs it") from error
        if check and done.returncode != 0:
            tail = (done.stderr or done.stdout)[-2000:]
            raise ContainerError(f"`{' '.join(command)[:200]}` failed with {done.returncode}:\n{tail}")
        return done

    def has_image(self, name: str) -> bool:
        return self.run(("podman", "image", "exists", name), check=False).returncode == 0


def ensure_standins(podman: Podman, standins: Sequence[Standin] = (PYTHON, POSTGRES, REDIS)) -> None:
    """Make the stand-ins that do not exist yet."""
    if not podman.has_image(BASE):
        _import_base(podman)
    for standin in standins:
        if not podman.has_image(standin.name):
            _build(podman, standin)


def _import_base(podman: Podman) -> None:
    with TemporaryDirectory(prefix="cutroom-base-") as name:
        archive = Path(name) / "base.tar"
        include = f"--include={','.join(BASE_PACKAGES)}"
        podman.run(("mmdebstrap", "--variant=apt", include, DEBIAN, str(archive)))
        podman("import", str(archive), BASE)


def _build(podman: Podman, standin: Standin) -> None:
    with TemporaryDirectory(prefix="cutroom-standin-") as name:
        context = Path(name)
        shutil.copytree(STANDINS / standin.folder, context, dirs_exist_ok=True)
        shutil.copy(CERTIFICATES, context / "ca-certificates.crt")  # of a proxy in front of the package registries
        podman("build", "--network=host", "--pull-never", f"--build-arg=BASE={BASE}", "-t", standin.name, name)
