"""Tests for reading and writing edit plans."""

import json

import pytest

from cutroom.engines.types import TimeSpan
from cutroom.media.crop_plan import CropPane, CropPlan, CropScene, Keyframe, SceneFit
from cutroom.products.shorts.edit import Edit, SelectedOutput, read_selection, write_selection

SELECTION = SelectedOutput("A title", "What it says.", "It asks.", (TimeSpan(1.5, 20.25), TimeSpan(40.0, 51.0)))
EDIT = Edit(
    crop=CropPlan(
        1280, 720, 25.0, (CropScene(0.0, 29.75, SceneFit.CROP, (CropPane(404, 720, (Keyframe(0.0, 10.0, 0.0),)),)),)
    ),
    captions="[Script Info]\n",
    caption_boxes=((0.0, 1.0, 0.1, 0.6, 0.9, 0.7),),
    faces=((0.0, 0.5, 0.2, 0.2, 0.4, 0.4),),
    thumbnail_seconds=4.2,
)


def test_edit_json_round_trip() -> None:
    data = EDIT.to_json(SELECTION)
    assert Edit.from_json(data) == EDIT
    assert SelectedOutput.from_dict(json.loads(data)) == SELECTION


def test_selection_json_round_trip() -> None:
    other = SelectedOutput("B", "", "", (TimeSpan(0.0, 15.0),))
    assert read_selection(write_selection([SELECTION, other])) == [SELECTION, other]


def test_unknown_version_is_rejected() -> None:
    document = json.loads(EDIT.to_json(SELECTION)) | {"version": 2}
    with pytest.raises(ValueError, match="version 2"):
        Edit.from_json(json.dumps(document).encode())
