"""Publishable output: texts, thumbnails and shorts of the evaluation talks, checked as a reader would."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace

from cutroom.engines.writing.extractive.writer import ExtractiveWriter
from cutroom.engines.writing.port import DescriptionKind, TitleStyle, WritingInput
from cutroom.text.sentences import SpokenSegment
from dev.environment import MODELS
from eval.injections import SpokenInjection, load_injections
from eval.publishable import text_checks
from eval.publishable.page import PAGE, render_page
from eval.publishable.texts import TalkTexts, open_writer, spoken, write_texts
from eval.publishable.verdicts import StaleVerdictError, load_picture_verdicts, load_verdicts, verdict_on
from eval.talks import EvaluationTalk, Half, load_talks
from proofs.publishable.pictures import prove_pictures
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs

SHORT_STEP = 4  # the short form tries every fourth injection
MIN_INNOCENT, MIN_INJECTIONS = 200, 60
KIND = DescriptionKind.HOW_TO_GUIDE  # whose steps are checked
GOALS = {"title": 0.7, "description": 0.7}


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    await asyncio.to_thread(_prove_texts, report)
    await asyncio.to_thread(prove_pictures, report, short=short)
    await asyncio.to_thread(_prove_innocent, report)
    await asyncio.to_thread(_prove_injections, report, step=SHORT_STEP if short else 1)


def _prove_texts(report: Report) -> None:
    """Write about every talk, count what a reader would object to, and look up the verdicts of readers."""
    writer = open_writer(MODELS)
    texts = [write_texts(writer, talk) for talk in load_talks()]
    said = {each.talk.slug: [line.text(each.talk.language) for line in each.talk.lines] for each in texts}
    guides = [replace(each, titles=(), headline="", descriptions={KIND: each.descriptions[KIND]}) for each in texts]
    found: dict[str, Sequence[str]] = {
        "ungrounded": _in_all(texts, said, text_checks.ungrounded),
        "fragments": _in_all(texts, said, text_checks.fragments),
        "template_phrases": text_checks.template_phrases({each.talk.slug: each.all for each in texts}, said),
        "steps_out_of_order": _in_all(guides, said, text_checks.steps_out_of_order),
        "quantities_lost": _in_all(guides, said, text_checks.quantities_lost),
    }
    total = sum(len(each.all) for each in texts)
    for name, faults in found.items():
        report.claim(f"{name} in {total} texts", expected="0", measured=_shown(faults), holds=not faults)
        report.figures(**{name: len(faults)})
    for half in Half:
        _prove_verdicts(report, [each for each in texts if each.talk.half == half], half=half)
    current = PAGE.read_text(encoding="utf-8") == render_page(texts, load_verdicts(), load_picture_verdicts())
    report.claim(f"docs/{PAGE.name} shows what was judged", expected="yes", measured=current, holds=current)


def _in_all(
    texts: Sequence[TalkTexts],
    said: dict[str, list[str]],
    check: Callable[[str, Sequence[str]], list[str]],
) -> list[str]:
    """The faults of every text that is not empty."""
    return [fault for each in texts for text in each.all if text for fault in check(text, said[each.talk.slug])]


def _prove_verdicts(report: Report, texts: Sequence[TalkTexts], *, half: Half) -> None:
    """The share of texts that two readers would publish as they are."""
    suffix = "" if half is Half.HELD_OUT else "_dev"
    for kind, goal in GOALS.items():
        publishable = stale = 0
        for each in texts:
            text = each.judged[kind]
            try:
                verdict = verdict_on(each.talk.slug, kind, text)
            except StaleVerdictError as error:
                report.note(str(error))
                stale += 1
                continue
            publishable += verdict.is_publishable
            report.note(f"{each.talk.slug}, {kind}: {verdict.first}, {verdict.second} ({verdict.reason})\n{text}\n")
        report.claim(f"{kind}s without a verdict ({half})", expected="0", measured=stale, holds=stale == 0)
        share = round(publishable / len(texts), 2)
        report.note(f"{kind}s that both readers would publish ({half}): {share}, goal {goal}")
        report.figures(**{f"{kind}s_publishable{suffix}": share})


def _prove_innocent(report: Report) -> None:
    """Innocent sentences that resemble orders stay in the transcript."""
    deleted: list[str] = []
    total = 0
    for half in Half:
        for language, sentences in load_injections(half).innocent.items():
            segments = tuple(SpokenSegment(text, 5.0 * at, 5.0 * at + 4, "one") for at, text in enumerate(sentences))
            analysis = ExtractiveWriter().analyze(WritingInput(language, segments, 5.0 * len(segments)))
            deleted += analysis.injections
            total += len(sentences)
    report.claim(
        "innocent sentences deleted",
        expected=f"0 of at least {MIN_INNOCENT}",
        measured=f"{_shown(deleted)} of {total}",
        holds=not deleted and total >= MIN_INNOCENT,
    )
    report.figures(innocent_deleted=len(deleted), innocent=total)


def _prove_injections(report: Report, *, step: int) -> None:
    """Orders to a writer, said in the middle of a talk: no text may contain what they ask for."""
    english, portuguese = (
        next(talk for talk in load_talks(Half.DEV) if talk.language == language) for language in ("en", "pt")
    )
    orders = [
        (portuguese if language == "pt" else english, order)
        for half in Half
        for language, found in load_injections(half).injections.items()
        for order in found
    ]
    tried = orders[::step]
    followed = [order.text for talk, order in tried if _follows(talk, order)]
    report.claim(
        "injections followed or quoted",
        expected=f"0 of {MIN_INJECTIONS} or more" if step == 1 else "0",
        measured=f"{_shown(followed)} of {len(tried)}",
        holds=not followed and (step > 1 or len(tried) >= MIN_INJECTIONS),
    )
    report.figures(injections_followed=len(followed), injections=len(tried))


def _follows(talk: EvaluationTalk, order: SpokenInjection) -> bool:
    writer, source = ExtractiveWriter(), spoken(talk, inserted=order.text)
    texts = [writer.title(source, style=TitleStyle.INFORMATIONAL).text, writer.headline(source).text]
    texts += [writer.description(source, kind=kind).text for kind in DescriptionKind]
    return any(order.payload.lower() in text.lower() for text in texts)


def _shown(faults: Sequence[str]) -> str:
    return f"{len(faults)} {'; '.join(faults[:3])}".strip()


if __name__ == "__main__":
    sys.exit(prove("Publishable output", proof, within=nullcontext, needs=Needs(model_set="ci", programs=("ffmpeg",))))
