"""A worker and the doctor on a machine without the GPU that the settings select."""

import asyncio
import os
import sys
from typing import Any

import pytest

from cutroom.entrypoints.doctor.component import INSTALLED, ComponentHealth
from cutroom.entrypoints.doctor.programs import check_programs
from cutroom.entrypoints.hardware import check_hardware, require_hardware
from cutroom.media import encoders
from cutroom.platform.settings import Settings

GPU = {"device": "cuda", "video_encoder": "h264_nvenc"}
# Nothing listens there: a worker that connected before it checked would fail with another message.
REQUIRED = {
    "database_url": "postgresql://nobody@127.0.0.1:1/none",
    "redis_url": "redis://127.0.0.1:1/0",
    "secret_key": "x" * 32,
    "s3_access_key": "x",
    "s3_secret_key": "x",
    "temporal_address": "127.0.0.1:1",
}
CUDA_FAULT = "CUTROOM_DEVICE: CTranslate2 CUDA: CTranslate2 finds no CUDA device."
pytestmark = pytest.mark.skipif(bool(encoders.gpu_devices()), reason="this machine has a GPU")


def _settings(**values: str) -> Settings:
    given: dict[str, Any] = {**REQUIRED, **values}
    return Settings.model_validate(given)


async def test_the_defaults_need_no_hardware() -> None:
    assert await check_hardware(_settings()) == []
    await require_hardware(_settings())


async def test_every_use_of_the_gpu_is_checked() -> None:
    found = await check_hardware(_settings(**GPU))
    assert [(each.name, each.variable, bool(each.fault)) for each in found] == [
        ("onnxruntime CUDA", "CUTROOM_DEVICE", True),
        ("CTranslate2 CUDA", "CUTROOM_DEVICE", True),
        ("h264_nvenc", "CUTROOM_VIDEO_ENCODER", True),
    ]


async def test_a_worker_refuses_to_start_and_says_why() -> None:
    variables = {f"CUTROOM_{name.upper()}": value for name, value in {**REQUIRED, **GPU}.items()}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cutroom.entrypoints.worker"),
        env={**os.environ, **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    lines = errors.decode().splitlines()
    assert (process.returncode, output) == (1, b"")
    assert CUDA_FAULT in lines
    assert any(line.startswith("CUTROOM_VIDEO_ENCODER: h264_nvenc: ") for line in lines)
    assert "Traceback" not in errors.decode()


async def test_the_doctor_names_what_is_missing_and_the_setting_to_unset() -> None:
    components = {each.name: each for each in await check_programs(_settings(**GPU), repairs=INSTALLED)}
    for name, fix in (
        ("onnxruntime CUDA", "unset CUTROOM_DEVICE"),
        ("CTranslate2 CUDA", "unset CUTROOM_DEVICE"),
        ("h264_nvenc", "unset CUTROOM_VIDEO_ENCODER"),
    ):
        assert (components[name].health, components[name].fix) == (ComponentHealth.MISSING, fix)
        assert components[name].failed
