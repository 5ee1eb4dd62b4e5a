"""Which lines are stale after random edits of the transcript and of the dub, against a model that works by segments."""

import json
import random
from dataclasses import replace

import pytest

from cutroom.products.dubs.editing.lines import DesiredLine, LineEdits, PublishedLine
from cutroom.products.dubs.editing.redub_lines import LineWork, lines_to_json, read_lines, redub_lines
from cutroom.products.dubs.editing.staleness import LineStaleReason, LineState, line_states
from cutroom.products.transcripts.document import TranscriptDocument
from tests.products.dubs.editing.random_dubs import (
    edited,
    made,
    published_line,
    random_document,
    random_dub,
    random_edit,
)

ROUNDS, EDITS = 60, 8  # 480 edits


def unchanged_lines(published: list[PublishedLine], after: TranscriptDocument) -> set[str]:
    """Lines whose segments say the same at the same time by the same speaker, with nothing between them."""
    order = sorted(after.kept, key=lambda each: (each.start_seconds, each.end_seconds))
    found = set()
    for line in published:
        at = [number for number, each in enumerate(order) if each.id in line.source.segment_ids]
        if not at or at != list(range(at[0], at[0] + len(at))):
            continue
        own = [order[number] for number in at]
        said = (" ".join(each.text for each in own), own[0].start_seconds, own[-1].end_seconds)
        source = line.source
        if said == (source.text, source.start_seconds, source.end_seconds) and {each.speaker for each in own} == {
            source.speaker
        }:
            found.add(line.id)
    return found


def names(states: list[LineState]) -> set[str]:
    return {each.id for each in states if each.is_stale}


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_after_random_edits_exactly_the_affected_lines_are_stale(seed: int) -> None:
    rng, ids = random.Random(seed), [f"n{number}" for number in range(1000)]
    before = random_document(rng)
    published = random_dub(rng, before)
    sources = {each.id: each.source for each in published}
    document, edits = before, dict[str, LineEdits]()
    assert names(line_states(published, document, edits)) == set()
    for _ in range(EDITS):
        if rng.random() < 0.6:
            document = edited(rng, document, ids)
        else:
            chosen = rng.choice(published).id
            edits[chosen] = random_edit(rng, edits.get(chosen, LineEdits()), sources[chosen])
        states = line_states(published, document, edits)
        found = {each.id: each for each in states}
        assert len(found) == len(states)
        spoken = [segment for each in states if each.desired for segment in each.source.segment_ids]
        assert sorted(spoken) == sorted(each.id for each in document.kept)  # each segment in one line
        untouched = unchanged_lines(published, document)
        for line in published:
            state, wanted = found[line.id], edits.get(line.id, LineEdits())
            if line.id in untouched:
                is_edited = DesiredLine(line.source, wanted).inputs != line.inputs
                assert state.reasons == ((LineStaleReason.EDITED,) if is_edited else ())
            elif not any(each.id in line.source.segment_ids for each in document.kept):
                assert state.reasons == (LineStaleReason.REMOVED,)
            elif not wanted.to_row():
                assert state.reasons == (LineStaleReason.SOURCE_CHANGED,), line.source
        added = {each.id for each in states if each.published is None}
        assert all(found[each].reasons == (LineStaleReason.ADDED,) for each in added)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_a_regeneration_makes_its_lines_current_and_keeps_all_others(seed: int) -> None:
    rng, ids = random.Random(seed), [f"n{number}" for number in range(1000)]
    document = random_document(rng)
    published, edits = random_dub(rng, document), dict[str, LineEdits]()
    for _ in range(4):
        for _ in range(4):
            document = edited(rng, document, ids)
            line = rng.choice(published)
            edits[line.id] = random_edit(rng, edits.get(line.id, LineEdits()), line.source)
        states = line_states(published, document, edits)
        stale = sorted(names(states))
        chosen = set(rng.sample(stale, rng.randint(0, len(stale))))
        lines = redub_lines(states, chosen)
        assert read_lines(lines_to_json(lines)) == lines
        after = [PublishedLine.from_row(json.loads(json.dumps(each.to_row()))) for each in made(lines, document)]
        kept = {each.id: each for each in published if each.id not in chosen}
        assert {each.id for each in after} >= set(kept)
        for each in after:
            if each.id in kept:
                old = kept[each.id]
                assert replace(each, line=old.line, placed=old.placed) == old
                assert (each.placed is None) == (old.placed is None)
                if each.placed is not None and old.placed is not None:
                    assert replace(each.placed, number=0) == replace(old.placed, number=0)
        published = after
        again = {each.id: each for each in line_states(published, document, edits)}
        assert {id_ for id_, each in again.items() if each.is_stale} == set(stale) - chosen
        assert {each.id for each in states if each.desired} == {id_ for id_, each in again.items() if each.desired}


def line_with(edits: LineEdits) -> tuple[LineState, PublishedLine]:
    document = random_document(random.Random(1), count=1)
    published = published_line(0, document.segments)
    (state,) = line_states([published], document, {published.id: edits})
    return state, published


@pytest.mark.parametrize(
    ("edits", "needs_speech"),
    [
        (LineEdits(text="Outra coisa."), True),
        (LineEdits(voice="v1"), True),
        (LineEdits(speed=1.2), True),
        (LineEdits(start_offset=0.5), True),
        (LineEdits(pronunciation={"sun": "son"}), True),
        (LineEdits(gain_db=-3.0), False),
        (LineEdits(mute=True), False),
        (LineEdits(keep_original=True), False),
    ],
)
def test_only_what_is_heard_differently_is_spoken_again(edits: LineEdits, needs_speech: bool) -> None:  # noqa: FBT001
    state, _ = line_with(edits)
    assert state.reasons == (LineStaleReason.EDITED,)
    assert (state.needs_speech, state.speech_seconds > 0) == (needs_speech, needs_speech)
    assert not state.needs_translation
    work = LineWork.SPOKEN if needs_speech else LineWork.PLACED if edits.is_spoken else LineWork.SILENT
    assert [each.work for each in redub_lines([state], {state.id})] == [work]


def test_a_written_line_stays_current_when_its_source_changes_but_is_marked_for_review() -> None:
    document = random_document(random.Random(2), count=1)
    published = published_line(0, document.segments)
    edits = {published.id: LineEdits(text="Escrito.", edited_source=published.source.text_fingerprint)}
    (state,) = line_states([published], document, edits)
    (line,) = made(redub_lines([state], {state.id}), document)
    changed = replace(document, segments=(replace(document.segments[0], text="Something else."),))
    (now,) = line_states([line], changed, edits)
    assert (now.reasons, now.desired and now.desired.needs_review) == ((), True)
    (unwritten,) = line_states([line], changed, {})
    assert unwritten.reasons == (LineStaleReason.EDITED,)
    assert unwritten.needs_translation


def test_undoing_an_edit_makes_a_line_current() -> None:
    state, published = line_with(LineEdits(text="Outra coisa."))
    assert state.is_stale
    document = random_document(random.Random(1), count=1)
    (reverted,) = line_states([published], document, {published.id: LineEdits()})
    assert reverted.reasons == ()
