"""Opens ONNX models in onnxruntime, an optional and untyped dependency, and encodes ONNX graphs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.device import CUDA_PROVIDER, Device, require_onnxruntime_cuda

_LOG_FATAL = 4  # errors are raised, so nothing needs logging
_SPINNING = "session.intra_op.allow_spinning"  # disabled: on shared cores, threads that busy-wait delay the others


# Frees what an inference needed when it ends: the arena would otherwise keep memory for every length of input. Without
# an arena, each buffer within an inference is mapped and unmapped, which costs as much as half of the computation.
_SHRINKAGE = "memory.enable_memory_arena_shrinkage"


class OnnxSession(Protocol):
    """The subset of InferenceSession that engines use."""

    def run(self, outputs: Sequence[str] | None, inputs: Mapping[str, Any]) -> list[Any]: ...


class _ShrinkingSession:
    """Runs inferences with options that release the memory of each."""

    def __init__(self, session: Any, run_options: Any) -> None:  # noqa: ANN401 - of onnxruntime
        self._session = session
        self._run_options = run_options

    def run(self, outputs: Sequence[str] | None, inputs: Mapping[str, Any]) -> list[Any]:
        found: list[Any] = self._session.run(outputs, inputs, self._run_options)
        return found


def open_session(
    model: Path | bytes,
    *,
    name: str,
    cpu_threads: int,
    device: Device = Device.CPU,
    entries: Mapping[str, str] | None = None,
) -> OnnxSession:
    """Loads a model from a file or bytes; `entries` are onnxruntime session config entries."""
    try:
        import onnxruntime  # type: ignore[import-untyped]  # noqa: PLC0415 - optional dependency
    except ImportError as error:
        raise EngineUnavailableError("onnxruntime is not installed.") from error
    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads = 1
    options.intra_op_num_threads = cpu_threads
    options.enable_mem_pattern = False  # input lengths vary
    options.log_severity_level = _LOG_FATAL
    options.add_session_config_entry(_SPINNING, "0")
    for key, value in (entries or {}).items():
        options.add_session_config_entry(key, value)
    source = model if isinstance(model, bytes) else str(model)
    try:
        session = onnxruntime.InferenceSession(source, options, providers=device.providers)
    except Exception as error:  # onnxruntime exposes no common error class
        raise EngineUnavailableError(f"The model {name} cannot be loaded.") from error
    if device is Device.CUDA and CUDA_PROVIDER not in session.get_providers():  # onnxruntime falls back to the CPU
        raise EngineUnavailableError(f"onnxruntime cannot use CUDA for the model {name}.")
    run_options = onnxruntime.RunOptions()
    run_options.add_run_config_entry(_SHRINKAGE, device.arenas)
    return _ShrinkingSession(session, run_options)


def open_session_with_weights(
    graph: Path, folder: Path, *, name: str, cpu_threads: int, device: Device = Device.CPU
) -> OnnxSession:
    """Opens a committed graph whose weights are external data in the model's folder."""
    weights = {"session.model_external_initializers_file_folder_path": str(folder)}
    return open_session(graph.read_bytes(), name=name, cpu_threads=cpu_threads, device=device, entries=weights)


def require_onnxruntime(device: Device) -> None:
    """Raises unless a model loads on the device: a CUDA build also loads without a GPU, or without its libraries."""
    if device is Device.CUDA:
        require_onnxruntime_cuda()
        open_session(_probe(), name="probe", cpu_threads=1, device=device)


def _probe() -> bytes:
    """The smallest model: y = Relu(x) of one number."""
    node = encode_protobuf((1, "x"), (2, "y"), (4, "Relu"))
    shape = encode_protobuf((1, encode_protobuf((1, 1))))  # one dimension, of one
    kind = encode_protobuf((1, encode_protobuf((1, 1), (2, shape))))  # a tensor of floats
    values = [encode_protobuf((1, name), (2, kind)) for name in ("x", "y")]
    graph = encode_protobuf((1, node), (2, "probe"), (11, values[0]), (12, values[1]))
    return encode_protobuf((1, 8), (7, graph), (8, encode_protobuf((2, 13))))


def encode_protobuf(*fields: tuple[int, int | str | bytes | memoryview]) -> bytes:
    """Encodes numbered fields as a protobuf message, the format of ONNX files."""
    parts: list[bytes | memoryview] = []
    for number, value in fields:
        if isinstance(value, int):
            parts.append(encode_varint(number << 3, value))
        else:
            data = value.encode() if isinstance(value, str) else value
            parts += [encode_varint(number << 3 | 2, len(data)), data]
    return b"".join(parts)


def encode_varint(*numbers: int) -> bytes:
    encoded = bytearray()
    for number in numbers:
        rest = number
        while rest > 127:
            encoded.append(rest & 127 | 128)
            rest >>= 7
        encoded.append(rest)
    return bytes(encoded)
