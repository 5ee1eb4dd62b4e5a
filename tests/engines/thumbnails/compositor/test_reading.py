"""What was written can be read by somebody who does not know it: an OCR engine."""

import pytest

from cutroom.engines.thumbnails.port import Pipeline, ThumbnailSpec
from dev.fixtures.photographs import photograph
from tests.engines.thumbnails.compositor.test_maker import compositor
from tests.support.ocr import character_accuracy, read_text, small, word_accuracy

HEADLINES = {
    "astronaut.png": "200 days in space",
    "coffee.png": "The truth about coffee",
    "rocket.jpg": "Launch day at last",
    "chelsea.png": "Why cats stare at you",
}


@pytest.mark.parametrize("name", HEADLINES)
def test_a_headline_is_read_back_also_when_small(name: str) -> None:
    design = ThumbnailSpec(Pipeline.CREATIVE, HEADLINES[name], "en", frames=(photograph(name),))
    [drawn] = compositor().draw(design, count=1)
    assert drawn.headline is not None
    assert word_accuracy(drawn.headline, read_text(drawn.picture)) >= 0.95
    assert character_accuracy(drawn.headline, read_text(small(drawn.picture))) >= 0.9


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
def test_accuracy_counts_what_was_read(expected: str, read: str, characters: float, words: float) -> None:
    assert character_accuracy(expected, read) == characters
    assert word_accuracy(expected, read) == words
