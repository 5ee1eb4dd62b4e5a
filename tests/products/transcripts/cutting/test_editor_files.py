"""Files for editing programs: read back by the adapters of OpenTimelineIO, and by hand where the format is text."""

import xml.etree.ElementTree as ET
from fractions import Fraction

import opentimelineio as otio
import pytest

from cutroom.media.cutting.timeline import FrameSpan
from cutroom.products.transcripts.cutting.edit_list import EditList
from cutroom.products.transcripts.cutting.editor_files import (
    FRAME_RATES,
    EditorFormat,
    TooManyCutsError,
    write_edit_list,
)

KEPT = (FrameSpan(0, 58), FrameSpan(71, 250))
ADAPTERS = {EditorFormat.EDL: "cmx_3600", EditorFormat.OTIO: "otio_json"}


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
@pytest.mark.parametrize("format_", ADAPTERS)
def test_the_parts_are_read_back(format_: EditorFormat, rate: Fraction) -> None:
    options = {"rate": float(rate)} if format_ is EditorFormat.EDL else {}
    read = otio.adapters.read_from_string(written(format_, rate=rate), adapter_name=ADAPTERS[format_], **options)
    ranges = [
        (round(each.source_range.start_time.value), round(each.source_range.duration.value))
        for each in read.find_clips()
    ]
    assert set(ranges) == {(0, 58), (71, 179)}


@pytest.mark.parametrize("rate", FRAME_RATES.values(), ids=FRAME_RATES)
@pytest.mark.parametrize("has_video", [True, False])
def test_fcpxml_has_exact_times(has_video: bool, rate: Fraction) -> None:  # noqa: FBT001 (a parameter of the test)
    root = ET.fromstring(written(EditorFormat.FCPXML, rate=rate, has_video=has_video))  # noqa: S314 (our own)

    def frames(element: ET.Element, name: str) -> int:
        found = Fraction(element.attrib[name].removesuffix("s")) * rate
        assert found.denominator == 1
        return found.numerator

    clips = [tuple(frames(each, name) for name in ("offset", "start", "duration")) for each in root.iter("asset-clip")]
    assert clips == [(0, 0, 58), (58, 71, 179)]
    [sequence], [asset], [layout] = root.iter("sequence"), root.iter("asset"), root.iter("format")
    assert (frames(sequence, "duration"), frames(asset, "duration"), frames(layout, "frameDuration")) == (237, 250, 1)
    assert (asset.attrib["name"], asset.attrib["src"]) == ("talk & co.mp4", "./talk%20%26%20co.mp4")
    assert ("hasVideo" in asset.attrib, asset.attrib["hasAudio"]) == (has_video, "1")
    assert {each.attrib["ref"] for each in root.iter("asset-clip")} == {asset.attrib["id"]}


def test_an_edl_with_too_many_parts_is_refused() -> None:
    parts = tuple(FrameSpan(at * 4, at * 4 + 2) for at in range(1_000))
    edit_list = EditList(Fraction(25), 5_000, parts)
    with pytest.raises(TooManyCutsError):
        write_edit_list(edit_list, EditorFormat.EDL, title="t", file_name="f.mp4", has_video=True)
