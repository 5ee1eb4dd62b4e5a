"""Pure rules of capabilities: ids of stock voices, and which languages routes and voices together reach."""

import hashlib
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from cutroom.engines.translation.port import Route, Translator
from cutroom.engines.translation.routing import reachable_languages
from cutroom.engines.types import OnProgress
from cutroom.text.language_tags import canonical_language, is_language, language_of, offers

REFUSES_DRAFTS = "refuses_drafts"  # in the plan of a job: it fails if the translation would be a draft
VOICE_ID_LENGTH = 20  # what clients of the speech API accept as an id
VOICE_ID_ALPHABET = string.digits + string.ascii_letters


class LanguageFault(StrEnum):
    """Why something cannot be made in a language."""

    SAME_LANGUAGE = "same_language"
    NO_ROUTE = "no_route"
    NO_VOICE = "no_voice"

    @property
    def message(self) -> str:
        return _FAULT_MESSAGES[self]


_FAULT_MESSAGES = {
    LanguageFault.SAME_LANGUAGE: "This is the language of the video.",
    LanguageFault.NO_ROUTE: "There is no translation into this language.",
    LanguageFault.NO_VOICE: "No voice speaks this language.",
}


@dataclass(frozen=True, slots=True)
class LanguageOptions:
    """What can be made from one source language, or from any while it is unknown."""

    source: str | None
    translated: tuple[str, ...]
    spoken: frozenset[str] | None = None  # without regions; None if no voice is needed

    @property
    def available(self) -> list[str]:
        """Languages that a request can name and that can be made, in canonical spelling."""
        return sorted(
            {canonical_language(code) for code in self.translated if is_language(code) and self._has_voice(code)}
        )

    def fault(self, language: str) -> LanguageFault | None:
        if self.source is not None and language_of(self.source) == language_of(language):
            return LanguageFault.SAME_LANGUAGE
        if not any(offers(code, language) for code in self.translated):
            return LanguageFault.NO_ROUTE
        return None if self._has_voice(language) else LanguageFault.NO_VOICE

    def _has_voice(self, language: str) -> bool:
        return self.spoken is None or language_of(language) in self.spoken


@dataclass(frozen=True, slots=True)
class AdvertisedTranslator:
    """A translation engine as a worker advertises it: its routes are known, but only workers run it."""

    name: str
    advertised: tuple[Route, ...]

    def routes(self) -> Sequence[Route]:
        return self.advertised

    def translate(
        self, sentences: Sequence[str], *, source: str, target: str, on_progress: OnProgress | None = None
    ) -> list[str]:
        raise NotImplementedError("only workers run translation engines")


@dataclass(frozen=True, slots=True)
class AvailableVoice:
    """A stock voice that a worker has advertised recently."""

    id: str
    engine: str
    name: str
    title: str
    language: str
    gender: str
    age: str


@lru_cache(maxsize=1024)
def stock_voice_id(engine: str, name: str) -> str:
    """Derives the id from engine and voice name, so that it is the same in every installation."""
    number = int.from_bytes(hashlib.sha256(f"{engine}/{name}".encode()).digest())
    digits = []
    for _ in range(VOICE_ID_LENGTH):
        number, digit = divmod(number, len(VOICE_ID_ALPHABET))
        digits.append(VOICE_ID_ALPHABET[digit])
    return "".join(digits)


def target_languages(translators: Sequence[Translator], *, source: str | None) -> list[str]:
    """Languages that can be translated into: from `source`, or from anywhere while it is unknown."""
    if source is not None:
        return reachable_languages(translators, source=source)
    return sorted({route.target for each in translators for route in each.routes()})


def spoken_languages(voices: Iterable[AvailableVoice]) -> list[str]:
    return sorted({voice.language for voice in voices})
