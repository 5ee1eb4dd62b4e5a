"""Protobuf encoding of ONNX graphs."""

import pytest

from cutroom.engines.models.onnx import encode_protobuf


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([], b""),
        ([(1, 5)], b"\x08\x05"),
        ([(1, 300)], b"\x08\xac\x02"),
        ([(7, b"ab")], b"\x3a\x02ab"),
        ([(20, 2), (4, "LSTM")], b"\xa0\x01\x02\x22\x04LSTM"),
        ([(7, bytes(200))], b"\x3a\xc8\x01" + bytes(200)),
    ],
)
def test_fields_are_encoded_as_protobuf(fields: list[tuple[int, int | str | bytes]], expected: bytes) -> None:
    assert encode_protobuf(*fields) == expected
