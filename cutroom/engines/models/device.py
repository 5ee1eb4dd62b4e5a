"""Where models compute, and whether that device is really there."""

from enum import StrEnum
from importlib.util import find_spec

from cutroom.engines.errors import EngineUnavailableError

CUDA_PROVIDER = "CUDAExecutionProvider"


class Device(StrEnum):
    """A device of onnxruntime and CTranslate2."""

    CPU = "cpu"
    CUDA = "cuda"

    @property
    def providers(self) -> list[str]:
        """onnxruntime's execution providers: operators without a CUDA kernel run on the CPU."""
        return [CUDA_PROVIDER, "CPUExecutionProvider"] if self is Device.CUDA else ["CPUExecutionProvider"]

    @property
    def arenas(self) -> str:
        """The memory arenas that onnxruntime empties."""
        return "cpu:0;gpu:0" if self is Device.CUDA else "cpu:0"


def require_ctranslate2_cuda() -> None:
    """Raises if CTranslate2 is installed, but sees no GPU."""
    if find_spec("ctranslate2") is None:
        return
    import ctranslate2  # noqa: PLC0415 - optional dependency

    if not ctranslate2.get_cuda_device_count():
        raise EngineUnavailableError("CTranslate2 finds no CUDA device.")


def require_onnxruntime_cuda() -> None:
    """Raises if this onnxruntime is built without CUDA; `models.onnx` checks that it can be used."""
    try:
        import onnxruntime  # type: ignore[import-untyped]  # noqa: PLC0415 - optional dependency
    except ImportError as error:
        raise EngineUnavailableError("onnxruntime is not installed.") from error
    available = onnxruntime.get_available_providers()
    if CUDA_PROVIDER not in available:
        raise EngineUnavailableError(
            f"onnxruntime {onnxruntime.__version__} is built without CUDA: install onnxruntime-gpu in its place."
        )
