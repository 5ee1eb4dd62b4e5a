"""Rendered headlines can be read by an OCR engine."""

import pytest

from cutroom.engines.thumbnails.port import Pipeline, ThumbnailSpec
from dev.fixtures.photographs import photograph
from tests.engines.thumbnails.compositor.test_renderer import compositor
from tests.support.ocr import character_accuracy, preview, read_text, word_accuracy


def test_headline_is_readable_at_full_and_small_size() -> None:
    spec = ThumbnailSpec(Pipeline.CREATIVE, "The truth about coffee", "en", frames=(photograph("coffee.png"),))
    [thumbnail] = compositor().render(spec, count=1)
    assert thumbnail.headline is not None
    assert word_accuracy(thumbnail.headline, read_text(thumbnail.image)) >= 0.95
    assert character_accuracy(thumbnail.headline, read_text(preview(thumbnail.image))) >= 0.9


@pytest.mark.parametrize(
    ("expected", "read", "characters", "words"),
    [
        ("DAYS IN SPACE", "days in\nSPACE", 1.0, 1.0),
        ("DAYS IN SPACE", "SPACE\nDAYS IN\nNASA", 1.0, 1.0),
        ("DAYS", "DAY5", 0.75, 0.75),
        ("DAYS", "", 0.0, 0.0),
        ("DAYS", "SYAD", 1.0, 0.0),
        ("Größe!", "GRÖSSE", 1.0, 1.0),
    ],
)
def test_accuracy_measures(expected: str, read: str, characters: float, words: float) -> None:
    assert character_accuracy(expected, read) == characters
    assert word_accuracy(expected, read) == words
