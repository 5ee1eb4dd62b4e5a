"""Private terms are found inside identifiers and running text, and not inside other words."""

import subprocess
from pathlib import Path

import pytest

from dev.structure.vocabulary import private_terms


def terms_in(folder: Path, text: str, name: str = "module.py") -> list[str]:
    (folder / name).write_text(text)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return [found.term for found in private_terms(folder)]


@pytest.mark.parametrize(
    "text",
    ["film_path = 1", "class FilmMaker: ...", "filmPath = 1", "# This is told to whoever asks.", "# It is made anew."],
)
def test_private_terms_are_found(tmp_path: Path, text: str) -> None:
    assert terms_in(tmp_path, text)


@pytest.mark.parametrize("text", ["filming = 1", "embedded = 1", "intellect = 1", "# The video is ready.", "renewed"])
def test_ordinary_words_are_not_found(tmp_path: Path, text: str) -> None:
    assert terms_in(tmp_path, text) == []
