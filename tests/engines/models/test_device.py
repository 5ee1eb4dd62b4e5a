"""Sessions on a device, with the installed libraries, which have no CUDA on this machine."""

import ctranslate2
import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.device import CUDA_PROVIDER, Device, require_ctranslate2_cuda
from cutroom.engines.models.onnx import _probe, open_session, require_onnxruntime

HAS_CUDA = ctranslate2.get_cuda_device_count() > 0
without_cuda = pytest.mark.skipif(HAS_CUDA, reason="this machine has a GPU")


def test_the_model_of_the_check_is_valid() -> None:
    session = open_session(_probe(), name="probe", cpu_threads=1)
    assert session.run(None, {"x": np.array([-2.0], np.float32)})[0] == [0.0]
    assert session.run(None, {"x": np.array([2.0], np.float32)})[0] == [2.0]


def test_cpu_is_always_there() -> None:
    require_onnxruntime(Device.CPU)
    assert Device.CPU.providers == ["CPUExecutionProvider"]


def test_cuda_leaves_only_operators_without_a_kernel_to_the_cpu() -> None:
    assert Device.CUDA.providers == [CUDA_PROVIDER, "CPUExecutionProvider"]


@without_cuda
def test_onnxruntime_without_cuda_is_named() -> None:
    assert CUDA_PROVIDER not in onnxruntime.get_available_providers()
    with pytest.raises(EngineUnavailableError, match=f"onnxruntime {onnxruntime.__version__} is built without CUDA"):
        require_onnxruntime(Device.CUDA)


@without_cuda
@pytest.mark.filterwarnings("ignore:Specified provider")
def test_a_session_that_onnxruntime_opened_on_the_cpu_is_refused() -> None:
    with pytest.raises(EngineUnavailableError, match="cannot use CUDA for the model probe"):
        open_session(_probe(), name="probe", cpu_threads=1, device=Device.CUDA)


@without_cuda
def test_ctranslate2_without_a_device_is_named() -> None:
    with pytest.raises(EngineUnavailableError, match="CTranslate2 finds no CUDA device"):
        require_ctranslate2_cuda()
