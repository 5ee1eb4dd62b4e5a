"""A published dub with one line, which was edited since."""

from collections.abc import Mapping
from typing import Any

from cutroom.products.dubs.editing.lines import DesiredLine, LineEdits, PublishedDub, PublishedLine, SourceLine
from cutroom.products.dubs.editing.rewording.order import WordingsOrder
from cutroom.products.dubs.script import AssignedVoice, DubLine, PlacedLine

LINE_ID = "l1f0c9a8b7d6e5f43"  # that of the examples in the document


def dub_columns(segment: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of a dub of the only segment of a transcript."""
    start, end, speaker, text = (segment[name] for name in ("start", "end", "speaker", "text"))
    source = SourceLine(LINE_ID, ("s1",), start, end, speaker, text)
    line = DubLine(0, start, end, end, speaker, text, (text,), id=LINE_ID)
    placed = PlacedLine(0, "key", start, end - start, 1.0, text, shortened=False, gain=1.0)
    published = PublishedLine(
        source,
        DesiredLine(source).inputs,
        line,
        placed,
        AssignedVoice("kokoro", "pf_dora"),
        text,
        (text,),
        source.text_fingerprint,
    )
    return {
        "lines": PublishedDub([published], 1, 0.0).to_row(),
        "edits": {LINE_ID: LineEdits(gain_db=-3.0).to_row()},
    }


def wordings_order(text: str, language: str) -> WordingsOrder:
    """Shorter wordings of the line that are to be written."""
    return WordingsOrder(LINE_ID, text, language, 20)


def takes_job(preview_id: str, video_id: str, language: str) -> dict[str, Any]:
    """Columns of a job that is to speak takes of the line, or to write wordings."""
    return {
        "id": f"takes_{preview_id}",
        "type": "takes",
        "status": "queued",
        "depends_on": [],
        "plan": {"dubbed_video_id": video_id, "language": language, "product": "plus", "line": LINE_ID},
    }
