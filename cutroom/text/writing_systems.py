"""Script properties: sentence-ending marks, unspaced scripts and primary language subtags."""

# ruff: noqa: RUF001 (marks of many scripts look alike)

import re

SENTENCE_MARKS = frozenset(".!?…。！？｡؟।॥։።။")
_ENDS = "\"'”’»›)]}）］｝」』】〉》〕〗"
# Han, kana, Thai, Lao, Burmese and Khmer, with their punctuation and full-width forms.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3001-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff01-\uff65\uff66-\uff9f\U00020000-\U0003ffff]"
)


def primary_language(language: str) -> str:
    """Primary language subtag of a BCP 47 tag."""
    return language.replace("_", "-").split("-")[0].lower()


def is_unspaced(character: str) -> bool:
    return bool(_UNSPACED.match(character))


def strip_closing_marks(text: str) -> str:
    """Strips closing quotes and brackets, so that the sentence mark comes last."""
    return text.rstrip(_ENDS)
