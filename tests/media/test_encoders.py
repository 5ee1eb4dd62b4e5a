"""Arguments of the encoders, as the installed FFmpeg understands them."""

import subprocess
from pathlib import Path

import pytest

from cutroom.media import encoders
from cutroom.media.encoders import VideoEncoder
from cutroom.media.process import MediaError
from cutroom.media.sandbox import Sandbox, SandboxLimits, ffmpeg

LIBX264, NVENC = VideoEncoder.LIBX264, VideoEncoder.H264_NVENC
SOURCE = ("-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=4")


def test_libx264_has_constant_quality_and_a_cap() -> None:
    assert encoders.h264(LIBX264, quality=23, max_kbps=1400) == [
        *("-c:v", "libx264", "-preset", "veryfast", "-me_method", "dia", "-crf", "23", "-profile:v", "high"),
        *("-threads", "2"),
        *("-maxrate", "1400k", "-bufsize", "2800k"),
    ]
    assert encoders.fixed_gop(LIBX264, 50) == ["-g", "50", "-keyint_min", "50", "-sc_threshold", "0"]


def test_nvenc_has_the_same_rate_control() -> None:
    assert encoders.h264(NVENC, quality=23, max_kbps=1400) == [
        *("-c:v", "h264_nvenc", "-preset", "p4", "-rc", "vbr", "-b:v", "0", "-cq", "23", "-profile:v", "high"),
        *("-maxrate", "1400k", "-bufsize", "2800k"),
    ]
    gop = ["-g", "50", "-keyint_min", "50", "-no-scenecut", "1", "-forced-idr", "1"]
    assert encoders.fixed_gop(NVENC, 50) == gop


@pytest.mark.parametrize("encoder", VideoEncoder)
def test_ffmpeg_knows_every_option(encoder: VideoEncoder) -> None:
    options = [*encoders.h264(encoder, quality=23, max_kbps=1400), *encoders.fixed_gop(encoder, 50)]
    done = subprocess.run(
        ["ffmpeg", "-v", "error", *SOURCE, *options, "-f", "null", "-"], check=False, capture_output=True, text=True
    )
    # FFmpeg reads all options before it looks for the driver.
    assert done.returncode == 0 or "Cannot load libcuda" in done.stderr, done.stderr


def test_an_unknown_option_would_be_noticed() -> None:
    options = [*encoders.h264(NVENC, quality=23), "-rc", "constant-quality"]
    done = subprocess.run(
        ["ffmpeg", "-v", "error", *SOURCE, *options, "-f", "null", "-"], check=False, capture_output=True, text=True
    )
    assert "Cannot load libcuda" not in done.stderr


@pytest.mark.parametrize("encoder", VideoEncoder)
async def test_only_an_encode_on_the_gpu_has_its_devices_and_address_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoder: VideoEncoder
) -> None:
    """A shell in FFmpeg's place prints what it has."""
    (tmp_path / "nvidia0").touch()
    monkeypatch.setattr(encoders, "DEVICES", tmp_path)
    limits = SandboxLimits(address_space_bytes=2**30)
    sandbox = Sandbox(ffmpeg=Path("/usr/bin/sh"), limits=limits)
    done = await sandbox.run("ffmpeg", ["-c", "ulimit -v; ls /dev", encoder.value], inputs={})
    address_space, *devices = done.stdout.decode().split()
    assert address_space == ("unlimited" if encoder is NVENC else str(2**30 // 1024))
    assert ("nvidia0" in devices) is (encoder is NVENC)


def test_device_nodes_are_those_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("nvidia0", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    (tmp_path / "nvidia-caps").mkdir()
    monkeypatch.setattr(encoders, "DEVICES", tmp_path)
    assert [each.name for each in encoders.gpu_devices()] == ["nvidia-uvm", "nvidia0", "nvidiactl"]


@pytest.mark.skipif(bool(encoders.gpu_devices()), reason="this machine has a GPU")
async def test_nothing_falls_back_to_the_cpu() -> None:
    arguments = [*SOURCE, *encoders.h264(NVENC, quality=23), "-f", "null", "-"]
    with pytest.raises(MediaError) as raised:
        await ffmpeg(Sandbox(encoder=NVENC), arguments, inputs={})
    assert "Cannot load libcuda" in raised.value.detail
