"""Voice ids, passage splitting, output formats and storage paths of the speech API."""

import hashlib
import json
import re
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cutroom.capabilities.rules import VOICE_ID_ALPHABET, VOICE_ID_LENGTH
from cutroom.text.passages import split_at_pauses

MODEL_ID = "cutroom_speech_v1"
ELEVENLABS_MODELS = re.compile(r"eleven_[a-z0-9_]{1,60}")  # sent by ElevenLabs clients; mapped to MODEL_ID
MAX_TEXT = 10_000
MIN_SPEED, MAX_SPEED = 0.5, 2.0
SYNTHESIS_RATE = 24_000  # sample rate before conversion to the output format

_VOICE_ID = re.compile(f"[0-9A-Za-z]{{{VOICE_ID_LENGTH}}}")

# The first passage is short for low latency; the others are as long as engines handle well.
FIRST_CHARACTERS = 140
PASSAGE_CHARACTERS = 300
SENTENCE_PAUSE_SECONDS = 0.25
CLAUSE_PAUSE_SECONDS = 0.1
PARAGRAPH_PAUSE_SECONDS = 0.6
_PARAGRAPHS = re.compile(r"\s*\n\s*\n\s*")
_SENTENCE_END = re.compile("[.!?…:;\u3002\uff01\uff1f][\"'”\u2019)\\]]*$")
_HAS_WORDS = re.compile(r"\w")


def new_voice_id() -> str:
    return "".join(secrets.choice(VOICE_ID_ALPHABET) for _ in range(VOICE_ID_LENGTH))


def is_voice_id(text: str) -> bool:
    return _VOICE_ID.fullmatch(text) is not None


def is_model(model_id: str) -> bool:
    return model_id == MODEL_ID or ELEVENLABS_MODELS.fullmatch(model_id) is not None


@dataclass(frozen=True, slots=True)
class Passage:
    """A unit of synthesis, and the pause after it."""

    text: str
    pause_seconds: float


def speech_passages(text: str) -> list[Passage]:
    """Split a text into passages at natural pauses."""
    found: list[Passage] = []
    for paragraph in _PARAGRAPHS.split(text.strip()):
        chunks = [
            chunk
            for chunk in _split_paragraph(" ".join(paragraph.split()), first=not found)
            if _HAS_WORDS.search(chunk)
        ]
        found += [Passage(chunk, _pause_after(chunk)) for chunk in chunks[:-1]]
        found += [Passage(chunk, PARAGRAPH_PAUSE_SECONDS) for chunk in chunks[-1:]]
    if found:
        found[-1] = Passage(found[-1].text, 0.0)
    return found


def _split_paragraph(paragraph: str, *, first: bool) -> list[str]:
    if not first or len(paragraph) <= FIRST_CHARACTERS:
        return split_at_pauses(paragraph, limit_characters=PASSAGE_CHARACTERS)
    head = split_at_pauses(paragraph, limit_characters=FIRST_CHARACTERS)[0]
    return [head, *split_at_pauses(paragraph[len(head) :].strip(), limit_characters=PASSAGE_CHARACTERS)]


def _pause_after(passage: str) -> float:
    return SENTENCE_PAUSE_SECONDS if _SENTENCE_END.search(passage) else CLAUSE_PAUSE_SECONDS


class Codec(StrEnum):
    """Audio codecs of output formats."""

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
    """An audio format that clients can request."""

    name: str
    codec: Codec
    sample_rate: int
    kilobits: int | None = None

    @property
    def media_type(self) -> str:
        return MEDIA_TYPES[self.codec]

    @property
    def is_concatenable(self) -> bool:
        """Whether passages can be encoded separately and concatenated; an Ogg file must be encoded as one stream."""
        return self.codec is not Codec.OPUS


def _formats() -> dict[str, OutputFormat]:
    found = [
        OutputFormat("wav", Codec.WAV, SYNTHESIS_RATE),
        OutputFormat("pcm", Codec.PCM, SYNTHESIS_RATE),
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
    """WAV header of 16-bit mono audio; without a known size, it declares the largest possible one."""
    size = data_bytes if data_bytes is not None else 0xFFFFFFFF - 36
    header = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", size + 36, b"WAVE", b"fmt ", 16, 1, 1, sample_rate, 0, 2, 16)
    header = header[:28] + struct.pack("<I", 2 * sample_rate) + header[32:]
    return header + struct.pack("<4sI", b"data", size)


def fingerprint(inputs: Mapping[str, Any]) -> str:
    """SHA-256 of everything that determines an artifact, used as its storage key."""
    return hashlib.sha256(json.dumps(inputs, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def voice_path(library_id: str, voice_id: str, name: str) -> str:
    return f"libraries/{library_id}/voices/{voice_id}/{name}"


def synthesis_path(library_id: str, synthesis_id: str, name: str) -> str:
    return f"libraries/{library_id}/speech/{synthesis_id}/{name}"
