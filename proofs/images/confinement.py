"""What the processes of running containers are and may do, seen from the host."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.environment import PROJECT
from proofs.images.installation import NAME
from proofs.stage.container_images import Podman

COMPILERS = ("cc", "gcc", "g++", "c++", "clang", "tcc", "ld", "as", "make", "go", "rustc", "cargo", "nvcc")
BILL = "/usr/share/cutroom/sbom.json"
PROJECT_VOLUME = f"{NAME}_"
SERVICE_LABEL = "com.docker.compose.service"


@dataclass(frozen=True, slots=True)
class Container:
    """A running container of the compose project."""

    id: str
    service: str
    pid: int
    declared: tuple[str, ...]  # writable volumes and tmpfs


@dataclass(frozen=True, slots=True)
class Writable:
    """Paths that a container can write to."""

    declared: list[str]
    undeclared: list[str]


def running_containers(podman: Podman, project: str) -> list[Container]:
    """The project's running containers."""
    label = f"label=io.podman.compose.project={project}"
    names = podman("ps", "--filter", label, "--format", "{{.Names}}").split()
    found = json.loads(podman("inspect", *names)) if names else []
    return sorted((_container(each) for each in found), key=lambda each: each.service)


def _container(found: dict[str, Any]) -> Container:
    # Volumes without a name are declared by the image only.
    volumes = [each["Destination"] for each in found["Mounts"] if each["RW"] and PROJECT_VOLUME in each.get("Name", "")]
    declared = (*volumes, *(found["HostConfig"]["Tmpfs"] or ()))
    return Container(found["Id"], found["Config"]["Labels"][SERVICE_LABEL], found["State"]["Pid"], declared)


def process_users(container: Container) -> Iterator[tuple[str, set[int]]]:
    """Name and user ids, on the host, of every process in the container's control group, sandboxes included."""
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and container.id in (folder / "cgroup").read_text():
                status = dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines())
                yield status["Name"], {int(each) for each in status["Uid"].split()}


def writable_paths(container: Container) -> Writable:
    """What the container's user can write to, tried on every path of its file system."""
    command = [sys.executable, "-m", "proofs.images.write_probe", str(container.pid), *container.declared]
    found = json.loads(subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.PIPE).stdout)
    paths: set[str] = set(found["writable"])
    inside = {path for path in paths if any(Path(path).is_relative_to(each) for each in found["declared"])}
    return Writable(sorted(inside), sorted(paths - inside))


def compilers(podman: Podman, image: str) -> list[str]:
    """Compilers and linkers in the image, wherever PATH leads."""
    names = " ".join(COMPILERS)
    script = f'for name in {names}; do command -v "$name"; done; true'
    return podman("run", "--rm", "--network=none", "--entrypoint=sh", image, "-c", script).split()


def bill_of_materials(podman: Podman, image: str) -> dict[str, int]:
    """Number of Python and of Debian packages in the image's bill of materials."""
    text = podman("run", "--rm", "--network=none", "--entrypoint=cat", image, BILL)
    purls = [each.get("purl", "") for each in json.loads(text)["components"]]
    return {kind: sum(purl.startswith(f"pkg:{kind}/") for purl in purls) for kind in ("pypi", "deb")}
