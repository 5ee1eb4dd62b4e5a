"""Reads and edits ONNX models as protobuf messages.

Runtime code has no use for the `onnx` package otherwise, which is larger than all of our own code. The fields that are
read here, by their numbers in onnx.proto, are those of every version of the format.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cutroom.engines.models.onnx import encode_protobuf, encode_varint

UINT8, INT8, INT64 = 2, 3, 7  # data types of tensors

_MODEL_GRAPH = 7
_GRAPH_NODE, _GRAPH_NAME, _GRAPH_INITIALIZER, _GRAPH_INPUT, _GRAPH_OUTPUT = 1, 2, 5, 11, 12
_NODE_INPUT, _NODE_OUTPUT, _NODE_OPERATOR, _NODE_ATTRIBUTE = 1, 2, 4, 5
_ATTRIBUTE_NAME, _ATTRIBUTE_INT, _ATTRIBUTE_TEXT, _ATTRIBUTE_INTS, _ATTRIBUTE_TYPE = 1, 3, 4, 8, 20
_TYPE_INT, _TYPE_INTS = 2, 7
_TENSOR_DIMENSION, _TENSOR_TYPE, _TENSOR_INT32, _TENSOR_NAME, _TENSOR_RAW = 1, 2, 5, 8, 9
_VALUE_NAME = 1

Message = bytes | memoryview


@dataclass(frozen=True, slots=True)
class Node:
    """An operation, with its encoded message."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    encoded: Message

    @classmethod
    def make(cls, operator: str, inputs: Sequence[str], output: str, **attributes: int | Sequence[int]) -> "Node":
        encoded = encode_protobuf(
            *((_NODE_INPUT, name) for name in inputs),
            (_NODE_OUTPUT, output),
            (_NODE_OPERATOR, operator),
            *((_NODE_ATTRIBUTE, _encode_attribute(name, value)) for name, value in attributes.items()),
        )
        return cls(operator, tuple(inputs), (output,), encoded)

    def attributes(self) -> dict[str, list[int] | str]:
        """The attributes that are integers or text, by name."""
        found: dict[str, list[int] | str] = {}
        for number, value in read_fields(self.encoded):
            if number == _NODE_ATTRIBUTE:
                name, content = _read_attribute(_message(value))
                found[name] = content
        return found


@dataclass(frozen=True, slots=True)
class Tensor:
    """A constant of a graph, with its encoded message."""

    name: str
    encoded: Message

    @classmethod
    def make(cls, name: str, data: bytes, *, data_type: int, shape: Sequence[int]) -> "Tensor":
        dimensions = ((_TENSOR_DIMENSION, size) for size in shape)
        return cls(name, encode_protobuf(*dimensions, (_TENSOR_TYPE, data_type), (_TENSOR_NAME, name), (9, data)))

    @property
    def data_type(self) -> int:
        return next((_number(value) for number, value in read_fields(self.encoded) if number == _TENSOR_TYPE), 0)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(_repeated(self.encoded, _TENSOR_DIMENSION))

    @property
    def data(self) -> bytes:
        """The values of a tensor of bytes; empty if they are stored in another way."""
        for number, value in read_fields(self.encoded):
            if number == _TENSOR_RAW:
                return bytes(_message(value))
        return bytes(number & 0xFF for number in _repeated(self.encoded, _TENSOR_INT32))


@dataclass(frozen=True, slots=True)
class OnnxGraph:
    """The main graph of a model; its nodes are in the order of execution."""

    model_fields: tuple[tuple[int, int | Message], ...]  # such as the versions of operators
    nodes: tuple[Node, ...]
    tensors: Mapping[str, Tensor]
    inputs: Mapping[str, Message]
    outputs: Mapping[str, Message]

    def prefix(self, output: str) -> "OnnxGraph | None":
        """The part that computes one intermediate value; None if there is no such value."""
        needed, nodes = {output}, []
        for node in reversed(self.nodes):
            if needed.intersection(node.outputs):
                needed.update(node.inputs)
                nodes.append(node)
        if not nodes:
            return None
        return replace(
            self,
            nodes=tuple(reversed(nodes)),
            tensors={name: tensor for name, tensor in self.tensors.items() if name in needed},
            inputs={name: value for name, value in self.inputs.items() if name in needed},
            outputs={output: encode_protobuf((_VALUE_NAME, output))},
        )

    def encode(self) -> bytes:
        """The model as a file; weights are copied once."""
        fields: list[tuple[int, Message]] = [
            *((_GRAPH_NODE, node.encoded) for node in self.nodes),
            (_GRAPH_NAME, b"graph"),
            *((_GRAPH_INITIALIZER, tensor.encoded) for tensor in self.tensors.values()),
            *((_GRAPH_INPUT, value) for value in self.inputs.values()),
            *((_GRAPH_OUTPUT, value) for value in self.outputs.values()),
        ]
        parts = [part for number, value in fields for part in (encode_varint(number << 3 | 2, len(value)), value)]
        head = encode_varint(_MODEL_GRAPH << 3 | 2, sum(map(len, parts)))
        return b"".join([encode_protobuf(*self.model_fields), head, *parts])


def read_graph(model: Message) -> OnnxGraph:
    """Reads a model file; raises ValueError if it is not one."""
    model_fields: list[tuple[int, int | Message]] = []
    contents: dict[int, list[Message]] = {}
    for number, value in read_fields(model):
        if number != _MODEL_GRAPH:
            model_fields.append((number, value))
            continue
        for inner, content in read_fields(_message(value)):
            contents.setdefault(inner, []).append(_message(content))
    nodes = tuple(map(_read_node, contents.get(_GRAPH_NODE, ())))
    tensors = [Tensor(_name_of(each, _TENSOR_NAME), each) for each in contents.get(_GRAPH_INITIALIZER, ())]
    return OnnxGraph(
        tuple(model_fields),
        nodes,
        {tensor.name: tensor for tensor in tensors},
        _by_name(contents.get(_GRAPH_INPUT, ())),
        _by_name(contents.get(_GRAPH_OUTPUT, ())),
    )


def read_fields(message: Message) -> Iterator[tuple[int, int | memoryview]]:
    """The numbered fields of a message; numbers of fixed size are left encoded."""
    data, at = memoryview(message), 0
    while at < len(data):
        key, at = _read_varint(data, at)
        kind = key & 7
        if kind == 0:
            number, at = _read_varint(data, at)
            yield key >> 3, number
            continue
        size = {1: 8, 5: 4}.get(kind)
        if kind == 2:
            size, at = _read_varint(data, at)
        if size is None or at + size > len(data):
            raise ValueError("not a protobuf message")
        yield key >> 3, data[at : at + size]
        at += size


def _read_varint(data: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while at < len(data):
        byte = data[at]
        number, at, shift = number | (byte & 127) << shift, at + 1, shift + 7
        if byte < 128:
            return number, at
    raise ValueError("not a protobuf message")


def _read_node(encoded: Message) -> Node:
    operator, names = "", {_NODE_INPUT: [], _NODE_OUTPUT: []}  # type: tuple[str, dict[int, list[str]]]
    for number, value in read_fields(encoded):
        if number in names:
            names[number].append(_text(value))
        elif number == _NODE_OPERATOR:
            operator = _text(value)
    return Node(operator, tuple(names[_NODE_INPUT]), tuple(names[_NODE_OUTPUT]), encoded)


def _read_attribute(encoded: Message) -> tuple[str, list[int] | str]:
    text = None
    for number, value in read_fields(encoded):
        if number == _ATTRIBUTE_TEXT:
            text = _text(value)
    integers = [*_repeated(encoded, _ATTRIBUTE_INT), *_repeated(encoded, _ATTRIBUTE_INTS)]
    return _name_of(encoded, _ATTRIBUTE_NAME), integers if text is None else text


def _encode_attribute(name: str, value: int | Sequence[int]) -> bytes:
    if isinstance(value, int):
        return encode_protobuf((_ATTRIBUTE_NAME, name), (_ATTRIBUTE_INT, value), (_ATTRIBUTE_TYPE, _TYPE_INT))
    integers = ((_ATTRIBUTE_INTS, each) for each in value)
    return encode_protobuf((_ATTRIBUTE_NAME, name), *integers, (_ATTRIBUTE_TYPE, _TYPE_INTS))


def _repeated(message: Message, wanted: int) -> Iterator[int]:
    """Integers of a repeated field, which may be packed into one."""
    for number, value in read_fields(message):
        if number != wanted:
            continue
        if isinstance(value, int):
            yield value
            continue
        at = 0
        while at < len(value):
            each, at = _read_varint(value, at)
            yield each


def _by_name(values: Iterable[Message]) -> dict[str, Message]:
    return {_name_of(each, _VALUE_NAME): each for each in values}


def _name_of(message: Message, field: int) -> str:
    return next((_text(value) for number, value in read_fields(message) if number == field), "")


def _message(value: int | Message) -> Message:
    if isinstance(value, int):
        raise ValueError("not an ONNX model")  # noqa: TRY004 - of the file, not of an argument
    return value


def _number(value: int | Message) -> int:
    if not isinstance(value, int):
        raise ValueError("not an ONNX model")  # noqa: TRY004 - see below
    return value


def _text(value: int | Message) -> str:
    return bytes(_message(value)).decode()
