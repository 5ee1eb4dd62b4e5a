"""Changes of lines: bounds by their neighbors, respellings, and where the source is heard."""

# ruff: noqa: RUF001 (phonemes look like letters)

import random
from dataclasses import replace

import numpy as np
import pytest

from cutroom.products.dubs.editing.changes import InvalidChangeError, LineChange, apply_changes
from cutroom.products.dubs.editing.lines import LineEdits
from cutroom.products.dubs.editing.staleness import LineState, line_states
from cutroom.products.dubs.line_sync import GAP_SECONDS, Slot, line_starts
from cutroom.products.dubs.mixing import MIX_RATE, insert_original
from cutroom.products.dubs.script import DubLine
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument
from cutroom.text.glossary.line_glossary import LineGlossary
from cutroom.text.glossary.pronunciation import Pronunciation
from cutroom.text.phonetic_spelling import spoken_parts
from tests.products.dubs.editing.random_dubs import published_line

SPANS = [(1.0, 3.0), (4.0, 6.0), (6.1, 8.0)]


def three_lines() -> list[LineState]:
    segments = tuple(
        DocumentSegment(f"s{at}", start, end, f"Line {at}.", "speaker_1") for at, (start, end) in enumerate(SPANS)
    )
    published = [published_line(at, [each]) for at, each in enumerate(segments)]
    return line_states(published, TranscriptDocument(segments), {})


@pytest.mark.parametrize(
    ("line", "offset", "is_possible"),
    [
        (0, -1.0, True),  # to the beginning
        (0, -1.1, False),
        (1, -1.0, True),  # to the end of the line before
        (1, -1.1, False),
        (1, 1.79, True),  # to where it has a quarter of a second left
        (1, 1.9, False),
        (2, 1.65, True),
        (2, 1.7, False),
    ],
)
def test_the_start_of_a_line_stays_between_its_neighbors(line: int, offset: float, is_possible: bool) -> None:  # noqa: FBT001
    states = three_lines()
    changes = [LineChange(states[line].id, {"start_offset": offset})]
    if is_possible:
        assert apply_changes(states, {}, changes) == {states[line].id: LineEdits(start_offset=offset)}
        return
    with pytest.raises(InvalidChangeError) as raised:
        apply_changes(states, {}, changes)
    assert raised.value.field == "changes.0.startOffset"


def test_changes_are_made_all_or_none_and_neutral_values_are_not_set() -> None:
    states = three_lines()
    first, second = states[0].id, states[1].id
    before = {first: LineEdits(text="Um.", edited_source=states[0].source.text_fingerprint)}
    with pytest.raises(InvalidChangeError):
        apply_changes(states, before, [LineChange(first, {"text": None}), LineChange("unknown", {"mute": True})])
    values = {"mute": False, "gain_db": 0.0, "start_offset": 0.0, "pronunciation": {}, "keep_original": False}
    after = apply_changes(states, before, [LineChange(first, {"text": None}), LineChange(second, values)])
    assert {line: each.to_row() for line, each in after.items()} == {first: {}, second: {}}


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Asterisk, o asterisk.", "Ásterisc, o Ásterisc."),
        ("Asterisks e PBX", "Asterisks e pê bê xis"),
        ("Nada.", "Nada."),
    ],
)
def test_only_whole_words_are_respelled(text: str, spoken: str) -> None:
    line = DubLine(
        0, 0.0, 1.0, 1.0, "speaker_1", "", (text,), pronunciation={"asterisk": "Ásterisc", "PBX": "pê bê xis"}
    )
    assert line.spoken(0, reads_phonemes=False) == spoken
    assert replace(line, pronunciation={}).spoken(0, reads_phonemes=False) == text


def test_the_spelling_of_a_line_comes_before_the_glossary() -> None:
    terms = LineGlossary(pronunciations=(Pronunciation("PBX", "pibiex"), Pronunciation("SIP", "sipp")))
    line = DubLine(0, 0.0, 1.0, 1.0, "speaker_1", "", ("PBX e SIP",), glossary=terms)
    assert line.spoken(0, reads_phonemes=False) == "pibiex e sipp"
    assert replace(line, pronunciation={"pbx": "pê bê xis"}).spoken(0, reads_phonemes=False) == "pê bê xis e sipp"


def test_lines_that_are_kept_do_not_move_for_others() -> None:
    rng = random.Random(5)
    for _ in range(200):
        starts = sorted(rng.uniform(0, 30) for _ in range(6))
        lines = [(Slot(start, start + 1, start + 1), rng.uniform(0.5, 3)) for start in starts]
        fixed = {at for at in range(6) if rng.random() < 0.5}
        placed = line_starts(lines, fixed=fixed)
        assert all(placed[at] == lines[at][0].start_seconds for at in fixed)
        for at in set(range(1, 6)) - fixed:  # never before the end of the line before it
            assert placed[at] >= placed[at - 1] + lines[at - 1][1] + GAP_SECONDS / 2 - 1e-3


def test_the_source_is_heard_only_in_its_time() -> None:
    background, source = np.zeros((2, 3 * MIX_RATE), np.float32), np.full((2, 3 * MIX_RATE), 0.5, np.float32)
    mixed = insert_original(background, source, [(1.0, 2.0), (-1.0, 0.0), (5.0, 6.0)])
    assert not mixed[:, :MIX_RATE].any()
    assert not mixed[:, 2 * MIX_RATE :].any()
    assert mixed[0, round(1.5 * MIX_RATE)] == 0.5


def test_phonemes_are_marked_for_voices_that_read_them_and_left_out_for_others() -> None:
    glossary = LineGlossary(pronunciations=(Pronunciation("gif", "/ʒif/"),))
    line = DubLine(0, 0, 1, 1, "speaker_1", "", ("Um GIF de Porto.",), pronunciation={"Porto": "/ˈpoɾtʊ/"})
    line = replace(line, glossary=glossary)
    assert line.spoken(0, reads_phonemes=False) == "Um GIF de Porto."
    parts = [(each.text, each.is_phonemes) for each in spoken_parts(line.spoken(0, reads_phonemes=True))]
    assert parts == [("Um", False), ("ʒif", True), ("de", False), ("ˈpoɾtʊ", True), (".", False)]


@pytest.mark.parametrize(("spelling", "is_possible"), [("/ˈpoɾtʊ/", True), ("/ǃa/", False), ("/ˈ/", False)])
def test_phonemes_that_no_voice_knows_are_refused(spelling: str, is_possible: bool) -> None:  # noqa: FBT001
    states = three_lines()
    changes = [LineChange(states[0].id, {"pronunciation": {"Line": spelling}})]
    if is_possible:
        assert apply_changes(states, {}, changes)[states[0].id].pronunciation == {"Line": spelling}
        return
    with pytest.raises(InvalidChangeError) as raised:
        apply_changes(states, {}, changes)
    assert raised.value.field == "changes.0.pronunciation"
