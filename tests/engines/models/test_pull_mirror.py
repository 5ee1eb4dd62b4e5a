"""Mirror downloads resume, and gzip files are accepted only if they match before and after unpacking."""

import gzip
import random
import shutil
import tempfile
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.engines.models.download import ATTEMPTS, Downloader
from cutroom.engines.models.files import CHUNK_BYTES, ModelSourceError, read_unpacked, unpack_gzip
from cutroom.engines.models.manifest import GzipPin, Model, ModelFile
from cutroom.engines.models.manifest_reader import read_manifest
from cutroom.engines.models.mirror import MirrorSource
from cutroom.engines.models.pull import PullOutcome, PullResult, pull
from cutroom.engines.models.store import ModelStore
from tests.support.tiny_models import FakeHub, respond, small
from tests.support.translation_mirror import MirrorContent, cut_after, sha256, translation_mirror

WEIGHTS = random.Random(2).randbytes(2_000_000)
VOCABULARY, SHORTLIST = b"a vocabulary" * 100, b"a shortlist" * 100
MODEL_GZ = "/models/tiny/enpt/model.enpt.bin.gz"
SHORTLIST_GZ = "/models/tiny/enpt/lex.50.50.enpt.s2t.bin.gz"


def content(*, pins_unpacked: bool = True) -> MirrorContent:
    made = MirrorContent()
    files = {"lex.50.50.enpt.s2t.bin": SHORTLIST, "model.enpt.bin": WEIGHTS, "vocab.enpt.spm": VOCABULARY}
    made.add("en", "pt", files, pins_unpacked=pins_unpacked)
    return made


def store_of(folder: Path, made: MirrorContent, *replacements: tuple[str, str]) -> ModelStore:
    text = made.manifest_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return ModelStore(folder / "store", manifest=read_manifest(text))


def model_of(store: ModelStore) -> Model:
    return store.manifest.model("firefox-en-pt-tiny")


async def pull_from(mirror: FakeHub, store: ModelStore) -> PullResult:
    source = MirrorSource(mirror.address, report=lambda _file, _done: None, pause_seconds=0)
    return await pull(model_of(store), store, sources=[source], report=lambda _text: None)


def names_in(store: ModelStore) -> list[str]:
    return sorted(path.name for path in store.folder_of(model_of(store)).iterdir())


async def test_files_are_unpacked_and_nothing_else_is_left(tmp_path: Path) -> None:
    made = content()
    store = store_of(tmp_path, made)
    with translation_mirror(made) as mirror:
        result = await pull_from(mirror, store)
    assert (result.outcome, result.source) == (PullOutcome.PULLED, "mirror")
    folder = store.path("firefox-en-pt-tiny")
    assert names_in(store) == ["lex.50.50.enpt.s2t.bin", "model.enpt.bin", "vocab.enpt.spm"]
    assert (folder / "model.enpt.bin").read_bytes() == WEIGHTS
    assert (folder / "vocab.enpt.spm").read_bytes() == VOCABULARY


async def test_files_without_an_unpacked_pin_stay_gzipped(tmp_path: Path) -> None:
    made = content(pins_unpacked=False)
    store = store_of(tmp_path, made)
    with translation_mirror(made) as mirror:
        assert (await pull_from(mirror, store)).outcome is PullOutcome.PULLED
    folder = store.path("firefox-en-pt-tiny")
    assert names_in(store) == ["lex.50.50.enpt.s2t.bin.gz", "model.enpt.bin", "vocab.enpt.spm.gz"]
    assert read_unpacked(folder / "vocab.enpt.spm.gz", limit_bytes=10_000) == VOCABULARY
    with pytest.raises(ModelSourceError, match="exceeds the expected 10 bytes"):
        read_unpacked(folder / "vocab.enpt.spm.gz", limit_bytes=10)


@pytest.mark.parametrize("count", [0, 1, 1_000_000])
async def test_cut_connection_is_resumed(tmp_path: Path, count: int) -> None:
    made = content()
    store = store_of(tmp_path, made)
    with translation_mirror(made) as mirror:
        mirror.faults += [lambda handler, body: respond(handler, 200, body), cut_after(count), cut_after(5)]
        assert (await pull_from(mirror, store)).outcome is PullOutcome.PULLED
    ranges = [byte_range for path, byte_range in mirror.requests if path == MODEL_GZ]
    assert ranges == [None, f"bytes={count}-" if count else None, f"bytes={count + 5}-"]


async def test_failed_pull_is_resumed_by_the_next(tmp_path: Path) -> None:
    made = content()
    store = store_of(tmp_path, made)
    with translation_mirror(made) as mirror:
        mirror.faults += [lambda handler, body: respond(handler, 200, body), cut_after(1_000_000)]
        mirror.faults += [cut_after(0)] * (ATTEMPTS - 1)
        failed = await pull_from(mirror, store)
        assert failed.outcome is PullOutcome.FAILED
        assert "model.enpt.bin.gz could not be downloaded from the mirror" in failed.reasons[0]
        assert not store.has_any_file(model_of(store))
        mirror.requests.clear()
        assert (await pull_from(mirror, store)).outcome is PullOutcome.PULLED
    # The shortlist had been unpacked already.
    assert mirror.requests == [(MODEL_GZ, "bytes=1000000-"), ("/models/tiny/enpt/vocab.enpt.spm.gz", None)]
    assert store.faults(model_of(store)) == {}


async def test_wrong_bytes_are_rejected_and_then_downloaded_again(tmp_path: Path) -> None:
    made = content()
    store = store_of(tmp_path, made)
    right = made.files[MODEL_GZ]
    with translation_mirror(made) as mirror:
        mirror.files[MODEL_GZ] = right[:1000] + bytes([right[1000] ^ 1]) + right[1001:]
        failed = await pull_from(mirror, store)
        assert failed.outcome is PullOutcome.FAILED
        assert "model.enpt.bin.gz does not match the manifest: it has the sha256" in failed.reasons[0]
        assert not store.has_any_file(model_of(store))
        mirror.files[MODEL_GZ] = right
        assert (await pull_from(mirror, store)).outcome is PullOutcome.PULLED
    assert store.faults(model_of(store), rehash=True) == {}


async def test_wrong_unpacked_bytes_are_rejected(tmp_path: Path) -> None:
    made = content()
    store = store_of(tmp_path, made, (sha256(WEIGHTS), sha256(b"other weights")))
    with translation_mirror(made) as mirror:
        failed = await pull_from(mirror, store)
    assert "model.enpt.bin from mirror does not match the manifest: it has the sha256" in failed.reasons[0]
    assert not store.has_any_file(model_of(store))


@pytest.mark.parametrize(
    ("packed", "size_bytes", "message"),
    [
        (gzip.compress(bytes(64 * 1024 * 1024)), 2_000_000, "exceeds the expected 2000000 bytes"),
        (gzip.compress(b"short"), 2_000_000, "has 5 bytes instead of 2000000"),
        (gzip.compress(WEIGHTS)[:-100], 2_000_000, "cannot be unpacked"),
        (WEIGHTS, 2_000_000, "cannot be unpacked"),
    ],
    ids=["gzip bomb", "too short", "truncated", "not gzip"],
)
async def test_pinned_file_that_does_not_unpack_is_rejected(
    tmp_path: Path, packed: bytes, size_bytes: int, message: str
) -> None:
    made = content()
    before = made.files[MODEL_GZ]
    assert len(WEIGHTS) == size_bytes
    pins = ((sha256(before), sha256(packed)), (f"size_bytes = {len(before)}", f"size_bytes = {len(packed)}"))
    store = store_of(tmp_path, made, *pins)
    with translation_mirror(made) as mirror:
        mirror.files[MODEL_GZ] = packed
        failed = await pull_from(mirror, store)
    assert message in failed.reasons[0]
    assert not store.has_any_file(model_of(store))
    on_disk = sum(path.stat().st_size for path in store.folder_of(model_of(store)).iterdir())
    assert on_disk <= size_bytes + CHUNK_BYTES


async def test_larger_file_than_pinned_is_cut_off(tmp_path: Path) -> None:
    made = content()
    store = store_of(tmp_path, made)
    with translation_mirror(made) as mirror:
        mirror.files[MODEL_GZ] += bytes(10_000_000)
        failed = await pull_from(mirror, store)
    assert f"The mirror has more than {len(made.files[MODEL_GZ])} bytes for model.enpt.bin.gz" in failed.reasons[0]
    assert not store.has_any_file(model_of(store))


async def test_missing_file_is_reported(tmp_path: Path) -> None:
    made = content()
    store = store_of(tmp_path, made)
    with translation_mirror(made) as mirror:
        del mirror.files[MODEL_GZ]
        failed = await pull_from(mirror, store)
    assert failed.reasons == ("mirror: model.enpt.bin.gz could not be downloaded from the mirror: status 404.",)
    assert [path for path, _ in mirror.requests] == [SHORTLIST_GZ, MODEL_GZ]


async def test_nothing_is_requested_without_disk_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = content()
    store = store_of(tmp_path, made)
    needed = sum(file.pull_bytes for file in model_of(store).files)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=needed - 1))
    with translation_mirror(made) as mirror:
        failed = await pull_from(mirror, store)
        assert "There is not enough disk space" in failed.reasons[0]
        assert mirror.requests == []
        monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=needed))
        assert (await pull_from(mirror, store)).outcome is PullOutcome.PULLED


async def test_model_without_a_mirror_is_not_requested(tmp_path: Path) -> None:
    with translation_mirror(content()) as mirror:
        source = MirrorSource(mirror.address, report=lambda _file, _done: None)
        with pytest.raises(ModelSourceError, match="small is not available from a mirror"):
            await source.fetch(small(), small().files, folder=tmp_path)
    assert mirror.requests == []


@pytest.mark.parametrize("url", ["http://127.0.0.1/file", "http://mirror.example/file", "file:///etc/passwd"])
async def test_https_mirror_may_not_redirect_to_plain_http(url: str) -> None:
    downloader = Downloader("https://mirror.example", server="mirror", report=lambda _file, _done: None)
    await downloader._check_request(httpx.Request("GET", "https://storage.example/file"))
    with pytest.raises(ModelSourceError, match="A mirror must use https://"):
        await downloader._check_request(httpx.Request("GET", url))


PACKED = gzip.compress(WEIGHTS[:300], mtime=0)
PINNED = ModelFile("model.bin", 300, sha256=sha256(WEIGHTS[:300]), gzip=GzipPin(len(PACKED), sha256(PACKED)))


@given(at=st.integers(0, len(PACKED) - 1), mask=st.integers(1, 255))
def test_no_changed_byte_of_a_gzip_file_is_accepted(at: int, mask: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder, "packed")
        packed.write_bytes(PACKED[:at] + bytes([PACKED[at] ^ mask]) + PACKED[at + 1 :])
        with pytest.raises(ModelSourceError, match="does not match the manifest"):
            unpack_gzip(packed, PINNED, into=Path(folder, "unpacked"))
        assert list(Path(folder).iterdir()) == []
