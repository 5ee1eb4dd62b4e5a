"""The edit plan of an output as JSON: its moments, crops and captions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cutroom.engines.types import Box, TimeSpan
from cutroom.media.crop_plan import CropPlan

VERSION = 1
MAX_OUTPUT_CUTS = 40  # each part is read as an input of its own
MIN_PART_SECONDS = 0.08  # between two cuts: two frames

TimedBox = tuple[float, float, float, float, float, float]  # start, end, left, top, right, bottom


@dataclass(frozen=True, slots=True)
class SelectedOutput:
    """The moments of one output, with its title and description."""

    title: str
    description: str
    reason: str
    spans: tuple[TimeSpan, ...]  # of the source, in playing order
    transcript_revision: int | None = None  # that it was chosen from
    cuts: tuple[TimeSpan, ...] = ()  # deleted words in the spans

    def to_dict(self) -> dict[str, Any]:
        return {
            "transcriptRevision": self.transcript_revision,
            "cuts": [[cut.start_seconds, cut.end_seconds] for cut in self.cuts],
            "title": self.title,
            "description": self.description,
            "reason": self.reason,
            "spans": [[span.start_seconds, span.end_seconds] for span in self.spans],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SelectedOutput":
        spans, cuts = (tuple(TimeSpan(start, end) for start, end in data.get(name, ())) for name in ("spans", "cuts"))
        return cls(data["title"], data["description"], data["reason"], spans, data.get("transcriptRevision"), cuts)

    def without(self, deleted: Sequence[TimeSpan], *, revision: int) -> "SelectedOutput":
        """The output without deleted words: the longest, if there are more than can be cut."""
        found = [
            cut
            for cut in deleted
            if any(cut.start_seconds < each.end_seconds and cut.end_seconds > each.start_seconds for each in self.spans)
        ]
        longest = sorted(found, key=lambda cut: cut.start_seconds - cut.end_seconds)[:MAX_OUTPUT_CUTS]
        cuts = tuple(sorted(longest, key=lambda cut: cut.start_seconds))
        return replace(self, transcript_revision=revision, cuts=cuts)

    @property
    def heard(self) -> list[tuple[float, float]]:
        """The parts of the source that are shown: the spans without deleted words."""
        parts = []
        for span in self.spans:
            start = span.start_seconds
            for cut in self.cuts:
                if cut.end_seconds > start and cut.start_seconds < span.end_seconds:
                    parts.append((start, cut.start_seconds))
                    start = cut.end_seconds
            parts.append((start, span.end_seconds))
        return [(start, end) for start, end in parts if end - start >= MIN_PART_SECONDS] or [
            (each.start_seconds, each.end_seconds) for each in self.spans
        ]


@dataclass(frozen=True, slots=True)
class CoverView:
    """A frame that the cover can show, by the place of its main face in the source."""

    seconds: float  # of the output
    face: Box


@dataclass(frozen=True, slots=True)
class Edit:
    """Crops, captions and cover of an output; users can edit it and render the output again."""

    crop: CropPlan
    captions: str  # ASS
    caption_boxes: tuple[TimedBox, ...]
    faces: tuple[TimedBox, ...]  # in output coordinates
    thumbnail_seconds: float
    cover_zoom: float = 1.0  # of the crop, around the main face
    cover_views: tuple[CoverView, ...] = ()  # the most prominent first

    def to_json(self, selection: SelectedOutput) -> bytes:
        document = {
            "version": VERSION,
            **selection.to_dict(),
            "framing": json.loads(self.crop.to_json()),
            "captions": self.captions,
            "captionBoxes": [list(box) for box in self.caption_boxes],
            "faces": [list(box) for box in self.faces],
            "thumbnailSeconds": self.thumbnail_seconds,
            "coverZoom": self.cover_zoom,
            "coverViews": [
                [view.seconds, view.face.x, view.face.y, view.face.width, view.face.height] for view in self.cover_views
            ],
        }
        return json.dumps(document, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "Edit":
        document = json.loads(data)
        if document["version"] != VERSION:
            raise ValueError(f"Unknown edit version {document['version']}.")
        return cls(
            crop=CropPlan.from_json(json.dumps(document["framing"])),
            captions=document["captions"],
            caption_boxes=tuple(tuple(box) for box in document["captionBoxes"]),
            faces=tuple(tuple(box) for box in document["faces"]),
            thumbnail_seconds=document["thumbnailSeconds"],
            cover_zoom=document["coverZoom"],
            cover_views=tuple(CoverView(seconds, Box(*face)) for seconds, *face in document["coverViews"]),
        )


def write_selection(outputs: Sequence[SelectedOutput]) -> bytes:
    return json.dumps(
        {"version": VERSION, "outputs": [each.to_dict() for each in outputs]}, ensure_ascii=False
    ).encode()


def read_selection(data: bytes) -> list[SelectedOutput]:
    return [SelectedOutput.from_dict(each) for each in json.loads(data)["outputs"]]
