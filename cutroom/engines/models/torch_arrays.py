"""Extracts arrays from a torch file by interpreting its pickle opcodes, without unpickling."""

import json
import math
import pickletools
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_OPCODES = 1_000_000
_PICKLE = "/data.pkl"  # member of torch's archive
_STORAGES = "/data/"  # members with the data of tensors
_STATE = "state_dict"  # of a checkpoint that holds more than arrays
_TYPES = {("f4", "<"): ("F32", 4)}  # numpy dtype and byte order -> safetensors dtype and item size

_VALUES = {"BINUNICODE", "BINFLOAT", "BININT", "BININT1", "BININT2", "NONE", "NEWTRUE", "NEWFALSE"}
_CONSTANTS = {"NEWTRUE": True, "NEWFALSE": False}
_ORDERED_DICT, _TENSOR = "collections OrderedDict", "torch._utils _rebuild_tensor_v2"
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED = {"PROTO", "STOP"}


@dataclass(frozen=True, slots=True)
class TorchArray:
    """A C-contiguous array."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


@dataclass(slots=True)
class _Call:
    """A call recorded from the pickle, with its arguments and state."""

    function: str
    arguments: tuple[Any, ...]
    state: Any = None


def write_safetensors(source: Path, target: Path) -> None:
    """Converts a torch file to safetensors; raises ValueError if it contains anything but arrays."""
    try:
        with zipfile.ZipFile(source) as archive:
            (member,) = [name for name in archive.namelist() if name.endswith(_PICKLE)]
            folder = member.removesuffix(_PICKLE)
            arrays = read_arrays(archive.read(member), lambda key: archive.read(f"{folder}{_STORAGES}{key}"))
    except (zipfile.BadZipFile, IndexError, KeyError, TypeError, AttributeError, UnicodeError) as error:
        raise ValueError(f"not a pickle of arrays: {error}") from error
    target.write_bytes(encode_safetensors(arrays))


def encode_safetensors(arrays: Mapping[str, TorchArray]) -> bytes:
    """Header length, JSON header, then the array data."""
    entries, at = {}, 0
    for name, array in arrays.items():
        offsets = [at, at + len(array.data)]
        entries[name] = {"dtype": array.dtype, "shape": array.shape, "data_offsets": offsets}
        at = offsets[1]
    header = json.dumps(entries, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)  # alignment
    return len(header).to_bytes(8, "little") + header + b"".join(array.data for array in arrays.values())


def read_arrays(pickled: bytes, read_storage: Callable[[str], bytes] | None = None) -> dict[str, TorchArray]:
    """The arrays of a pickled dict, or of its state; tensors refer to storages outside the pickle."""
    reader = _PickleReader()
    for number, (opcode, argument, _) in enumerate(pickletools.genops(pickled)):
        if number > MAX_OPCODES:
            raise ValueError("too many pickle opcodes")
        reader.step(opcode.name, argument)
    (found,) = reader.stack
    found = found.get(_STATE, found)
    return {
        name: _tensor(call, read_storage) if call.function == _TENSOR else _array(call) for name, call in found.items()
    }


class _PickleReader:
    """Pickle interpreter that records calls instead of making them."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[Any, Any] = {}

    def step(self, name: str, argument: object) -> None:
        if name in _VALUES:
            self.stack.append(_CONSTANTS.get(name, argument))
        elif name in _TUPLES:
            self.make_tuple(len(self.stack) - _TUPLES[name])
        elif name in _HANDLERS:
            _HANDLERS[name](self, argument)
        elif name not in _IGNORED:
            raise ValueError(f"unexpected pickle opcode {name}")

    def mark(self, _: None) -> None:
        self._marks.append(len(self.stack))

    def make_tuple(self, start: int | None) -> None:
        at = self._marks.pop() if start is None else start
        self.stack[at:] = [tuple(self.stack[at:])]

    def put(self, place: int) -> None:
        self._memo[place] = self.stack[-1]

    def get(self, place: int) -> None:
        self.stack.append(self._memo[place])

    def push_global(self, function: str) -> None:
        self.stack.append(_Call(function, ()))

    def call(self, _: None) -> None:
        arguments = self.stack.pop()
        function = self.stack.pop().function
        self.stack.append({} if function == _ORDERED_DICT else _Call(function, arguments))

    def build(self, _: None) -> None:
        state = self.stack.pop()
        if not isinstance(self.stack[-1], dict):  # attributes of a dict are not needed
            self.stack[-1].state = state

    def push_storage(self, _: None) -> None:
        self.stack.append(_Call("storage", self.stack.pop()))

    def make_dict(self, _: None) -> None:
        self.stack.append({})

    def make_empty_tuple(self, _: None) -> None:
        self.stack.append(())

    def make_list(self, _: None) -> None:
        self.stack.append([])

    def append_items(self, _: None) -> None:
        at = self._marks.pop()
        self.stack[at - 1] += self.stack[at:]
        del self.stack[at:]

    def set_item(self, _: None) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.stack[-1][key] = value

    def set_items(self, _: None) -> None:
        at = self._marks.pop()
        self.stack[at - 1] |= zip(self.stack[at::2], self.stack[at + 1 :: 2], strict=True)
        del self.stack[at:]


_HANDLERS: dict[str, Callable[[_PickleReader, Any], None]] = {
    "MARK": _PickleReader.mark,
    "TUPLE": _PickleReader.make_tuple,
    "BINPUT": _PickleReader.put,
    "LONG_BINPUT": _PickleReader.put,
    "BINGET": _PickleReader.get,
    "LONG_BINGET": _PickleReader.get,
    "GLOBAL": _PickleReader.push_global,
    "REDUCE": _PickleReader.call,
    "BUILD": _PickleReader.build,
    "NEWOBJ": _PickleReader.call,
    "BINPERSID": _PickleReader.push_storage,
    "EMPTY_TUPLE": _PickleReader.make_empty_tuple,
    "EMPTY_LIST": _PickleReader.make_list,
    "APPENDS": _PickleReader.append_items,
    "SETITEM": _PickleReader.set_item,
    "EMPTY_DICT": _PickleReader.make_dict,
    "SETITEMS": _PickleReader.set_items,
}


def _array(call: _Call) -> TorchArray:
    """Decodes numpy's pickled array: shape, dtype, and data as a latin-1 string."""
    _, shape, dtype, fortran_order, data_call = call.state
    text, encoding = data_call.arguments
    expected = ("numpy.core.multiarray _reconstruct", "numpy dtype", "_codecs encode", "latin1", False)
    if (call.function, dtype.function, data_call.function, encoding, fortran_order) != expected:
        raise ValueError("a value is not an array")
    name, size = _TYPES[dtype.arguments[0], dtype.state[1]]
    data = text.encode("latin-1")
    if len(data) != size * math.prod(shape):
        raise ValueError("an array's size does not match its shape")
    return TorchArray(name, shape, data)


def _tensor(call: _Call, read_storage: Callable[[str], bytes] | None) -> TorchArray:
    """Decodes torch's pickled tensor: a storage, the offset in it, shape and strides."""
    storage, offset, shape, strides = call.arguments[:4]
    kind, storage_type, key = storage.arguments[:3]
    if read_storage is None or (kind, storage_type.function) != ("storage", "torch FloatStorage"):
        raise ValueError("a value is not a tensor of 32-bit floats")
    contiguous = tuple(math.prod(shape[at + 1 :]) for at in range(len(shape)))
    if strides != contiguous or not isinstance(offset, int) or offset < 0:
        raise ValueError("a tensor is not contiguous")
    start, size = 4 * offset, 4 * math.prod(shape)
    data = read_storage(key)[start : start + size]
    if len(data) != size:
        raise ValueError("a tensor's size does not match its shape")
    return TorchArray("F32", shape, data)
