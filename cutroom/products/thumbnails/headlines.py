"""Headlines of thumbnails: checks of their translations, and when they were said."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cutroom.engines.registry import Engines
from cutroom.engines.translation.document import DocumentLine, LineFault, TranslationDocument
from cutroom.engines.translation.glossary_wordings import enforce_terms
from cutroom.engines.translation.line_checks import LineChecker
from cutroom.engines.translation.port import LanguageIdentifier
from cutroom.engines.translation.routing import plan_translation, translate_along
from cutroom.products.thumbnails.detection import VideoFrame
from cutroom.text.glossary.rules import TermRule
from cutroom.text.vocabulary import stems

MIN_SAID_SHARE = 0.6  # of the content words of a headline, in the segment that says it
AROUND_SECONDS = 2.0  # frames within this distance of the segment show what was said
MIN_SCORE_SHARE = 0.75  # of the best frame's score; a frame of the right moment may be a little worse
_BRACKETS = re.compile(r"[()\[\]{}（）【】]")  # noqa: RUF001 - full-width brackets of Japanese and Chinese


def checked_translation(
    headline: str,
    translated: str,
    *,
    source: str,
    target: str,
    identifier: LanguageIdentifier | None,
    glossary: Sequence[TermRule] = (),
) -> str | None:
    """The translation, or None if it would fail as a caption or adds a note in brackets.

    A broken term of the glossary is no reason to refuse it, and is listed instead.
    """
    line = DocumentLine("headline", headline)
    check = LineChecker(TranslationDocument(source, target, (line,), glossary=tuple(glossary)), identifier=identifier)
    adds_note = len(_BRACKETS.findall(translated)) > len(_BRACKETS.findall(headline))
    faults = [each for each in check(line, translated) if each.fault is not LineFault.GLOSSARY]
    return None if adds_note or faults else translated


def translate_headline(
    engines: Engines, headline: str, *, source: str, target: str, glossary: Sequence[TermRule]
) -> str | None:
    """With the wordings of the glossary; None if the translation is not faithful."""
    plan = plan_translation(engines.translators(), source=source, target=target)
    identifier = engines.language_identifier()
    document = TranslationDocument(source, target, (DocumentLine("headline", headline),), glossary=tuple(glossary))
    check = LineChecker(document, identifier=identifier)
    translations = translate_along(plan, [headline])
    [translated] = enforce_terms(plan, document, translations, check=check, repair=lambda _at, text: text)
    return checked_translation(
        headline, translated, source=source, target=target, identifier=identifier, glossary=glossary
    )


def find_spoken_segment(
    headline: str, segments: Sequence[Mapping[str, Any]], *, language: str
) -> Mapping[str, Any] | None:
    """The first segment that says most of the headline; None if the headline was not said."""
    wanted = set(stems(headline, language=language))
    if not wanted:
        return None
    spoken = [each for each in segments if not each.get("deleted")]
    shares = [len(wanted & set(stems(each["text"], language=language))) / len(wanted) for each in spoken]
    best = max(shares, default=0.0)
    return spoken[shares.index(best)] if best >= MIN_SAID_SHARE else None


def frames_of_headline_first(frames: Sequence[VideoFrame], spoken: Mapping[str, Any] | None) -> list[VideoFrame]:
    """Moves good frames of the moment at which the headline is said to the front; otherwise keeps the order."""
    if spoken is None or not frames:
        return list(frames)
    start, end = spoken["start"] - AROUND_SECONDS, spoken["end"] + AROUND_SECONDS
    min_score = MIN_SCORE_SHARE * max(each.score for each in frames)
    return sorted(frames, key=lambda each: not (start <= each.seconds <= end and each.score >= min_score))
