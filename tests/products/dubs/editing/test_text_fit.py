"""How much text fits a line: its time up to the next one, and the measured pace of its voice."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from cutroom.capabilities.rules import stock_voice_id
from cutroom.products.dubs.editing.lines import LineEdits, PublishedDub, PublishedLine
from cutroom.products.dubs.editing.staleness import line_states
from cutroom.products.dubs.editing.text_fit import TextFit, text_fits, voice_paces
from cutroom.products.dubs.line_sync import GAP_SECONDS, MAX_BORROWED_SECONDS, characters_per_second
from cutroom.products.dubs.script import AssignedVoice
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument
from tests.products.dubs.editing.random_dubs import UNTIL, VOICE, published_line, random_document, random_dub

SPANS = [(1.0, 3.0), (4.0, 6.0), (20.0, 22.0)]
OTHER = AssignedVoice("kokoro", "pm_alex")
SEGMENTS = tuple(
    DocumentSegment(f"s{at}", start, end, "Twenty characters ok", "speaker_1") for at, (start, end) in enumerate(SPANS)
)
DOCUMENT = TranscriptDocument(SEGMENTS, {})


def dub_of(*voices: AssignedVoice) -> PublishedDub:
    lines = [published_line(at, [each]) for at, each in enumerate(SEGMENTS)]
    return PublishedDub([replace(line, voice=voice) for line, voice in zip(lines, voices, strict=True)], 1)


def fits_of(
    dub: PublishedDub, edits: dict[str, LineEdits] | None = None, *, until_seconds: float = 100.0
) -> list[TextFit]:
    states = line_states(dub.lines, DOCUMENT, edits or {})
    found = text_fits(states, dub, language="pt", until_seconds=until_seconds)
    return [found[each.id] for each in states]


def test_a_line_has_the_time_up_to_the_next_one_or_what_it_may_borrow() -> None:
    available = [each.available_seconds for each in fits_of(dub_of(VOICE, VOICE, VOICE), until_seconds=23.0)]
    assert available == [3.0 - GAP_SECONDS, 2.0 + MAX_BORROWED_SECONDS, 3.0]


def test_an_offset_moves_the_time_and_a_muted_line_leaves_its_own_to_the_one_before() -> None:
    dub = dub_of(VOICE, VOICE, VOICE)
    first, second, _ = (each.id for each in dub.lines)
    moved = fits_of(dub, {second: LineEdits(start_offset=-0.5)})
    assert [each.available_seconds for each in moved[:2]] == [2.5 - GAP_SECONDS, 2.0 + MAX_BORROWED_SECONDS]
    muted = fits_of(dub, {second: LineEdits(mute=True), first: LineEdits(start_offset=0.5)})
    assert muted[0].available_seconds == 2.0 + MAX_BORROWED_SECONDS


def test_the_pace_is_that_of_the_voice_without_its_tempo_and_its_rate() -> None:
    dub = dub_of(VOICE, VOICE, OTHER)
    lines: list[PublishedLine] = list(dub.lines)
    placed = lines[2].placed
    assert placed is not None
    lines[2] = replace(lines[2], placed=replace(placed, seconds=1.0, tempo=1.25, speaking_rate=1.2))
    measured = PublishedDub(lines, 1)
    assert voice_paces(measured) == {
        stock_voice_id("kokoro", "pf_dora"): pytest.approx(0.1),
        stock_voice_id("kokoro", "pm_alex"): pytest.approx(1.5 / 20),
    }
    chosen = fits_of(measured, {lines[0].id: LineEdits(voice=stock_voice_id("kokoro", "pm_alex"), speed=0.75)})
    assert chosen[0].seconds_per_character == pytest.approx(0.1)
    unknown = fits_of(measured, {lines[0].id: LineEdits(voice="unheard")})
    assert unknown[0].seconds_per_character == pytest.approx(0.0875)  # the median of the voices


def test_without_speech_the_pace_is_that_of_the_language() -> None:
    silent = PublishedDub([replace(each, placed=None) for each in dub_of(VOICE, VOICE, VOICE).lines], 1)
    assert fits_of(silent)[0].seconds_per_character == round(1 / characters_per_second("pt"), 4)


@pytest.mark.parametrize("seed", range(20))
def test_every_line_of_the_transcript_has_time_and_a_pace(seed: int) -> None:
    rng = random.Random(seed)
    document = random_document(rng)
    published = [replace(each, voice=rng.choice((VOICE, OTHER, None))) for each in random_dub(rng, document)]
    dub = PublishedDub(published, 1)
    states = line_states(published, document, {})
    fits = text_fits(states, dub, language="pt", until_seconds=UNTIL)
    assert set(fits) == {each.id for each in states if each.desired is not None}
    assert all(each.available_seconds > 0 and each.seconds_per_character > 0 for each in fits.values())
    for state, following in pairwise(states):
        end = state.source.start_seconds + fits[state.id].available_seconds
        assert end <= max(following.source.start_seconds, state.source.start_seconds + 0.25)


def test_speech_that_is_too_long_exceeds_the_time() -> None:
    assert TextFit(2.0, 0.05).excess_seconds(2.4) == 0.4
    assert TextFit(2.0, 0.05).excess_seconds(1.9) == 0.0
