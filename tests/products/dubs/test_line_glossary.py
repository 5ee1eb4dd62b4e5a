"""What the glossary does to lines of a dub: the terms they keep, and what their voice is given."""

import json
from dataclasses import replace
from pathlib import Path

from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.ids import new_id
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.line_sync import natural_seconds
from cutroom.products.dubs.script import (
    AssignedVoice,
    DubLine,
    DubScript,
    LineSchedule,
    PlacedLine,
    broken_terms,
    read_script,
    to_json,
)
from cutroom.products.dubs.synthesis import line_key, synthesize_line
from cutroom.text.glossary.line_glossary import LineGlossary, line_glossary, without_broken_terms
from cutroom.text.glossary.pronunciation import Pronunciation
from cutroom.text.glossary.rules import TermRule
from cutroom.text.glossary.terms import Glossary
from cutroom.web.runtime import Runtime
from tests.products.dubs.test_synthesis import SteadySynthesizer, StubEngines

GATE = TermRule("gate", ("comporta",))
GIF = Pronunciation("GIF", "guif")
SOURCE = "Well, open the gate of the GIF."
TEXTS = ("Bom, abra a comporta do GIF.", "Abra a comporta do GIF.", "Abra o GIF.")
GLOSSARY = Glossary((GATE, TermRule("lock", ("eclusa",))), (GIF, Pronunciation("SQL", "éssi quê éle")))
VOICE = AssignedVoice("steady", "voice")
DUB = DubRef("library", "video", "pt", "plus")


def line_with(glossary: LineGlossary, texts: tuple[str, ...] = TEXTS) -> DubLine:
    seconds = natural_seconds(texts[0], language="pt")
    return DubLine(0, 1.0, 1.0 + seconds, 1.0 + seconds, "speaker_1", SOURCE, texts, glossary=glossary)


def script_of(line: DubLine) -> DubScript:
    return DubScript("pt", "plus", "en", "review", ("firefox",), 60.0, (line,), "key", glossary_version="version")


def test_line_has_only_what_applies_to_it() -> None:
    assert line_glossary(GLOSSARY, SOURCE, TEXTS) == LineGlossary((GATE,), (GIF,))
    assert line_glossary(GLOSSARY, "Nothing.", ["Nada."]) == LineGlossary()


def test_shorter_wordings_keep_the_terms_of_the_translation() -> None:
    assert without_broken_terms(LineGlossary((GATE,)), SOURCE, TEXTS) == list(TEXTS[:2])
    lacking = ["Abra o portão.", "Abra isso."]
    assert without_broken_terms(LineGlossary((GATE,)), SOURCE, lacking) == lacking
    assert without_broken_terms(LineGlossary(), SOURCE, TEXTS) == list(TEXTS)


def test_script_is_read_as_it_was_stored() -> None:
    script = script_of(line_with(LineGlossary((GATE,), (GIF,))))
    assert read_script(to_json(script)) == script


def test_scripts_of_earlier_versions_have_no_glossary() -> None:
    document = json.loads(to_json(script_of(line_with(LineGlossary()))))
    del document["glossary_version"], document["lines"][0]["glossary"]
    assert read_script(json.dumps(document).encode()).lines[0].glossary == LineGlossary()


def test_broken_terms_are_those_of_what_is_said() -> None:
    script = script_of(line_with(LineGlossary((GATE,))))
    placed = PlacedLine(0, "key", 1.25, 1.0, 1.0, "Abra o portão.", shortened=False, gain=1.0)
    [(line, broken)] = broken_terms(script, LineSchedule((placed,)))
    assert (line.number, line.start_seconds, broken.term, broken.expected) == (0, 1.25, "gate", "comporta")
    assert broken_terms(script, LineSchedule((replace(placed, text=TEXTS[0]),))) == []


def test_speech_is_stored_under_what_the_voice_is_given() -> None:
    plain, spoken = line_with(LineGlossary()), line_with(LineGlossary((), (GIF,)))
    other = line_with(LineGlossary((), (replace(GIF, spoken="djif"),)))
    terms_only = line_with(LineGlossary((GATE,)))
    keys = [line_key(DUB, line, VOICE) for line in (plain, spoken, other, terms_only)]
    assert len(set(keys)) == 3
    assert keys[0] == keys[3]


async def test_voice_is_given_the_respelling(runtime: Runtime, tmp_path: Path) -> None:
    cache = LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=10**8)
    artifacts = DubArtifacts(runtime.storage, cache, Sandbox())
    synthesizer = SteadySynthesizer()
    line = line_with(LineGlossary((), (GIF,)), TEXTS[:1])
    dub = DubRef(new_id(), new_id(), "pt", "plus")
    await synthesize_line(artifacts, StubEngines(synthesizer), dub=dub, line=line, voice=VOICE)
    assert synthesizer.texts == ["Bom, abra a comporta do guif."]
    assert line.texts == TEXTS[:1]
