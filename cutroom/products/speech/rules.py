"""What voices and readings are called, how a text is cut for reading, and in which forms sound can be had."""

import hashlib
import json
import re
import secrets
import string
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cutroom.text.passages import cut

MODEL_ID = "cutroom_speech_v1"
OTHER_MODELS = re.compile(r"eleven_[a-z0-9_]{1,60}")  # what clients of the other service send; they get our one model
MAX_TEXT = 10_000
MIN_SPEED, MAX_SPEED = 0.5, 2.0
RATE = 24_000  # of everything that is spoken, before it is put into the form that was asked for

VOICE_ID_LENGTH = 20  # some clients take nothing else for an id
_ALPHABET = string.digits + string.ascii_letters
_VOICE_ID = re.compile(f"[0-9A-Za-z]{{{VOICE_ID_LENGTH}}}")

# The first words are wanted soon, and are therefore few; the others may be as many as an engine reads well at once.
FIRST_CHARACTERS = 140
PASSAGE_CHARACTERS = 300
SENTENCE_PAUSE_SECONDS = 0.25
CLAUSE_PAUSE_SECONDS = 0.1
PARAGRAPH_PAUSE_SECONDS = 0.6
_PARAGRAPHS = re.compile(r"\s*\n\s*\n\s*")
_SENTENCE_END = re.compile("[.!?…:;\u3002\uff01\uff1f][\"'”\u2019)\\]]*$")
_HAS_WORDS = re.compile(r"\w")


def new_voice_id() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(VOICE_ID_LENGTH))


def service_voice_id(speaker: str, name: str) -> str:
    """The same for the same voice on every machine."""
    number = int.from_bytes(hashlib.sha256(f"{speaker}/{name}".encode()).digest())
    digits = []
    for _ in range(VOICE_ID_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)


def is_voice_id(text: str) -> bool:
    return _VOICE_ID.fullmatch(text) is not None


def is_model(model_id: str) -> bool:
    return model_id == MODEL_ID or OTHER_MODELS.fullmatch(model_id) is not None


@dataclass(frozen=True, slots=True)
class Passage:
    """What is read in one breath, and the silence after it."""

    text: str
    pause_seconds: float


def passages(text: str) -> list[Passage]:
    """Every word of the text, in order, cut where a reader would pause."""
    found: list[Passage] = []
    for paragraph in _PARAGRAPHS.split(text.strip()):
        pieces = [piece for piece in _cut(" ".join(paragraph.split()), first=not found) if _HAS_WORDS.search(piece)]
        found += [Passage(piece, _pause_after(piece)) for piece in pieces[:-1]]
        found += [Passage(piece, PARAGRAPH_PAUSE_SECONDS) for piece in pieces[-1:]]
    if found:
        found[-1] = Passage(found[-1].text, 0.0)
    return found


def _cut(paragraph: str, *, first: bool) -> list[str]:
    if not first or len(paragraph) <= FIRST_CHARACTERS:
        return cut(paragraph, limit_characters=PASSAGE_CHARACTERS)
    head = cut(paragraph, limit_characters=FIRST_CHARACTERS)[0]
    return [head, *cut(paragraph[len(head) :].strip(), limit_characters=PASSAGE_CHARACTERS)]


def _pause_after(passage: str) -> float:
    return SENTENCE_PAUSE_SECONDS if _SENTENCE_END.search(passage) else CLAUSE_PAUSE_SECONDS


class Codec(StrEnum):
    """How sound is written."""

    WAV = "wav"
    PCM = "pcm"
    MP3 = "mp3"
    OPUS = "opus"
    ULAW = "ulaw"
    ALAW = "alaw"


MEDIA_TYPES = {
    Codec.WAV: "audio/wav",
    Codec.PCM: "audio/pcm",
    Codec.MP3: "audio/mpeg",
    Codec.OPUS: "audio/ogg",
    Codec.ULAW: "audio/basic",
    Codec.ALAW: "audio/x-alaw-basic",
}


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """One form in which sound can be asked for."""

    name: str
    codec: Codec
    sample_rate: int
    kilobits: int | None = None

    @property
    def media_type(self) -> str:
        return MEDIA_TYPES[self.codec]

    @property
    def joins(self) -> bool:
        """Whether passages can be sent one behind the other as they come; Ogg is one stream from its first page on."""
        return self.codec is not Codec.OPUS


def _formats() -> dict[str, OutputFormat]:
    found = [
        OutputFormat("wav", Codec.WAV, RATE),
        OutputFormat("pcm", Codec.PCM, RATE),
        OutputFormat("mp3", Codec.MP3, 44_100, 128),
        OutputFormat("opus", Codec.OPUS, 48_000, 64),
        OutputFormat("ulaw_8000", Codec.ULAW, 8_000),
        OutputFormat("alaw_8000", Codec.ALAW, 8_000),
    ]
    for rate in (8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000):
        found += [OutputFormat(f"{codec}_{rate}", codec, rate) for codec in (Codec.WAV, Codec.PCM)]
    for rate, kilobits in ((22_050, 32), (24_000, 48), *((44_100, each) for each in (32, 64, 96, 128, 192))):
        found.append(OutputFormat(f"mp3_{rate}_{kilobits}", Codec.MP3, rate, kilobits))
    for kilobits in (32, 64, 96, 128, 192):
        found.append(OutputFormat(f"opus_48000_{kilobits}", Codec.OPUS, 48_000, kilobits))
    return {each.name: each for each in found}


FORMATS = _formats()
DEFAULT_FORMAT = "wav"


def wav_header(sample_rate: int, data_bytes: int | None) -> bytes:
    """The head of a WAV file of 16 bit mono sound; of one whose end is not known yet, as long as the form allows."""
    known = data_bytes if data_bytes is not None else 0xFFFFFFFF - 36
    head = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", known + 36, b"WAVE", b"fmt ", 16, 1, 1, sample_rate, 0, 2, 16)
    head = head[:28] + struct.pack("<I", 2 * sample_rate) + head[32:]
    return head + struct.pack("<4sI", b"data", known)


def fingerprint(parts: Mapping[str, Any]) -> str:
    """One name for one piece of work: whatever would change its sound is among the parts."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def voice_path(library_id: str, voice_id: str, name: str) -> str:
    return f"libraries/{library_id}/voices/{voice_id}/{name}"


def reading_path(library_id: str, synthesis_id: str, name: str) -> str:
    return f"libraries/{library_id}/speech/{synthesis_id}/{name}"
