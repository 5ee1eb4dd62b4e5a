"""Translates documents along a planned route, with another engine for lines that a language model cannot translate."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from cutroom.engines.errors import EngineError, NoRouteError
from cutroom.engines.translation.document import (
    AlternativesTranslator,
    CheckLine,
    DocumentTranslation,
    DocumentTranslator,
    Finding,
    LineFault,
    TranslatedLine,
    TranslationDocument,
)
from cutroom.engines.translation.line_checks import LineChecker
from cutroom.engines.translation.port import LanguageIdentifier, Translator
from cutroom.engines.translation.quality_estimation import BackTranslate, SentenceEmbedder, doubts
from cutroom.engines.translation.routing import TranslationPlan, lowest_quality, plan_translation, translate_along
from cutroom.engines.translation.sentence_documents import translate_sentences
from cutroom.engines.types import OnProgress
from cutroom.platform.process.worker_metrics import record_translation

# A document with more fallback lines than this is as good as the fallback, and is labelled so.
MAX_FALLBACK_SHARE = 0.1
ALTERNATIVES = 3  # translations of a flagged line, including the one in use
# Reported by other means, such as the reading speed of captions and the sync report of dubs.
NOT_FLAGGED = frozenset({LineFault.TOO_LONG})

EstimateLines = Callable[[Sequence[str], Sequence[str]], list[list[Finding]]]  # of sources and their translations

_log = logging.getLogger(__name__)


def translate_document(
    plan: TranslationPlan,
    document: TranslationDocument,
    *,
    translators: Sequence[Translator],
    identifier: LanguageIdentifier | None = None,
    embedder: SentenceEmbedder | None = None,
    on_progress: OnProgress | None = None,
) -> DocumentTranslation:
    """Translates every line along the plan, and checks it; `embedder` finds lines whose meaning is doubtful.

    A translator for whole documents gets the document, and lines that it fails are translated by the best plan without
    it. Other translators get the lines as sentences. Raises EngineError if a line has no usable translation.
    """
    check = LineChecker(document, identifier=identifier)
    only = plan.legs[0].translator if len(plan.legs) == 1 else None
    if isinstance(only, DocumentTranslator):
        tagged = replace(document, source=plan.source, target=plan.target)
        translation = only.translate_document(tagged, check=check, on_progress=on_progress).rated(plan.quality)
        others = [each for each in translators if each is not only]
        translation = _with_fallbacks(translation, document, others, check=check)
    else:
        estimate = partial(
            doubts, source=plan.source, back_translate=_back_translate(plan, translators), embedder=embedder
        )
        translation = _translate_lines(plan, document, check=check, estimate=estimate, on_progress=on_progress)
    _report(translation, plan)
    return translation


def _translate_lines(
    plan: TranslationPlan,
    document: TranslationDocument,
    *,
    check: CheckLine,
    estimate: EstimateLines,
    on_progress: OnProgress | None,
) -> DocumentTranslation:
    texts = translate_sentences(plan, document, check=check, on_progress=on_progress)
    engine = plan.legs[-1].translator.name
    doubtful = estimate([line.text for line in document.lines], texts)
    lines = tuple(
        TranslatedLine(
            line.id,
            text,
            engine,
            tuple(each for each in (*check(line, text), *doubt) if each.fault not in NOT_FLAGGED),
        )
        for line, text, doubt in zip(document.lines, texts, doubtful, strict=True)
    )
    return DocumentTranslation(_with_alternatives(plan, document, lines), quality=plan.quality)


def _back_translate(plan: TranslationPlan, translators: Sequence[Translator]) -> BackTranslate | None:
    """The reverse route, if there is one; a language model is not asked twice."""
    others = [each for each in translators if not isinstance(each, DocumentTranslator)]
    try:
        reverse = plan_translation(others, source=plan.target, target=plan.source)
    except NoRouteError:
        return None
    return partial(translate_along, reverse)


def _with_alternatives(
    plan: TranslationPlan, document: TranslationDocument, lines: tuple[TranslatedLine, ...]
) -> tuple[TranslatedLine, ...]:
    """Adds other translations to flagged lines, if the only translator of the plan has them."""
    leg = plan.legs[0]
    if len(plan.legs) > 1 or not isinstance(leg.translator, AlternativesTranslator):
        return lines
    result = list(lines)
    for at, line in enumerate(lines):
        if line.reasons:
            found = leg.translator.alternatives(
                document.lines[at].text, source=leg.route.source, target=leg.route.target, count=ALTERNATIVES
            )
            others = [each.text for each in found if each.text != line.text][: ALTERNATIVES - 1]
            result[at] = replace(line, alternatives=tuple(others))
    return tuple(result)


def _with_fallbacks(
    translation: DocumentTranslation, document: TranslationDocument, others: Sequence[Translator], *, check: CheckLine
) -> DocumentTranslation:
    """Replaces lines whose translation was rejected, if the fallback's is better."""
    failed = [at for at, line in enumerate(translation.lines) if line.severity() > (0, 0, 0)]
    if not failed:
        return translation
    plan = _fallback_plan(document, others)
    if plan is None:
        for at in failed:
            _require_usable(translation.lines[at])
        return translation
    texts = translate_along(plan, [document.lines[at].text for at in failed])
    lines, engine = list(translation.lines), plan.legs[-1].translator.name
    for at, text in zip(failed, texts, strict=True):
        own = lines[at]
        other = TranslatedLine(own.id, text, engine, tuple(check(document.lines[at], text)))
        lines[at] = _better(own, other)
        _require_usable(lines[at])
    replaced = sum(line.is_fallback for line in lines)
    few = replaced <= MAX_FALLBACK_SHARE * len(lines)
    quality = translation.quality if few else lowest_quality((translation.quality, plan.quality))
    counts = replace(translation.counts, fallback_lines=replaced)
    return DocumentTranslation(tuple(lines), counts, quality)


def _better(own: TranslatedLine, other: TranslatedLine) -> TranslatedLine:
    """The model's line if its faults are minor and the other has some too, or if the other is worse."""
    own_rank, other_rank = own.severity(), other.severity()
    own_is_minor = own_rank[:2] == (0, 0)
    if other_rank > own_rank or (own_is_minor and other_rank == own_rank):
        return own
    if own_is_minor and other_rank[:2] == (0, 0) and LineFault.TOO_LONG in {each.fault for each in own.findings}:
        return own  # a good translation that is a little long can still be shortened or sped up
    rejected = tuple(dict.fromkeys(each.fault for each in own.findings))
    return replace(other, rejected=rejected, alternatives=(own.text,) if own.is_usable else ())


def _fallback_plan(document: TranslationDocument, others: Sequence[Translator]) -> TranslationPlan | None:
    try:
        return plan_translation(others, source=document.source, target=document.target)
    except NoRouteError:
        return None


def _require_usable(line: TranslatedLine) -> None:
    if not line.is_usable:
        raise EngineError(f"A line has no usable translation: {', '.join(line.reasons)}.")


def _report(translation: DocumentTranslation, plan: TranslationPlan) -> None:
    counts, engine = translation.counts, plan.legs[-1].translator.name
    flagged = sum(bool(line.reasons) for line in translation.lines)
    _log.info(
        "document translated",
        extra={
            "engine": engine,
            "lines": len(translation.lines),
            "requests": counts.requests,
            "rejected_lines": counts.rejected_lines,
            "retries": counts.retries,
            "fallback_lines": counts.fallback_lines,
            "busy_waits": counts.busy_waits,
            "flagged_lines": flagged,
        },
    )
    record_translation(
        engine,
        lines=len(translation.lines),
        requests=counts.requests,
        retries=counts.retries,
        fallback_lines=counts.fallback_lines,
    )
