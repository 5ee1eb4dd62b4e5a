"""A single-server installation of compose.yaml in podman, as docs/deploy.md describes it."""

import json
import os
import secrets
import shutil
import ssl
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx

from dev.environment import PROJECT, port_base, write_private
from dev.probe import program_beside_python
from proofs.stage.container_images import ContainerError, Podman

NAME = "cutroomproof"
USER = 10001  # in the images
HOST = "localhost"
HTTP_PORT, HTTPS_PORT = 80, 81  # offsets from the base port
EDGE = "172.31.254"
SECRETS = ("POSTGRES", "OWNER", "API", "WORKER", "RELAY", "REDIS")
DATA = ("postgres", "redis", "temporal", "seaweedfs", "bucket")
WORKING = ("models", "worker")  # the long form only: the image takes minutes to build
SERVING = ("migrate", "api", "caddy")
LOST = ("postgres", "seaweedfs", "temporal", "uploads", "work")  # volumes that a restore starts without
ROOT_CERTIFICATE = "/data/caddy/pki/authorities/local/root.crt"
START_SECONDS = 900.0  # for a loaded machine: a container that cannot start restarts until then
POLL_SECONDS = 0.5
IMAGES = ("services", "api", "operator")
WORKER_IMAGE = "worker"


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


class Installation:
    """Drives podman-compose and the containers that it makes."""

    def __init__(self, podman: Podman, folder: Path, *, with_worker: bool = True) -> None:
        self.podman = podman
        self.folder = folder
        self.with_worker = with_worker
        self.images = (*IMAGES, WORKER_IMAGE) if with_worker else IMAGES
        self.serving = (*SERVING, *WORKING) if with_worker else SERVING
        self.services = (*DATA, *self.serving)
        self.url = f"https://{HOST}:{port_base() + HTTPS_PORT}"
        self.environment_file = folder / "compose.env"
        self.stopped_for_backup = ("caddy", "api", *(("worker",) if with_worker else ()))

    def build(self, image: str) -> None:
        """Build one image as compose.yaml would; the network is the host's, to reach package registries."""
        tag = ("--target", image, "--tag", f"cutroom-{image}")
        self.podman("build", "--network=host", "--pull-never", "--format=docker", *tag, str(PROJECT))

    def configure(self, *, models: str) -> None:
        """Fill in the settings file with new secrets and this machine's ports."""
        values = {f"CUTROOM_{name}_PASSWORD": secrets.token_hex(16) for name in SECRETS}
        values |= {f"CUTROOM_S3_{name}_KEY": secrets.token_hex(16) for name in ("ACCESS", "SECRET")}
        values |= {
            "CUTROOM_SECRET_KEY": secrets.token_hex(32),
            "CUTROOM_HOSTNAME": HOST,
            "CUTROOM_PUBLIC_URL": self.url,
            "CUTROOM_HTTP_PORT": f"127.0.0.1:{port_base() + HTTP_PORT}",
            "CUTROOM_HTTPS_PORT": f"127.0.0.1:{port_base() + HTTPS_PORT}",
            "CUTROOM_EDGE_SUBNET": f"{EDGE}.0/24",
            "CUTROOM_CADDY_ADDRESS": f"{EDGE}.2",
            "CUTROOM_MODELS": models,
        }
        write_private(self.environment_file, "".join(f"{name}={value}\n" for name, value in values.items()))

    def compose(self, *arguments: str, check: bool = True) -> str:
        """Run podman-compose on the project's file."""
        tool = str(program_beside_python("podman-compose"))
        # Podman would add writable folders to a read-only container, which Docker does not.
        options = ("--in-pod=false", "--podman-run-args=--read-only-tmpfs=false")
        files = ("--env-file", str(self.environment_file), "--file", str(PROJECT / "compose.yaml"))
        command = (tool, "--project-name", NAME, *files, *options, *arguments)
        return self.podman.run(command, check=check).stdout

    def up(self, services: Sequence[str]) -> None:
        """Start services without waiting for others: podman 4 cannot start what depends on a service that has ended.

        One-off services and processes are restarted until what they need is there.
        """
        self.compose("up", "--detach", "--no-build", "--no-deps", *services)

    def down(self) -> None:
        self.compose("down")

    def remove(self) -> None:
        """Remove the containers, volumes and networks of this installation, whatever state they are in."""
        label = f"label=io.podman.compose.project={NAME}"
        if containers := self.podman("ps", "--all", "--quiet", "--filter", label).split():
            self.podman("rm", "--force", "--depend", "--time=5", *containers)
        if volumes := [each for each in self.podman("volume", "ls", "--quiet").split() if each.startswith(f"{NAME}_")]:
            self.podman("volume", "rm", "--force", *volumes)
        self.podman("network", "rm", "--force", f"{NAME}_default", f"{NAME}_edge", check=False)

    def operator(self, *arguments: str) -> str:
        """Run `cutroom-server` in the operator container."""
        return self.compose(
            "--profile=operator", "run", "--rm", "-T", "--no-deps", "operator", "cutroom-server", *arguments
        )

    def administer(self, *arguments: str) -> dict[str, str]:
        """Run an administration command and return what it shows."""
        shown: dict[str, str] = json.loads(self.operator("admin", *arguments))
        return shown

    def volume(self, name: str) -> str:
        return f"{NAME}_{name}"

    def remove_volumes(self, names: Sequence[str]) -> None:
        """Remove volumes; raises ContainerError if one of them is still there."""
        self.podman("volume", "rm", "--force", *(self.volume(each) for each in names), check=False)
        left = set(self.podman("volume", "ls", "--quiet").split()) & {self.volume(each) for each in names}
        if left:
            raise ContainerError(f"volumes that are still in use: {', '.join(sorted(left))}")

    def install_models(self, source: Path) -> None:
        """Fill the volume of models from a folder, by hard links where they are possible; a download is not needed."""
        self.podman("volume", "create", self.volume("models"))
        target = Path(self.podman("volume", "inspect", "--format={{.Mountpoint}}", self.volume("models")).strip())
        for model in (each for each in source.resolve().iterdir() if each.is_dir()):
            shutil.copytree(model, target / model.name, copy_function=_link_or_copy)
        for folder in (target, *(each for each in target.iterdir() if each.is_dir())):
            os.chown(folder, USER, USER)

    def wait_for_bucket(self) -> None:
        """Wait until the one-off service that creates the bucket has succeeded."""
        self._wait("the bucket", lambda: self._exit_code("bucket") == 0)

    def wait_for_database(self) -> None:
        """Wait until the health check of compose.yaml succeeds."""
        check = ("podman", "healthcheck", "run", f"{NAME}_postgres_1")
        self._wait("the database", lambda: self.podman.run(check, check=False).returncode == 0)

    def wait_for_api(self) -> ssl.SSLContext:
        """Wait until everything is up; returns a context that trusts the installation's own authority."""
        self.wait_for_bucket()
        self._wait("the migration", lambda: self._exit_code("migrate") == 0)
        self._wait("Caddy's authority", lambda: "BEGIN" in self._certificate())
        context = ssl.create_default_context(cadata=self._certificate())
        self._wait("the API", lambda: self._is_serving(context))
        return context

    def _certificate(self) -> str:
        done = self.podman.run(("podman", "exec", f"{NAME}_caddy_1", "cat", ROOT_CERTIFICATE), check=False)
        return done.stdout

    def _exit_code(self, service: str) -> int | None:
        form = "{{.State.Status}} {{.State.ExitCode}}"
        done = self.podman.run(("podman", "inspect", "--format", form, f"{NAME}_{service}_1"), check=False)
        status, _, code = done.stdout.strip().partition(" ")
        return int(code) if status == "exited" else None

    def _is_serving(self, context: ssl.SSLContext) -> bool:
        try:
            return httpx.get(f"{self.url}/v1/health", verify=context, timeout=10).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def _wait(self, what: str, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            if time.monotonic() > deadline:
                raise ContainerError(f"{what} was not ready within {START_SECONDS:.0f} s:\n{self.logs()}")
            time.sleep(POLL_SECONDS)

    def logs(self) -> str:
        """The last lines of every container."""
        label = f"label=io.podman.compose.project={NAME}"
        names = self.podman("ps", "--all", "--filter", label, "--format", "{{.Names}}").split()
        parts = []
        for name in names:
            done = self.podman.run(("podman", "logs", "--tail=15", name), check=False)
            parts.append(f"== {name}\n{done.stdout}{done.stderr}")
        return "\n".join(parts)
