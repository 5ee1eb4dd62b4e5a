"""Facts about writing that every room needs: which scripts have no blanks, and what ends a sentence."""

# ruff: noqa: RUF001 (marks of many scripts look alike)

import re

SENTENCE_MARKS = frozenset(".!?…。！？｡؟।॥։።။")
_ENDS = "\"'”’»›)]}）］｝」』】〉》〕〗"
# Han, kana, Thai, Lao, Burmese, Khmer, and the punctuation and full-width forms that go with them.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3001-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff01-\uff65\uff66-\uff9f\U00020000-\U0003ffff]"
)


def base_of(language: str) -> str:
    """The language of a BCP 47 code, without region and script."""
    return language.replace("_", "-").split("-")[0].lower()


def unspaced(character: str) -> bool:
    return bool(_UNSPACED.match(character))


def bare(text: str) -> str:
    """Without closing quotes and brackets, so that the mark that ends a sentence comes last."""
    return text.rstrip(_ENDS)
