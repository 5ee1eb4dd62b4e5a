"""Files for editing programs: read back by the adapters of OpenTimelineIO, and by hand where the format is text."""

import xml.etree.ElementTree as ET
from fractions import Fraction

import opentimelineio as otio
import pytest

from cutroom.products.transcripts.cutting.edit_list import EditList, FrameRange
from cutroom.products.transcripts.cutting.editor_files import (
    FRAME_RATES,
    EditorFormat,
    TooManyCutsError,
    write_edit_list,
)

KEPT = (FrameRange(0, 58), FrameRange(71, 250))
ADAPTERS = {EditorFormat.EDL: "cmx_3600", EditorFormat.FCPXML: "fcpx_xml", EditorFormat.OTIO: "otio_json"}


def written(format_: EditorFormat, *, rate: Fraction = Fraction(25), has_video: bool = True) -> str:
    edit_list = EditList(rate, 250, KEPT)
    return write_edit_list(
        edit_list, format_, title='A "talk" & <more>', file_name="talk & co.mp4", has_video=has_video
    )


def test_edl_has_source_and_record_times() -> None:
    events = [line.split() for line in written(EditorFormat.EDL).splitlines() if line[:3].isdecimal()]
    assert [event[-4:] for event in events] == [
        ["00:00:00:00", "00:00:02:08", "00:00:00:00", "00:00:02:08"],
        ["00:00:02:21", "00:00:10:00", "00:00:02:08", "00:00:09:12"],
    ]


@pytest.mark.parametrize("rate", FRAME_RATES.values(), ids=FRAME_RATES)
@pytest.mark.parametrize("format_", EditorFormat)
def test_the_parts_are_read_back(format_: EditorFormat, rate: Fraction) -> None:
    options = {"rate": float(rate)} if format_ is EditorFormat.EDL else {}
    read = otio.adapters.read_from_string(written(format_, rate=rate), adapter_name=ADAPTERS[format_], **options)
    ranges = [
        (round(each.source_range.start_time.value), round(each.source_range.duration.value))
        for each in read.find_clips()
    ]
    assert set(ranges) == {(0, 58), (71, 179)}


@pytest.mark.parametrize("has_video", [True, False])
def test_names_are_escaped(has_video: bool) -> None:  # noqa: FBT001 (a parameter of the test)
    root = ET.fromstring(written(EditorFormat.FCPXML, has_video=has_video))  # noqa: S314 (our own)
    assert root.tag == "fcpxml"
    assert any("talk & co.mp4" in value for each in root.iter() for value in each.attrib.values())


def test_an_edl_with_too_many_parts_is_refused() -> None:
    parts = tuple(FrameRange(at * 4, at * 4 + 2) for at in range(1_000))
    edit_list = EditList(Fraction(25), 5_000, parts)
    with pytest.raises(TooManyCutsError):
        write_edit_list(edit_list, EditorFormat.EDL, title="t", file_name="f.mp4", has_video=True)
