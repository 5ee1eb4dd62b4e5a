"""Writes edit lists as files for editing programs: CMX 3600 EDL, FCPXML and OpenTimelineIO."""

import xml.etree.ElementTree as ET
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING
from urllib.parse import quote

from cutroom.media.cutting.timeline import FrameSpan
from cutroom.products.transcripts.cutting.edit_list import EditList

if TYPE_CHECKING:
    from opentimelineio import opentime, schema

MAX_EDL_EVENTS = 999  # the format numbers them with three digits


class EditorFormat(StrEnum):
    """Formats that editing programs import."""

    EDL = "edl"
    FCPXML = "fcpxml"
    OTIO = "otio"


_ADAPTERS = {EditorFormat.EDL: "cmx_3600", EditorFormat.OTIO: "otio_json"}
# SMPTE rates by what they stand for.
FRAME_RATES = {
    "23.976": Fraction(24_000, 1_001),
    "24": Fraction(24),
    "25": Fraction(25),
    "29.97": Fraction(30_000, 1_001),
    "30": Fraction(30),
    "50": Fraction(50),
    "59.94": Fraction(60_000, 1_001),
    "60": Fraction(60),
}


class TooManyCutsError(ValueError):
    """The format cannot hold so many parts."""


def write_edit_list(edit_list: EditList, format_: EditorFormat, *, title: str, file_name: str, has_video: bool) -> str:
    """The content of the file; the media is referred to by its file name, which the editing program looks for."""
    if format_ is EditorFormat.FCPXML:
        return _write_fcpxml(edit_list, title=title, file_name=file_name, has_video=has_video)
    import opentimelineio as otio  # noqa: PLC0415 - loads plugins: only for those who export

    if format_ is EditorFormat.EDL and len(edit_list.kept) > MAX_EDL_EVENTS:
        raise TooManyCutsError(f"An EDL has at most {MAX_EDL_EVENTS} parts; this has {len(edit_list.kept)}.")
    timeline = otio.schema.Timeline(title)
    kinds = [otio.schema.TrackKind.Audio]
    if has_video:
        kinds.insert(0, otio.schema.TrackKind.Video)
    if format_ is EditorFormat.EDL:
        kinds = kinds[:1]  # an event of an EDL stands for all channels
    for kind in kinds:
        track = otio.schema.Track(kind.lower(), kind=kind)
        track.extend([_clip(edit_list, each, file_name) for each in edit_list.kept])
        timeline.tracks.append(track)
    text: str = otio.adapters.write_to_string(timeline, adapter_name=_ADAPTERS[format_])
    return text


def _write_fcpxml(edit_list: EditList, *, title: str, file_name: str, has_video: bool) -> str:
    """Written here: the adapter of OpenTimelineIO fails for fractional frame rates and for sound without video."""

    def seconds(frames: int) -> str:
        value = frames / edit_list.frame_rate
        return f"{value.numerator}/{value.denominator}s" if value.denominator > 1 else f"{value.numerator}s"

    root = ET.Element("fcpxml", version="1.8")
    resources = ET.SubElement(root, "resources")
    ET.SubElement(resources, "format", id="r1", frameDuration=seconds(1))
    kinds = {"hasVideo": "1", "hasAudio": "1", "format": "r1"} if has_video else {"hasAudio": "1"}
    asset = {"id": "r2", "name": file_name, "src": f"./{quote(file_name)}", "start": "0s"}
    ET.SubElement(resources, "asset", {**asset, "duration": seconds(edit_list.total_frames), **kinds})
    event = ET.SubElement(ET.SubElement(root, "library"), "event", name=title)
    length = sum(each.frames for each in edit_list.kept)
    project = ET.SubElement(event, "project", name=title)
    sequence = ET.SubElement(project, "sequence", format="r1", duration=seconds(length), tcStart="0s", tcFormat="NDF")
    spine, at = ET.SubElement(sequence, "spine"), 0
    for each in edit_list.kept:
        times = {"offset": seconds(at), "start": seconds(each.start), "duration": seconds(each.frames)}
        ET.SubElement(spine, "asset-clip", {"name": file_name, "ref": "r2", **times})
        at += each.frames
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE fcpxml>\n{ET.tostring(root, encoding="unicode")}\n'


def _clip(edit_list: EditList, kept: FrameSpan, file_name: str) -> "schema.Clip":
    from opentimelineio import schema  # noqa: PLC0415 - as above

    media = schema.ExternalReference(file_name, _time_range(edit_list, 0, edit_list.total_frames))
    return schema.Clip(file_name, media, _time_range(edit_list, kept.start, kept.frames))


def _time_range(edit_list: EditList, start: int, frames: int) -> "opentime.TimeRange":
    from opentimelineio import opentime  # noqa: PLC0415 - as above

    rate = float(edit_list.frame_rate)
    return opentime.TimeRange(opentime.RationalTime(start, rate), opentime.RationalTime(frames, rate))
