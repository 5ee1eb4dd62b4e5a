"""What engines can be asked for; each port has one conformance suite that every adapter passes.

Calls block until they have an answer, so activities make them in threads.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # Mono sound from -1 to 1, at SAMPLE_RATE where nothing else is said.
    Samples: TypeAlias = NDArray[np.float32]
    Stereo: TypeAlias = NDArray[np.float32]  # left and right, each a row of samples
    Vector: TypeAlias = NDArray[np.float32]
    Picture: TypeAlias = NDArray[np.uint8]  # height, width and the three colours red, green and blue

SAMPLE_RATE = 16_000
REFERENCE_RATE = 24_000  # of the samples after which a cloner speaks


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, in seconds from the start of what was given."""

    start_seconds: float
    end_seconds: float


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it was said, with the punctuation that belongs to it and without blanks around it."""

    text: str
    start_seconds: float
    end_seconds: float
    probability: float


@dataclass(frozen=True, slots=True)
class Recognised:
    """What was said; the language is a BCP 47 code."""

    language: str
    language_probability: float
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class VoicePrint:
    """How a voice sounds in one window of time: a vector of length 1; voices compare by their cosine."""

    span: Span
    vector: "Vector"


@dataclass(frozen=True, slots=True)
class LanguageGuess:
    """Which language a text is in, and how sure that is from 0 to 1."""

    language: str
    confidence: float


class Quality(StrEnum):
    """What can be expected of a translation."""

    GOOD = "good"
    DRAFT = "draft"  # to be read over by a person before it is published


@dataclass(frozen=True, slots=True)
class Route:
    """A way from one language to another; `via` names the languages on the way."""

    source: str
    target: str
    quality: Quality
    via: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Speech:
    """Text that was spoken: mono sound at a rate of its own."""

    samples: "Samples"
    sample_rate: int


class Gender(StrEnum):
    """How a voice is taken by most who hear it."""

    FEMALE = "female"
    MALE = "male"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class ServiceVoice:
    """A voice that comes with an engine; the language is a BCP 47 code, the pitch the median of what it speaks."""

    name: str
    title: str
    language: str
    gender: Gender
    age: str  # young, middle-aged or old
    pitch_hz: float


@dataclass(frozen=True, slots=True)
class Reference:
    """The sample after which a cloner speaks, at REFERENCE_RATE; its sha256 names what is kept of it."""

    samples: "Samples"
    fingerprint: str
    pitch_hz: float | None = None


@dataclass(frozen=True, slots=True)
class Box:
    """A part of a picture, in shares of its width and height from 0 to 1, from the top left."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Face:
    """Where a face is, and how sure that is from 0 to 1."""

    box: Box
    score: float


class Recogniser(Protocol):
    """Turns speech into words with times."""

    name: str

    def recognise(self, samples: "Samples", *, language: str | None, speech: Sequence[Span]) -> Recognised:
        """The words in the given stretches of speech; without a language it is detected.

        Times are from the start of `samples`, in order, and inside the stretches of speech.
        """
        ...


class VoiceDetector(Protocol):
    """Finds where somebody speaks."""

    name: str

    def detect(self, blocks: Iterable["Samples"]) -> Iterator[Span]:
        """Stretches of speech in one recording that comes in blocks of any length; memory does not grow with it."""
        ...


class VoiceProfiler(Protocol):
    """Says how voices sound, so that they can be told apart."""

    name: str
    same_voice: float  # the mean cosine from which two groups of windows are one voice

    def profile(self, samples: "Samples", *, speech: Sequence[Span]) -> list[VoicePrint]:
        """A voice print for each short window of the given speech, in order."""
        ...


class LanguageIdentifier(Protocol):
    """Tells the language of a text."""

    name: str

    def identify(self, text: str) -> LanguageGuess | None:
        """The likeliest language, or nothing where the text says too little."""
        ...


class Translator(Protocol):
    """Turns sentences of one language into another."""

    @property
    def name(self) -> str: ...

    def routes(self) -> Sequence[Route]:
        """Every pair that can be translated now, with the models that are there."""
        ...

    def translate(self, sentences: Sequence[str], *, source: str, target: str) -> list[str]:
        """One translation for each sentence. They follow each other, so each is context for its neighbours.

        An engine that gives nothing for a sentence that has words raises EngineError; it never returns less.
        """
        ...


class Embedder(Protocol):
    """Says what texts mean, so that they can be compared."""

    name: str

    def embed(self, texts: Sequence[str]) -> "Vector":
        """A row of length 1 for each text; texts of like meaning have a high cosine."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text to be ranked, with an id of the caller's."""

    id: str
    text: str


class Ranker(Protocol):
    """Puts texts in order."""

    @property
    def name(self) -> str: ...

    def rank(self, candidates: Sequence[Candidate], *, prompt: str | None) -> list[str]:
        """Every id once, best first: those that best fit the prompt, or that are most worth watching without one."""
        ...


class Speaker(Protocol):
    """Reads text aloud in voices of its own."""

    name: str  # names the engine and its weights: part of fingerprints

    def voices(self) -> Sequence[ServiceVoice]: ...

    def speak(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> Speech:
        """The text in one of the voices. The same text gives the same sound, as far as the engine allows."""
        ...


class Cloner(Protocol):
    """Reads text aloud in the voice of a sample."""

    name: str
    is_approximate: bool  # a listener who knows the voice would not take it for the person

    def languages(self) -> Sequence[str]: ...

    def speak(self, text: str, *, reference: Reference, language: str, speed: float = 1.0) -> Speech:
        """The text in the voice of the sample; never in another one, so what cannot be done raises EngineError."""
        ...


class Denoiser(Protocol):
    """Takes noise out of speech."""

    name: str

    def clean(self, samples: "Samples", *, sample_rate: int) -> "Samples":
        """As many samples as were given."""
        ...


class Separator(Protocol):
    """Takes speech apart from everything else that sounds."""

    name: str
    sample_rate: int  # of what it is given and gives

    def separate(self, stereo: "Stereo") -> "tuple[Stereo, Stereo]":
        """Speech and the rest, each with as many samples as were given; together they are what was given."""
        ...


class FaceFinder(Protocol):
    """Finds faces in pictures."""

    name: str

    def find(self, picture: "Picture") -> list[Face]:
        """Every face that is seen, the surest first; boxes lie inside the picture."""
        ...
