"""Translation: offered routes have the class that readers found on held-out talks, and doubtful lines are flagged."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from cutroom.engines.translation.port import Quality
from eval.talks import EvaluationTalk, Half, Language, load_talks
from eval.translation import figures
from eval.translation.outputs import TalkTranslation, evaluation_engines, translate_talk
from eval.translation.verdicts import StaleVerdictsError, TalkVerdicts, load_verdicts, verdicts_on
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from proofs.stage.transcript_stage import open_client
from tests.support.stage import open_stage

SHORT_TALKS = 2
WAIT_SECONDS, POLL_SECONDS = 120, 0.5
MIN_FLAG_RECALL, MIN_FLAG_PRECISION = 0.6, 0.5
_RANKS = {Quality.DRAFT: 0, Quality.REVIEW: 1, Quality.PUBLISHABLE: 2}
_COUNTS = {
    "names_lost": figures.names_lost,
    "numbers_wrong": figures.numbers_wrong,
    "invented": figures.invented,
    "leftover_words": figures.leftover_words,
}


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        async with open_stage("proof_translation", Path(name)) as stage, open_client(stage) as client:
            pairs = await _offered_pairs(client)
    _prove_classes(report, pairs)
    held_out = load_talks(Half.HELD_OUT)
    await asyncio.to_thread(_prove_talks, report, held_out[:SHORT_TALKS] if short else held_out, suffix="", short=short)
    if not short:
        await asyncio.to_thread(_prove_talks, report, load_talks(Half.DEV), suffix="_dev", short=short)


async def _offered_pairs(client: httpx.AsyncClient) -> list[dict[str, str]]:
    """The language pairs of the capabilities, as soon as a worker has advertised its routes."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            response = (await client.get("/v1/capabilities")).raise_for_status()
            pairs: list[dict[str, str]] = response.json()["pairs"]
            if pairs:
                return pairs
            await asyncio.sleep(POLL_SECONDS)


def _prove_classes(report: Report, pairs: Sequence[dict[str, str]]) -> None:
    known = {each.value for each in Quality}
    unlabelled = [pair for pair in pairs if pair.get("quality") not in known]
    report.claim(
        "offered routes without a class", expected="0 of some", measured=f"{len(unlabelled)} of {len(pairs)}",
        holds=bool(pairs) and not unlabelled,
    )  # fmt: skip
    oversold = [pair for pair in pairs if _RANKS[Quality(pair["quality"])] > _RANKS[_measured_class(pair)]]
    report.claim("routes sold above their class", expected="0", measured=len(oversold), holds=not oversold)
    report.figures(unlabelled_routes=len(unlabelled), sold_below_class=len(oversold), routes=len(pairs))


def _measured_class(pair: dict[str, str]) -> Quality:
    """The class that readers' verdicts on held-out talks allow; a route without verdicts is a draft."""
    held_out = {talk.slug for talk in load_talks(Half.HELD_OUT)}
    source, target = (pair[end].partition("-")[0] for end in ("source", "target"))
    verdicts = [each for slug, each in load_verdicts(f"{source}-{target}").items() if slug in held_out]
    return Quality.of_share(figures.meaning_right(verdicts)) if verdicts else Quality.DRAFT


def _prove_talks(report: Report, talks: Sequence[EvaluationTalk], *, suffix: str, short: bool) -> None:
    engines = evaluation_engines()
    targets: tuple[Language, ...] = ("pt",) if short else ("pt", "es")
    for target in targets:
        translations = [translate_talk(engines, talk, target) for talk in talks if talk.language == "en"]
        report.figures(**{f"chrf_{target}{suffix}": round(figures.chrf(translations), 1)})
        verdicts, stale = _verdicts(report, translations)
        if verdicts:
            right = figures.meaning_right(verdicts)
            report.figures(**{f"meaning_right_{target}{suffix}": round(right, 3), f"stale_{target}{suffix}": stale})
        claim = f"talks whose outputs in {target} nobody has read{suffix}"
        report.claim(claim, expected="0", measured=stale, holds=stale == 0)
        if target == "pt":
            _prove_counts(report, translations, suffix=suffix)
            if not stale:
                _prove_flags(report, translations, verdicts, suffix=suffix, judged=not short and not suffix)


def _verdicts(report: Report, translations: Sequence[TalkTranslation]) -> tuple[list[TalkVerdicts], int]:
    """The verdicts on these outputs, and how many talks have none."""
    found, stale = [], 0
    for translation in translations:
        try:
            found.append(verdicts_on(translation))
        except StaleVerdictsError as error:
            report.note(str(error))
            stale += 1
    return found, stale


def _prove_counts(report: Report, translations: Sequence[TalkTranslation], *, suffix: str) -> None:
    is_draft = all(each.quality is Quality.DRAFT for each in translations)
    for name, count in _COUNTS.items():
        found = figures.total(translations, count)
        counted = 0 if name == "leftover_words" and is_draft else found
        report.claim(f"{name}{suffix}", expected="0", measured=counted, holds=counted == 0)
        report.figures(**{f"{name}{suffix}": counted})
        if name == "leftover_words":
            report.figures(**{f"leftover_words_in_drafts{suffix}": found - counted})


def _prove_flags(
    report: Report,
    translations: Sequence[TalkTranslation],
    verdicts: Sequence[TalkVerdicts],
    *,
    suffix: str,
    judged: bool,
) -> None:
    counts = figures.flag_counts(translations, verdicts)
    report.claim(
        f"wrong lines that are flagged, and flagged lines that are wrong{suffix}",
        expected=f">= {MIN_FLAG_RECALL}, >= {MIN_FLAG_PRECISION}" if judged else "measured",
        measured=f"{counts.recall:.2f}, {counts.precision:.2f}",
        holds=not judged or (counts.recall >= MIN_FLAG_RECALL and counts.precision >= MIN_FLAG_PRECISION),
    )
    report.figures(
        **{f"flag_recall{suffix}": round(counts.recall, 3), f"flag_precision{suffix}": round(counts.precision, 3)}
    )


if __name__ == "__main__":
    sys.exit(prove("Translation", proof, needs=Needs(model_set="ci", programs=("ffmpeg", "apertium"))))
