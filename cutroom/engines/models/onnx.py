"""Opens ONNX models in onnxruntime, an optional and untyped dependency, and encodes ONNX graphs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from cutroom.engines.errors import EngineUnavailableError

_LOG_FATAL = 4  # errors are raised, so nothing needs logging
_SPINNING = "session.intra_op.allow_spinning"  # disabled: on shared cores, threads that busy-wait delay the others


class OnnxSession(Protocol):
    """The subset of InferenceSession that engines use."""

    def run(self, outputs: Sequence[str] | None, inputs: Mapping[str, Any]) -> list[Any]: ...


def open_session(
    model: Path | bytes, *, name: str, cpu_threads: int, entries: Mapping[str, str] | None = None
) -> OnnxSession:
    """Loads a model from a file or bytes; `entries` are onnxruntime session config entries."""
    try:
        import onnxruntime  # type: ignore[import-untyped]  # noqa: PLC0415 - optional dependency
    except ImportError as error:
        raise EngineUnavailableError("onnxruntime is not installed.") from error
    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads = 1
    options.intra_op_num_threads = cpu_threads
    # Input lengths vary, and the arena would keep memory for every length.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = _LOG_FATAL
    options.add_session_config_entry(_SPINNING, "0")
    for key, value in (entries or {}).items():
        options.add_session_config_entry(key, value)
    source = model if isinstance(model, bytes) else str(model)
    try:
        session: OnnxSession = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime exposes no common error class
        raise EngineUnavailableError(f"The model {name} cannot be loaded.") from error
    return session


def open_session_with_weights(graph: Path, folder: Path, *, name: str, cpu_threads: int) -> OnnxSession:
    """Opens a committed graph whose weights are external data in the model's folder."""
    weights = {"session.model_external_initializers_file_folder_path": str(folder)}
    return open_session(graph.read_bytes(), name=name, cpu_threads=cpu_threads, entries=weights)


def encode_protobuf(*fields: tuple[int, int | str | bytes]) -> bytes:
    """Encodes numbered fields as a protobuf message, the format of ONNX files."""
    encoded = b""
    for number, value in fields:
        if isinstance(value, int):
            encoded += _varint(number << 3) + _varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            encoded += _varint(number << 3 | 2) + _varint(len(data)) + data
    return encoded


def _varint(number: int) -> bytes:
    low = number & 127
    return bytes([low]) if number == low else bytes([low | 128]) + _varint(number >> 7)
