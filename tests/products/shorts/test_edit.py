"""An edit is read back as it was written, and what is none is refused."""

import json

import pytest

from cutroom.engines.types import TimeSpan
from cutroom.media.crop_plan import CropPlan, Fit, Key, Pane, Scene
from cutroom.products.shorts.edit import Chosen, Edit, read_chosen, write_chosen

CHOSEN = Chosen("A title", "What it says.", "It asks.", (TimeSpan(1.5, 20.25), TimeSpan(40.0, 51.0)))
EDIT = Edit(
    crop=CropPlan(1280, 720, 25.0, (Scene(0.0, 29.75, Fit.CROP, (Pane(404, 720, (Key(0.0, 10.0, 0.0),)),)),)),
    captions="[Script Info]\n",
    caption_boxes=((0.0, 1.0, 0.1, 0.6, 0.9, 0.7),),
    faces=((0.0, 0.5, 0.2, 0.2, 0.4, 0.4),),
    thumbnail_seconds=4.2,
)


def test_an_edit_comes_back_as_it_was() -> None:
    data = EDIT.to_json(CHOSEN)
    assert Edit.from_json(data) == EDIT
    assert Chosen.of(json.loads(data)) == CHOSEN


def test_what_was_chosen_comes_back_in_order() -> None:
    other = Chosen("B", "", "", (TimeSpan(0.0, 15.0),))
    assert read_chosen(write_chosen([CHOSEN, other])) == [CHOSEN, other]


def test_another_version_is_refused() -> None:
    document = json.loads(EDIT.to_json(CHOSEN)) | {"version": 2}
    with pytest.raises(ValueError, match="version 2"):
        Edit.from_json(json.dumps(document).encode())
