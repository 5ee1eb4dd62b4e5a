"""Checks the GPU that the settings select, by using it: nothing falls back to the CPU."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.device import Device, require_ctranslate2_cuda
from cutroom.engines.models.onnx import require_onnxruntime
from cutroom.jobs.worker import media_sandbox
from cutroom.media import encoders
from cutroom.media.encoders import VideoEncoder
from cutroom.media.process import MediaError
from cutroom.media.sandbox import Sandbox, ffmpeg
from cutroom.platform.settings import Settings

_FRAME = ("-f", "lavfi", "-i", "color=size=256x256:rate=25", "-frames:v", "1", "-pix_fmt", "yuv420p")


@dataclass(frozen=True, slots=True)
class Hardware:
    """A use of the GPU that a setting selects, and why it is not possible."""

    name: str
    variable: str
    fault: str = ""


async def check_hardware(settings: Settings) -> list[Hardware]:
    """Checks what differs from the defaults, which need no hardware."""
    found = []
    device, encoder = Device(settings.device), VideoEncoder(settings.video_encoder)
    if device is not Device.CPU:
        for name, check in (
            ("onnxruntime CUDA", partial(require_onnxruntime, device)),
            ("CTranslate2 CUDA", require_ctranslate2_cuda),
        ):
            found.append(Hardware(name, "CUTROOM_DEVICE", await asyncio.to_thread(_fault, check)))
    if encoder is not VideoEncoder.LIBX264:
        fault = await _encoder_fault(media_sandbox(settings))
        found.append(Hardware(encoder.value, "CUTROOM_VIDEO_ENCODER", fault))
    return found


async def require_hardware(settings: Settings) -> None:
    """Ends the process with a message if the GPU that the settings select cannot be used."""
    faults = [each for each in await check_hardware(settings) if each.fault]
    if faults:
        raise SystemExit("\n".join(f"{each.variable}: {each.name}: {each.fault}" for each in faults))


def _fault(check: Callable[[], None]) -> str:
    try:
        check()
    except EngineUnavailableError as error:
        return str(error)
    return ""


async def _encoder_fault(sandbox: Sandbox) -> str:
    """Encodes one frame as every encode does, in the sandbox."""
    arguments = [*_FRAME, *encoders.h264(sandbox.encoder, quality=23), "-f", "null", "-"]
    try:
        await ffmpeg(sandbox, arguments, inputs={})
    except MediaError as error:
        return " ".join(error.detail.split())
    return ""
