"""What the proof claims about the cast: in the episodes of a series, and in many trials with the real embedder."""

from proofs.glossary.returning_speaker import NAME, SeriesResult
from proofs.stage.report import Report
from tests.support.dialogue import ALLISON
from tests.support.voices.returning_voices import (
    SPEAKERS,
    RecognitionTrial,
    Voices,
    exchange_names,
    first_episode_cast,
    lone_rival_trials,
    returning_trials,
)

MIN_TRIALS = 20


def claim_cast(report: Report, series: SeriesResult, voices: Voices) -> tuple[int, int]:
    """How many voices were taken for another, in how many trials."""
    _claim_series(report, series)
    cast = first_episode_cast(voices)
    returning, alone = list(returning_trials(voices, cast)), list(lone_rival_trials(voices, cast))
    missed = _count_missed(report, returning)
    known = sum(each.expected is not None for each in returning)
    report.claim(
        "known voices that returned in another episode and were not recognized",
        expected="<= 1",
        measured=f"{missed} of {known}",
        holds=missed <= 1,
    )
    wrong = series.wrong + sum(each.is_wrong for each in (*returning, *alone))
    trials = series.trials + len(returning) + len(alone)
    report.claim(
        "voices taken for another, known and unknown ones",
        expected=f"0 of >= {MIN_TRIALS}",
        measured=f"{wrong} of {trials}",
        holds=wrong == 0 and trials >= MIN_TRIALS,
    )
    exchanged = sum(each.is_wrong for each in returning_trials(voices, exchange_names(cast)))
    report.claim(
        "voices counted as wrong if the names in the cast are exchanged",
        expected=f">= {len(SPEAKERS)}",
        measured=exchanged,
        holds=exchanged >= len(SPEAKERS),
    )
    return wrong, trials


def _claim_series(report: Report, series: SeriesResult) -> None:
    shown = series.recognized
    report.claim(
        "the speaker who was confirmed in episode one, in the transcript of episode two",
        expected=f"{NAME}, a member of the cast",
        measured=f"{shown['label']}, {'a member of the cast' if 'castMemberId' in shown else 'unknown'}",
        holds=shown["label"] == NAME and "castMemberId" in shown,
    )
    later = series.found_later
    is_found = later["label"] == NAME and "castMemberId" in later
    report.claim(
        "the same speaker in an earlier episode, before and after existing transcripts were compared",
        expected=f"unknown, {NAME}",
        measured=f"{'unknown' if series.was_unknown else 'known'}, {later['label']}",
        holds=series.was_unknown and is_found,
    )
    others = [each for each in series.unknown if each != ALLISON]
    report.claim(
        "other speakers of these episodes, and those of them with a name",
        expected=">= 1, 0",
        measured=f"{len(others) + series.wrong}, {series.wrong}",
        holds=len(others) + series.wrong >= 1 and series.wrong == 0,
    )
    others_have_it = any(voice == series.cast_voice for who, voice in series.voices.items() if who != ALLISON)
    report.claim(
        "the voice of the cast in the dub of episode two",
        expected="of the member's lines, and of no other",
        measured=series.voices,
        holds=series.voices.get(ALLISON) == series.cast_voice and not others_have_it and len(series.voices) > 1,
    )


def _count_missed(report: Report, trials: list[RecognitionTrial]) -> int:
    missed = [each for each in trials if each.is_missed]
    for each in missed:
        report.note(f"not recognized: {each.speaker} in episode {each.episode + 1}")
    return len(missed)
