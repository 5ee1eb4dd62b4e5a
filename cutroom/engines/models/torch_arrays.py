"""Takes arrays of numbers out of a torch file without unpickling it: its steps are read, and none is carried out."""

import json
import math
import pickletools
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_STEPS = 1_000_000
_PICKLE = "/data.pkl"  # in the archive that torch writes
_TYPES = {("f4", "<"): ("F32", 4)}  # numpy's name and byte order; the name in safetensors, and bytes each

_VALUES = {"BINUNICODE", "BININT", "BININT1", "BININT2", "NONE", "NEWTRUE", "NEWFALSE"}
_CONSTANTS = {"NEWTRUE": True, "NEWFALSE": False}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED = {"PROTO", "STOP"}


@dataclass(frozen=True, slots=True)
class Array:
    """Numbers as they lie in memory, row by row."""

    kind: str
    shape: tuple[int, ...]
    data: bytes


@dataclass(slots=True)
class _Call:
    """What a pickle would have called, and what it would have given to the result."""

    what: str
    given: tuple[Any, ...]
    state: Any = None


def write_safetensors(source: Path, target: Path) -> None:
    """The arrays of a torch file in a form that is only numbers; ValueError for a file that holds anything else."""
    try:
        with zipfile.ZipFile(source) as archive:
            (member,) = [name for name in archive.namelist() if name.endswith(_PICKLE)]
            arrays = read_arrays(archive.read(member))
    except (zipfile.BadZipFile, IndexError, KeyError, TypeError, AttributeError, UnicodeError) as error:
        raise ValueError(f"it is not a pickle of arrays: {error}") from error
    target.write_bytes(safetensors(arrays))


def safetensors(arrays: Mapping[str, Array]) -> bytes:
    """Behind its length a list of names, types, shapes and places; then all numbers."""
    entries, at = {}, 0
    for name, array in arrays.items():
        places = [at, at + len(array.data)]
        entries[name] = {"dtype": array.kind, "shape": array.shape, "data_offsets": places}
        at = places[1]
    head = json.dumps(entries, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)  # so that numbers lie where processors like them
    return len(head).to_bytes(8, "little") + head + b"".join(array.data for array in arrays.values())


def read_arrays(pickled: bytes) -> dict[str, Array]:
    """The arrays of a pickled dict."""
    reader = _Reader()
    for number, (opcode, argument, _) in enumerate(pickletools.genops(pickled)):
        if number > MAX_STEPS:
            raise ValueError("it has more steps than a pickle of arrays needs")
        reader.step(opcode.name, argument)
    (found,) = reader.stack
    return {name: _array(made) for name, made in found.items()}


class _Reader:
    """Follows a pickle step by step. Names of functions stay names, and calls are noted down, not made."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[Any, Any] = {}

    def step(self, name: str, argument: object) -> None:
        if name in _VALUES:
            self.stack.append(_CONSTANTS.get(name, argument))
        elif name in _TUPLES:
            self.make_tuple(len(self.stack) - _TUPLES[name])
        elif name in _STEPS:
            _STEPS[name](self, argument)
        elif name not in _IGNORED:
            raise ValueError(f"it has the step {name}, which no pickle of arrays needs")

    def mark(self, _: None) -> None:
        self._marks.append(len(self.stack))

    def make_tuple(self, start: int | None) -> None:
        at = self._marks.pop() if start is None else start
        self.stack[at:] = [tuple(self.stack[at:])]

    def put(self, place: int) -> None:
        self._memo[place] = self.stack[-1]

    def get(self, place: int) -> None:
        self.stack.append(self._memo[place])

    def name(self, what: str) -> None:
        self.stack.append(_Call(what, ()))

    def call(self, _: None) -> None:
        given = self.stack.pop()
        self.stack.append(_Call(self.stack.pop().what, given))

    def build(self, _: None) -> None:
        state = self.stack.pop()
        self.stack[-1].state = state

    def make_dict(self, _: None) -> None:
        self.stack.append({})

    def set_items(self, _: None) -> None:
        at = self._marks.pop()
        self.stack[at - 1] |= zip(self.stack[at::2], self.stack[at + 1 :: 2], strict=True)
        del self.stack[at:]


_STEPS: dict[str, Callable[[_Reader, Any], None]] = {
    "MARK": _Reader.mark,
    "TUPLE": _Reader.make_tuple,
    "BINPUT": _Reader.put,
    "LONG_BINPUT": _Reader.put,
    "BINGET": _Reader.get,
    "LONG_BINGET": _Reader.get,
    "GLOBAL": _Reader.name,
    "REDUCE": _Reader.call,
    "BUILD": _Reader.build,
    "EMPTY_DICT": _Reader.make_dict,
    "SETITEMS": _Reader.set_items,
}


def _array(made: _Call) -> Array:
    """What numpy writes for an array: its shape, its type, and its bytes as characters of the same numbers."""
    _, shape, kind, by_column, written = made.state
    text, encoding = written.given
    expected = ("numpy.core.multiarray _reconstruct", "numpy dtype", "_codecs encode", "latin1", False)
    if (made.what, kind.what, written.what, encoding, by_column) != expected:
        raise ValueError("it holds something that is not an array")
    name, size = _TYPES[kind.given[0], kind.state[1]]
    data = text.encode("latin-1")
    if len(data) != size * math.prod(shape):
        raise ValueError("it holds an array whose size is not that of its shape")
    return Array(name, shape, data)
