"""An output on paper: which moments it shows, how they are framed and captioned; kept beside it as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.engines.types import TimeSpan
from cutroom.media.crop_plan import CropPlan

VERSION = 1

TimedBox = tuple[float, float, float, float, float, float]  # from, until, left, top, right, bottom


@dataclass(frozen=True, slots=True)
class Chosen:
    """What one output will show."""

    title: str
    description: str
    reason: str
    spans: tuple[TimeSpan, ...]  # of the film, in playing order

    def told(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "description": self.description,
            "reason": self.reason,
            "spans": [[span.start_seconds, span.end_seconds] for span in self.spans],
        }

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Chosen":
        spans = tuple(TimeSpan(start, end) for start, end in told["spans"])
        return cls(told["title"], told["description"], told["reason"], spans)


@dataclass(frozen=True, slots=True)
class Edit:
    """How it is shown. People may read it, change it, and have the output made again from it."""

    crop: CropPlan
    captions: str  # as ASS
    caption_boxes: tuple[TimedBox, ...]
    faces: tuple[TimedBox, ...]  # as they are seen in the output
    thumbnail_seconds: float

    def to_json(self, chosen: Chosen) -> bytes:
        document = {
            "version": VERSION,
            **chosen.told(),
            "framing": json.loads(self.crop.to_json()),
            "captions": self.captions,
            "captionBoxes": [list(box) for box in self.caption_boxes],
            "faces": [list(box) for box in self.faces],
            "thumbnailSeconds": self.thumbnail_seconds,
        }
        return json.dumps(document, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "Edit":
        document = json.loads(data)
        if document["version"] != VERSION:
            raise ValueError(f"There is no version {document['version']} of an edit.")
        return cls(
            crop=CropPlan.from_json(json.dumps(document["framing"])),
            captions=document["captions"],
            caption_boxes=tuple(tuple(box) for box in document["captionBoxes"]),
            faces=tuple(tuple(box) for box in document["faces"]),
            thumbnail_seconds=document["thumbnailSeconds"],
        )


def write_chosen(outputs: Sequence[Chosen]) -> bytes:
    return json.dumps({"version": VERSION, "outputs": [each.told() for each in outputs]}, ensure_ascii=False).encode()


def read_chosen(data: bytes) -> list[Chosen]:
    return [Chosen.of(each) for each in json.loads(data)["outputs"]]
