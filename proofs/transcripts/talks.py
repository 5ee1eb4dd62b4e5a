"""Measures word errors and lost first words on evaluation talks over music and other backgrounds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jiwer

from cutroom.engines.registry import Engines
from cutroom.platform.settings import Settings
from cutroom.text.sentences import split_sentences
from eval.heard_speech import spoken_words
from eval.render_cache import excerpt, render_cached
from eval.rendering import RenderedTalk
from eval.talks import Background, EvaluationTalk, Half, load_talks
from proofs.stage.report import Report
from proofs.stage.transcript_stage import TranscriptResult

LANGUAGE = "en"
MAX_WER = 0.06
MAX_LOST_SHARE = 2 / 2000  # first words per word
MIN_WORDS = 1000  # with fewer words, a single lost word would exceed the share
SHORT_TALK, SHORT_LINES = "coffee_machine_launch", 3  # 20 s of speech, whose synthesis is most of the cost


@dataclass(frozen=True, slots=True)
class TalkErrors:
    """Words of a talk, word errors, and first words of sentences that the transcript lacks."""

    said: int
    wrong: int
    lost_first_words: tuple[str, ...]


def talks_over_backgrounds(*, short: bool) -> list[EvaluationTalk]:
    """Held-out English talks with a background; the short form is the beginning of a dev talk over music."""
    english = [talk for talk in load_talks() if talk.language == LANGUAGE]
    if short:
        return [excerpt(next(talk for talk in english if talk.slug == SHORT_TALK), line_count=SHORT_LINES)]
    return [talk for talk in english if talk.half is Half.HELD_OUT and talk.background is not Background.NONE]


def render_talks(settings: Settings, folder: Path, *, short: bool) -> list[tuple[EvaluationTalk, RenderedTalk]]:
    """Speech is cached, so that only the first run synthesizes it."""
    synthesizer = Engines(settings).synthesizer()
    talks = talks_over_backgrounds(short=short)
    return [(talk, render_cached(talk, synthesizer, folder=folder)) for talk in talks]


def claim_talks(
    report: Report, talks: Sequence[tuple[EvaluationTalk, RenderedTalk]], results: Mapping[str, TranscriptResult]
) -> None:
    errors = []
    for talk, rendered in talks:
        each = compare_talk([line.text for line in rendered.lines], results[talk.slug].text)
        missing = ", ".join(each.lost_first_words) or "none"
        report.note(
            f"{talk.slug} over {talk.background}: {each.wrong} of {each.said} words wrong, lost first: {missing}"
        )
        errors.append(each)
    said, wrong = sum(each.said for each in errors), sum(each.wrong for each in errors)
    lost = [word for each in errors for word in each.lost_first_words]
    rate = round(wrong / said, 4)
    backgrounds = ", ".join(sorted({str(talk.background) for talk, _ in talks}))
    half = talks[0][0].half
    claim = f"word error rate, {len(talks)} {half} talks over {backgrounds}"
    report.claim(claim, expected="<= 6 %", measured=f"{rate:.1%} ({wrong} of {said})", holds=rate <= MAX_WER)
    is_judged = said >= MIN_WORDS
    report.claim(
        "... first words of sentences that are missing",
        expected="<= 2 in 2,000 words" if is_judged else "measured; judged in the long form",
        measured=f"{len(lost)} in {said:,} words",
        holds=not is_judged or len(lost) <= MAX_LOST_SHARE * said,
    )
    key = half.replace("-", "_")
    report.figures(**{f"{key}_wer": rate, f"{key}_words": said}, lost_first_words=len(lost), lost_words=lost)


def compare_talk(lines: Sequence[str], heard: str) -> TalkErrors:
    """Aligns the words of all lines with what was heard; a first word is lost if nothing stands in its place."""
    words, firsts = _spoken_with_firsts(lines)
    compared = jiwer.process_words(" ".join(words), " ".join(spoken_words(heard, language=LANGUAGE)))
    deleted = {
        at
        for chunk in compared.alignments[0]
        if chunk.type == "delete"
        for at in range(chunk.ref_start_idx, chunk.ref_end_idx)
    }
    wrong = compared.substitutions + compared.deletions + compared.insertions
    return TalkErrors(len(words), wrong, tuple(words[at] for at in firsts if at in deleted))


def _spoken_with_firsts(lines: Sequence[str]) -> tuple[list[str], list[int]]:
    """All words as spoken, and the index of the first word of each sentence."""
    words: list[str] = []
    firsts: list[int] = []
    for sentence in _sentences(lines):
        spoken = spoken_words(sentence, language=LANGUAGE)
        if spoken:
            firsts.append(len(words))
            words += spoken
    return words, firsts


def _sentences(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield from split_sentences(line)
