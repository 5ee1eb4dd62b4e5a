"""Verdicts on translated talks, and sheets for readers."""

from dataclasses import replace
from pathlib import Path

import pytest

from cutroom.engines.translation.document import DocumentTranslation, TranslatedLine
from cutroom.engines.translation.port import Quality
from cutroom.engines.translation.route_quality import load_measurements
from eval.talks import Half, load_talks
from eval.translation import figures
from eval.translation.outputs import TalkTranslation
from eval.translation.sheets import InvalidAnswersError, ReaderAnswer, line_id, read_answers, write_sheets
from eval.translation.verdicts import (
    StaleVerdictsError,
    load_verdicts,
    merge_answers,
    verdicts_on,
    write_verdicts,
)

RIGHT, WRONG = ReaderAnswer("right"), ReaderAnswer("wrong", 'the "bank" of a river')


@pytest.fixture
def translation() -> TalkTranslation:
    """The references of a talk, as if an engine had made them."""
    talk = next(talk for talk in load_talks(Half.DEV) if talk.language == "en")
    lines = tuple(TranslatedLine(str(at), line.pt, "the-engine") for at, line in enumerate(talk.lines))
    return TalkTranslation(talk, "pt", DocumentTranslation(lines), ("the-engine",), Quality.DRAFT)


def changed(translation: TalkTranslation) -> TalkTranslation:
    first, *rest = translation.translation.lines
    lines = (replace(first, text=first.text + " Sim."), *rest)
    return replace(translation, translation=replace(translation.translation, lines=lines))


def answers(translation: TalkTranslation, answer: ReaderAnswer = RIGHT) -> dict[str, ReaderAnswer]:
    return {line_id(translation, number): answer for number in range(1, len(translation.texts) + 1)}


def test_verdicts_are_stored_with_their_fingerprint(translation: TalkTranslation, tmp_path: Path) -> None:
    merged = merge_answers(translation, answers(translation), answers(translation, WRONG))
    write_verdicts("en-pt", [merged], folder=tmp_path)
    assert verdicts_on(translation, folder=tmp_path) == merged
    with pytest.raises(StaleVerdictsError, match="changed"):
        verdicts_on(changed(translation), folder=tmp_path)
    with pytest.raises(StaleVerdictsError, match="not been read"):
        verdicts_on(translation, folder=tmp_path / "empty")


def test_a_disagreement_is_wrong_unless_a_third_reader_settles_it(translation: TalkTranslation) -> None:
    one, two = answers(translation), answers(translation, WRONG)
    assert merge_answers(translation, one, one).right == len(translation.texts)
    assert merge_answers(translation, one, two).right == 0
    settled = merge_answers(translation, one, two, {line_id(translation, 1): RIGHT})
    assert [line.line for line in settled.lines if line.is_right] == [1]
    with pytest.raises(KeyError):
        merge_answers(translation, one, {})


def test_sheets_hide_the_engine_and_the_reference(translation: TalkTranslation, tmp_path: Path) -> None:
    text = "".join(path.read_text() for path in write_sheets([changed(translation)], tmp_path, name="en-pt"))
    assert text.count("\n## ") == len(translation.texts)
    assert "the-engine" not in text
    assert translation.references[0] + "\n" not in text


def test_only_the_two_verdicts_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "answers.toml"
    path.write_text('l1 = "right"\nl2 = "wrong: a name"\n')
    assert read_answers([path]) == {"l1": RIGHT, "l2": ReaderAnswer("wrong", "a name")}
    path.write_text('l1 = "maybe"\n')
    with pytest.raises(InvalidAnswersError):
        read_answers([path])


def test_references_have_no_faults(translation: TalkTranslation) -> None:
    assert figures.chrf([translation]) == pytest.approx(100)
    for count in (figures.names_lost, figures.leftover_words):
        assert figures.total([translation], count) == 0


def test_measured_classes_follow_from_the_verdicts() -> None:
    held_out = {talk.slug for talk in load_talks(Half.HELD_OUT)}
    for direction, measurement in load_measurements().items():
        verdicts = load_verdicts(f"{direction.source}-{direction.target}")
        read = [each for slug, each in verdicts.items() if slug in held_out]
        assert (measurement.right, measurement.lines) == (
            sum(each.right for each in read), sum(len(each.lines) for each in read),
        )  # fmt: skip
