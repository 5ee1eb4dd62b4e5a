"""Pure rules of capabilities: ids of stock voices, and which languages routes and voices together reach."""

import hashlib
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cutroom.engines.translation.port import Route, Translator
from cutroom.engines.translation.routing import reachable_languages
from cutroom.engines.types import OnProgress
from cutroom.text.language_tags import language_of

VOICE_ID_LENGTH = 20  # what clients of the speech API accept as an id
VOICE_ID_ALPHABET = string.digits + string.ascii_letters


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


def with_voice(languages: Iterable[str], voices: Iterable[AvailableVoice]) -> list[str]:
    """Those languages that some voice speaks, whatever its region."""
    spoken = {language_of(voice.language) for voice in voices}
    return [code for code in languages if language_of(code) in spoken]
