"""How engines open their networks in onnxruntime, which is an extra and has no types."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from cutroom.engines.errors import EngineUnavailableError

_SILENT = 4  # of its levels for the log: what fails is raised


class Session(Protocol):
    """What we use of a session."""

    def run(self, outputs: Sequence[str] | None, inputs: Mapping[str, Any]) -> list[Any]: ...


def open_session(
    model: Path | bytes, *, name: str, cpu_threads: int, entries: Mapping[str, str] | None = None
) -> Session:
    """A network from its file or from memory; `entries` are settings of onnxruntime's own for this session."""
    try:
        import onnxruntime  # type: ignore[import-untyped]  # noqa: PLC0415 - the API process does without it
    except ImportError as error:
        raise EngineUnavailableError("onnxruntime is not installed.") from error
    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads = 1
    options.intra_op_num_threads = cpu_threads
    # Inputs differ in length; the arena would keep memory for each length it has seen.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = _SILENT
    for key, value in (entries or {}).items():
        options.add_session_config_entry(key, value)
    given = model if isinstance(model, bytes) else str(model)
    try:
        opened: Session = onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors have no public class in common
        raise EngineUnavailableError(f"The model {name} cannot be loaded.") from error
    return opened
