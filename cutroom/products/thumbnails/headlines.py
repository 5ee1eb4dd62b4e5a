"""Headlines of thumbnails: checks of their translations."""

import re

from cutroom.engines.translation.document import DocumentLine, TranslationDocument
from cutroom.engines.translation.line_checks import LineChecker
from cutroom.engines.translation.port import LanguageIdentifier

_BRACKETS = re.compile(r"[()\[\]{}（）【】]")  # noqa: RUF001 - full-width brackets of Japanese and Chinese


def checked_translation(
    headline: str, translated: str, *, source: str, target: str, identifier: LanguageIdentifier | None
) -> str | None:
    """The translation, or None if it would fail as a caption or adds a note in brackets."""
    line = DocumentLine("headline", headline)
    check = LineChecker(TranslationDocument(source, target, (line,)), identifier=identifier)
    adds_note = len(_BRACKETS.findall(translated)) > len(_BRACKETS.findall(headline))
    return None if adds_note or check(line, translated) else translated
