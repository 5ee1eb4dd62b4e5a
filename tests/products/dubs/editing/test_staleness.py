"""Which lines are stale after random edits of the transcript and of the dub, against a model that works by segments."""

import json
import random
from dataclasses import replace
from itertools import pairwise

import pytest

from cutroom.products.dubs.editing.lines import DesiredLine, LineEdits, PublishedLine
from cutroom.products.dubs.editing.redub_lines import LineWork, lines_to_json, read_lines, redub_lines, script_lines
from cutroom.products.dubs.editing.staleness import LineStaleReason, LineState, caption_of, line_states
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument
from cutroom.text.glossary.terms import Glossary
from tests.products.dubs.editing.random_dubs import (
    edited,
    made,
    published_line,
    random_document,
    random_dub,
    random_edit,
    words,
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


class Remainders:
    """The model of cuts: which published segment each segment is what remains of, followed edit by edit."""

    def __init__(self, document: TranscriptDocument) -> None:
        self.origins: dict[str, str | None] = {each.id: each.id for each in document.segments}
        self.document = document
        self.merged = set[str]()  # published segments whose remainders were merged with something

    def follow(self, after: TranscriptDocument) -> None:
        """What is new right after a segment that lost text was split off it; anything else new was inserted."""
        texts = {each.id: each.text for each in self.document.segments}
        left = {each.id for each in after.segments}
        for before, each in pairwise(self.document.segments):
            if each.id not in left:
                self.merged |= {known for id_ in (before.id, each.id) if (known := self.origins[id_]) is not None}
        origin: str | None = None
        for each in after.segments:
            if each.id in texts:
                origin = self.origins[each.id] if each.text != texts[each.id] else None
            else:
                self.origins[each.id] = origin
        self.document = after

    def of(self, line: PublishedLine) -> list[DocumentSegment]:
        return [each for each in self.document.segments if self.origins[each.id] in line.source.segment_ids]

    def is_mixed(self, line: PublishedLine) -> bool:
        """Whether other words came into the line, so that deleted ones cannot be told from others."""
        if self.merged & {*line.source.segment_ids}:
            return True
        source = line.source
        inserted = [each for each in self.document.segments if self.origins[each.id] is None]
        return any(source.start_seconds <= each.start_seconds < source.end_seconds for each in inserted)

    def reasons(self, line: PublishedLine) -> set[LineStaleReason]:
        """Of a line that is not what it was, but not gone."""
        source, said = line.source, self.of(line)
        if not any(each.deleted for each in said):
            return {LineStaleReason.SOURCE_CHANGED}
        is_same = (
            "".join(each.text for each in said).replace(" ", "") == source.text.replace(" ", "")
            and {each.speaker for each in said} == {source.speaker}
            and (said[0].start_seconds, said[-1].end_seconds) == (source.start_seconds, source.end_seconds)
        )
        return {LineStaleReason.CUT} if is_same else {LineStaleReason.CUT, LineStaleReason.SOURCE_CHANGED}


def names(states: list[LineState]) -> set[str]:
    return {each.id for each in states if each.is_stale}


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_after_random_edits_exactly_the_affected_lines_are_stale(seed: int) -> None:
    rng, ids = random.Random(seed), [f"n{number}" for number in range(1000)]
    before = random_document(rng)
    published, remainders = random_dub(rng, before), Remainders(before)
    sources = {each.id: each.source for each in published}
    document, edits = before, dict[str, LineEdits]()
    assert names(line_states(published, document, edits)) == set()
    for _ in range(EDITS):
        if rng.random() < 0.6:
            document = edited(rng, document, ids)
            remainders.follow(document)
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
            elif all(each.deleted for each in remainders.of(line)):
                assert state.reasons == (LineStaleReason.REMOVED,)
            elif state.desired is not None and not wanted.to_row() and not remainders.is_mixed(line):
                assert set(state.reasons) == remainders.reasons(line), line.source
            else:
                assert state.reasons or wanted.to_row()
                is_kept = any(each.id in line.source.segment_ids for each in document.kept)
                assert state.desired is not None or not is_kept
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


def test_what_remains_beside_deleted_words_is_one_line_of_the_remaining_time() -> None:
    document = TranscriptDocument((segment("s1", 1.0, 3.0, "One thing."), segment("s2", 3.5, 9.0, "And now for it.")))
    published = [published_line(at, [each]) for at, each in enumerate(document.segments)]
    first, word = document.segments[0], segment("x1", 5.0, 6.5, "now", deleted=True)
    pieces = (segment("s2", 3.5, 4.9, "And"), word, segment("x2", 6.6, 9.0, "for it."))
    cut = replace(document, segments=(first, *pieces))
    one, two = line_states(published, cut, {})
    assert (one.reasons, two.reasons) == ((), (LineStaleReason.CUT,))
    assert (two.id, two.source.segment_ids, two.source.text) == (published[1].id, ("s2", "x2"), "And for it.")
    assert (two.source.cuts, two.speech_seconds) == (((5.0, 6.5),), 4.0)
    lines = redub_lines([one, two], {two.id})
    (scripted,) = script_lines(lines, cut, until_seconds=10.0, glossary=Glossary())[1:]
    assert (scripted.start_seconds, scripted.end_seconds, scripted.latest_end_seconds) == (3.5, 7.5, 8.5)
    after = made(lines, cut)
    assert [each.reasons for each in line_states(after, cut, {})] == [(), ()]
    assert PublishedLine.from_row(json.loads(json.dumps(after[1].to_row()))) == after[1]
    # The word is restored: it is spoken again, in the same line.
    restored = replace(document, segments=(first, pieces[0], replace(word, deleted=False), pieces[2]))
    one, two = line_states(after, restored, {})
    assert (two.reasons, two.source.segment_ids) == ((LineStaleReason.SOURCE_CHANGED,), ("s2", "x1", "x2"))
    assert (two.source.cuts, two.speech_seconds) == ((), 5.5)


def test_a_line_whose_first_words_are_deleted_keeps_its_id() -> None:
    document = TranscriptDocument((segment("s1", 1.0, 5.0, "Well then it begins."),))
    published = [published_line(0, document.segments)]
    pieces = (segment("s1", 1.0, 2.0, "Well then", deleted=True), segment("x1", 2.1, 5.0, "it begins."))
    (state,) = line_states(published, replace(document, segments=pieces), {})
    assert (state.id, state.reasons, state.source.segment_ids) == (published[0].id, (LineStaleReason.CUT,), ("x1",))
    whole = replace(document, segments=(pieces[0], replace(pieces[1], deleted=True)))
    assert [each.reasons for each in line_states(published, whole, {})] == [(LineStaleReason.REMOVED,)]


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_lines_of_captions_are_stale_when_the_captions_say_something_else(seed: int) -> None:
    """The model keeps what the captions said when each line was made."""
    rng = random.Random(seed)
    document = random_document(rng)
    published, edits = random_dub(rng, document), dict[str, LineEdits]()
    captions = {each.id: each.text.upper() for each in document.segments}  # what the lines were made from
    said = {each.id: caption_of(each.source, captions) for each in published}
    for _ in range(EDITS):
        segment_id = rng.choice(document.segments).id
        change = rng.random()
        if change < 0.5:
            captions[segment_id] = words(rng)
        elif change < 0.7:
            captions.pop(segment_id, None)
        else:
            line = rng.choice(published)
            edits[line.id] = rng.choice((LineEdits(), LineEdits(text="Escrito."), LineEdits(mute=True)))
        states = line_states(published, document, edits, captions=captions)
        for state in states:
            now = caption_of(state.source, captions)
            is_changed = now is not None and now != said[state.id]
            expected = is_changed and state.edits.text is None and state.edits.is_spoken
            assert (LineStaleReason.CAPTIONS_CHANGED in state.reasons) == expected
            assert state.is_stale == (expected or inputs_differ(state))
            assert state.needs_speech or not expected
        stale = {each.id for each in states if each.is_stale}
        chosen = set(rng.sample(sorted(stale), rng.randint(0, len(stale))))
        if chosen:
            lines = redub_lines(states, chosen)
            published = made(lines, document)
            texts = {each.id: each.placed.text for each in published if each.placed is not None}
            for state in states:
                if state.id not in chosen:
                    continue
                now = caption_of(state.source, captions)
                if state.edits.is_spoken and state.edits.text is None and now is not None:
                    said[state.id] = now
                    assert texts[state.id] == now
            again = line_states(published, document, edits, captions=captions)
            assert {each.id for each in again if each.is_stale} == stale - chosen


def inputs_differ(state: LineState) -> bool:
    assert state.published is not None
    return DesiredLine(state.source, state.edits).inputs != state.published.inputs


def segment(id_: str, start: float, end: float, text: str, *, deleted: bool = False) -> DocumentSegment:
    return DocumentSegment(id_, start, end, text, "speaker_1", deleted)


def test_undoing_an_edit_makes_a_line_current() -> None:
    state, published = line_with(LineEdits(text="Outra coisa."))
    assert state.is_stale
    document = random_document(random.Random(1), count=1)
    (reverted,) = line_states([published], document, {published.id: LineEdits()})
    assert reverted.reasons == ()
