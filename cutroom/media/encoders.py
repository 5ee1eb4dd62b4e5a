"""Arguments of the H.264 encoders: constant quality, optionally capped, in the terms of each encoder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

THREADS = 2
DEVICES = Path("/dev")
GPU_DEVICES = "nvidia*"  # the driver's device nodes, such as nvidia0, nvidiactl and nvidia-uvm


class VideoEncoder(StrEnum):
    """FFmpeg's name of an encoder."""

    LIBX264 = "libx264"
    H264_NVENC = "h264_nvenc"


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The options of one encoder for the same settings."""

    quality: tuple[str, ...]  # ends with the option that takes the constant quality
    fixed_key_frames: tuple[str, ...]  # no other key frames than those of the GOP
    threads: tuple[str, ...] = ()


_DIALECTS: Mapping[VideoEncoder, _Dialect] = {
    # A smaller motion search than that of the preset: fewer bits for about the same SSIM (decision 56).
    VideoEncoder.LIBX264: _Dialect(
        ("-preset", "veryfast", "-me_method", "dia", "-crf"), ("-sc_threshold", "0"), threads=("-threads", str(THREADS))
    ),
    # Without `-b:v 0`, a default bit rate of 2 Mbit/s would limit the quality.
    VideoEncoder.H264_NVENC: _Dialect(
        ("-preset", "p4", "-rc", "vbr", "-b:v", "0", "-cq"), ("-no-scenecut", "1", "-forced-idr", "1")
    ),
}


def h264(encoder: VideoEncoder, *, quality: int, max_kbps: int | None = None) -> list[str]:
    """Constant quality in the encoder's own scale, optionally capped at a bit rate over two seconds."""
    dialect = _DIALECTS[encoder]
    arguments = ["-c:v", encoder.value, *dialect.quality, str(quality), "-profile:v", "high", *dialect.threads]
    if max_kbps is not None:
        arguments += ["-maxrate", f"{max_kbps}k", "-bufsize", f"{2 * max_kbps}k"]
    return arguments


def fixed_gop(encoder: VideoEncoder, frames: int) -> list[str]:
    """Key frames every so many frames, and nowhere else."""
    return ["-g", str(frames), "-keyint_min", str(frames), *_DIALECTS[encoder].fixed_key_frames]


def needs_gpu(arguments: Sequence[str]) -> bool:
    return VideoEncoder.H264_NVENC.value in arguments


def gpu_devices() -> list[Path]:
    """Device nodes that a program needs to use a GPU; none where there is no driver."""
    return sorted(each for each in DEVICES.glob(GPU_DEVICES) if not each.is_dir())
