"""Replaces terms by their respellings in text that a synthesizer speaks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cutroom.text.glossary.matching import Phrase, PhraseFinder, replace_matches
from cutroom.text.phonetic_spelling import marked, phonemes_of


@dataclass(frozen=True, slots=True)
class Pronunciation:
    """How a written form is spelled for a voice."""

    written: str
    spoken: str
    case_sensitive: bool = False


def readable(pronunciations: Sequence[Pronunciation], *, reads_phonemes: bool) -> list[Pronunciation]:
    """Those that a voice can follow, with phonemes marked as such."""
    found = []
    for each in pronunciations:
        phonemes = phonemes_of(each.spoken)
        if phonemes is None:
            found.append(each)
        elif reads_phonemes:
            found.append(replace(each, spoken=marked(phonemes)))
    return found


def respell(text: str, pronunciations: Sequence[Pronunciation]) -> str:
    """The text to speak; what it says is shown unchanged."""
    if not pronunciations:
        return text
    phrases = (Phrase(each.written, at, each.case_sensitive) for at, each in enumerate(pronunciations))
    found = PhraseFinder.of(phrases).find(text)
    return replace_matches(text, [(match, pronunciations[match.phrase.owner].spoken) for match in found])
