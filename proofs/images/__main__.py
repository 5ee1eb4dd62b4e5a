"""Images and Compose: builds every image, runs compose.yaml with podman, and uses the installation from outside."""

import asyncio
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from dev.environment import data_dir
from proofs.images.browser import CHROMIUM, Person, visit_console
from proofs.images.confinement import (
    bill_of_materials,
    compilers,
    process_users,
    running_containers,
    writable_paths,
)
from proofs.images.installation import NAME, Installation
from proofs.images.products import EMAIL, Caller, open_account, run_products
from proofs.images.restore_drill import drill
from proofs.stage.container_images import BASE, PROGRAMS, ContainerError, Podman, ensure_standins
from proofs.stage.report import Report, prove
from proofs.stage.requirements import GB, Needs, models_dir

ONE_OFF = {"bucket", "migrate", "models"}  # they may end between two looks
WATCH_SECONDS = 1.0
MIN_PACKAGES = {"pypi": 3, "deb": 50}


class ProcessWatch(threading.Thread):
    """Looks at every process of every container again and again, to see sandboxes and subprocesses too."""

    def __init__(self, podman: Podman) -> None:
        super().__init__(daemon=True)
        self.root: set[str] = set()
        self.seen: dict[str, set[str]] = {}  # names of processes by service
        self._podman = podman
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.is_set():
            with suppress(ContainerError):  # a container may end between two commands
                self.look()
            self._ended.wait(WATCH_SECONDS)

    def look(self) -> None:
        for container in running_containers(self._podman, NAME):
            for name, users in process_users(container):
                self.seen.setdefault(container.service, set()).add(name)
                if 0 in users:
                    self.root.add(f"{container.service}: {name}")

    def end(self) -> None:
        self._ended.set()
        self.join()


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    await asyncio.to_thread(_prove, report, short=short)


def _prove(report: Report, *, short: bool) -> None:
    podman = Podman()
    podman.prepare()
    with TemporaryDirectory(prefix="cutroom-images-") as name:
        installation = Installation(podman, Path(name), with_worker=not short)
        with report.timed("stand-ins for base images"):
            ensure_standins(podman)
        with report.timed("images"):
            _prove_images(report, installation)
        _prove_root_is_noticed(report, podman)
        with _running(installation), _watched(report, installation):
            _prove_installation(report, installation, Path(name), short=short)


def _prove_images(report: Report, installation: Installation) -> None:
    count = len(installation.images)
    built, without_bill, with_compiler = 0, [], []
    for image in installation.images:
        installation.build(image)
        built += installation.podman.has_image(f"localhost/cutroom-{image}")
        with_compiler += compilers(installation.podman, f"cutroom-{image}")
        packages = bill_of_materials(installation.podman, f"cutroom-{image}")
        report.note(f"cutroom-{image}: {packages['pypi']} Python and {packages['deb']} Debian packages")
        if any(packages[kind] < least for kind, least in MIN_PACKAGES.items()):
            without_bill.append(image)
    report.claim("images built", expected=str(count), measured=built, holds=built == count)
    report.claim("compilers in them", expected="none", measured=with_compiler or "none", holds=not with_compiler)
    holds = not without_bill
    report.claim("images without a bill of materials", expected="none", measured=without_bill or "none", holds=holds)
    report.figures(images=count, built=built)


def _prove_root_is_noticed(report: Report, podman: Podman) -> None:
    """The control: a container whose process is root must be found, and what it writes to."""
    labels = ("--label", f"io.podman.compose.project={NAME}", "--label", "com.docker.compose.service=control")
    name = f"{NAME}_control"
    podman("rm", "--force", name, check=False)
    podman("run", "--detach", "--name", name, "--network=none", *labels, BASE, "sleep", "600")
    try:
        (container,) = running_containers(podman, NAME)
        users = [each for _, found in process_users(container) for each in found]
        folders = writable_paths(container).undeclared
    finally:
        podman("rm", "--force", "--time=0", name)
    found = (0 in users, "/" in folders)
    report.claim("a container of root is noticed", expected="root, /", measured=found, holds=all(found))


@contextmanager
def _running(installation: Installation) -> Iterator[None]:
    """Remove what an interrupted run left, and what this one made."""
    installation.configure(models="--set=demo")
    installation.remove()
    try:
        if installation.with_worker:
            installation.install_models(models_dir())
        yield
    finally:
        installation.remove()


@contextmanager
def _watched(report: Report, installation: Installation) -> Iterator[None]:
    watch = ProcessWatch(installation.podman)
    watch.start()
    try:
        yield
    finally:
        watch.end()
    report.note(f"processes seen: { ({name: sorted(found) for name, found in sorted(watch.seen.items())}) }")
    missing = sorted(set(installation.services) - ONE_OFF - set(watch.seen))
    report.claim("containers without a process", expected="none", measured=missing or "none", holds=not missing)
    count = len(watch.root)
    report.claim("processes of root in any container", expected="0", measured=watch.root or 0, holds=count == 0)
    report.figures(root_processes=count)


def _prove_installation(report: Report, installation: Installation, folder: Path, *, short: bool) -> None:
    with report.timed("podman-compose up"):
        installation.up(installation.services)
        context = installation.wait_for_api()
    caller, password = open_account(installation, context)
    with report.timed("products"):
        video_id, products = run_products(caller, folder / "demo", short=short)
    with report.timed("console"):
        products["console"] = _opens_console(report, caller, password, video_id=video_id, plays=not short)
    failed = [name for name, delivered in products.items() if not delivered]
    count = len(products) - len(failed)
    report.claim(
        f"{len(products)} products in containers",
        expected="all",
        measured=f"all but {failed}" if failed else "all",
        holds=not failed,
    )
    report.figures(demo_products=len(products), demo_products_ok=count)
    _prove_writable(report, installation)
    _prove_urls(report, caller)
    with report.timed("restore drill"):
        _prove_restore(report, installation, caller, video_id)


def _opens_console(report: Report, caller: Caller, password: str, *, video_id: str, plays: bool) -> bool:
    """Whether a person can use the console in a browser, without an error on any page."""
    screenshots = data_dir() / "images-screenshots"
    person = Person(caller.installation.url, EMAIL, password)
    visit = visit_console(person, video_id, screenshots=screenshots, plays=plays)
    for fault in visit.faults:
        report.note(f"console: {fault}")
    report.note(f"console: certificate of {visit.issuers}, played {visit.played_seconds:.1f} s, {screenshots}")
    return visit.is_good


def _prove_writable(report: Report, installation: Installation) -> None:
    """Written to after the products, when every file that they make exists."""
    undeclared, declared = {}, 0
    for container in running_containers(installation.podman, NAME):
        found = writable_paths(container)
        declared += len(found.declared)
        if found.undeclared:
            undeclared[container.service] = found.undeclared[:5]
    report.claim(
        "paths that can be written to outside declared volumes",
        expected="0",
        measured=undeclared or 0,
        holds=not undeclared,
    )
    report.claim("declared volumes that can be written to", expected=">= 7", measured=declared, holds=declared >= 7)
    report.figures(undeclared_writable=sum(map(len, undeclared.values())))


def _prove_urls(report: Report, caller: Caller) -> None:
    missing = caller.unreachable()
    for url in missing:
        report.note(f"unreachable: {url[:160]}")
    report.claim(
        "URLs of responses that cannot be fetched from outside",
        expected="0",
        measured=f"{len(missing)} of {len(caller.seen)}",
        holds=not missing and len(caller.seen) > 1,
    )
    report.figures(urls=len(caller.seen), unreachable_urls=len(missing))


def _prove_restore(report: Report, installation: Installation, caller: Caller, video_id: str) -> None:
    started = time.monotonic()
    before, after, same = drill(installation, caller, video_id)
    differ = sorted(name for name, rows in before.tables.items() if after.tables.get(name) != rows)
    restored = same and not differ and before.files == after.files
    report.claim(
        "restored into empty volumes: tables that differ, video and files through the API",
        expected="none, same",
        measured=f"{differ or 'none'} of {len(before.tables)}, {'same' if same else 'differ'}",
        holds=restored,
    )
    report.figures(restored=restored, drill_seconds=round(time.monotonic() - started))


if __name__ == "__main__":
    needs = Needs(
        long_model_set="demo",
        programs=("ffmpeg", "podman-compose", CHROMIUM, *PROGRAMS),
        disk_bytes=20 * GB,
        short_disk_bytes=8 * GB,
        root=True,
    )
    sys.exit(prove("Images and Compose", proof, within=nullcontext, needs=needs))
