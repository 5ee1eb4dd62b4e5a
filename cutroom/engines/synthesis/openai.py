"""Speaks on a server behind OpenAI's protocol for speech, in its voices or after a sample that goes along."""

import io
import struct
import wave
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.remote_client import RemoteServer
from cutroom.engines.synthesis.port import Gender, StockVoice, SynthesizedSpeech
from cutroom.engines.voice_conversion.port import REFERENCE_RATE, ReferenceAudio

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

TIMEOUT_SECONDS = 300.0
MAX_CHARACTERS = 4_000  # of one request; the protocol's own bound is 4096
MAX_ANSWER_BYTES = 64 * 1024 * 1024
MAX_SPEECH_SECONDS = 900.0
MIN_SPEED, MAX_SPEED = 0.5, 2.0
MIN_RATE, MAX_RATE = 8_000, 48_000

# What Chatterbox Multilingual speaks, which is what most servers of this kind run.
CLONED_LANGUAGES = (
    "ar", "da", "de", "el", "en", "es", "fi", "fr", "he", "hi", "it", "ja", "ko", "ms", "nl", "no", "pl", "pt", "ru",
    "sv", "sw", "tr", "zh",
)  # fmt: skip

_PITCH_HZ = {Gender.FEMALE: 200.0, Gender.MALE: 115.0, Gender.NEUTRAL: 155.0}  # the protocol does not tell it
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE


class OpenAiSynthesizer:
    """`POST /audio/speech` of one model; its voices are what the settings say, since the protocol has no list."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        model: str,
        voices: Sequence[StockVoice],
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        if not voices:
            raise EngineUnavailableError("No voices of the remote server are set.")
        self.name = f"openai-{model}"
        self._model = model
        self._voices = tuple(voices)
        self._server = RemoteServer(base_url, api_key, timeout_seconds=timeout_seconds)

    def close(self) -> None:
        self._server.close()

    def voices(self) -> Sequence[StockVoice]:
        return self._voices

    def speak(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:  # noqa: ARG002 - by the text
        """The server tells the language from the text."""
        if voice not in {each.name for each in self._voices}:
            raise EngineError(f"There is no voice {voice}.")
        _check(text, speed)
        body = {"model": self._model, "input": text, "voice": voice, "response_format": "wav", "speed": speed}
        return read_wav(self._server.post("/audio/speech", max_bytes=MAX_ANSWER_BYTES, json=body))


class OpenAiCloner:
    """`POST /audio/speech/upload`, the addition of Chatterbox servers: the sample goes with every request."""

    is_approximate = False

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        model: str,
        languages: Sequence[str] = CLONED_LANGUAGES,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self.name = f"openai-clone-{model}"
        self._model = model
        self._languages = tuple(languages)
        self._server = RemoteServer(base_url, api_key, timeout_seconds=timeout_seconds)

    def close(self) -> None:
        self._server.close()

    def languages(self) -> Sequence[str]:
        return self._languages

    def speak(self, text: str, *, reference: ReferenceAudio, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        code = language.lower().partition("-")[0]
        if code not in self._languages:
            raise EngineError(f"The server does not speak the language {language}.")
        _check(text, speed)
        fields = {
            "input": text,
            "model": self._model,
            "language": code,
            "response_format": "wav",
            "speed": str(speed),
        }
        files = {"voice_file": ("voice.wav", _as_wav(reference.samples), "audio/wav")}
        return read_wav(self._server.post("/audio/speech/upload", max_bytes=MAX_ANSWER_BYTES, data=fields, files=files))


def parse_voices(setting: str) -> tuple[StockVoice, ...]:
    """`name:language:gender` for each voice, separated by commas; what is left out is `en` and `neutral`."""
    voices = []
    for each in setting.split(","):
        name, _, rest = each.strip().partition(":")
        language, _, told = rest.partition(":")
        if not name:
            continue
        try:
            gender = Gender(told or Gender.NEUTRAL)
        except ValueError as error:
            raise EngineUnavailableError(f"The gender of the voice {name} is female, male or neutral.") from error
        voices.append(StockVoice(name, name.title(), language or "en", gender, "middle-aged", _PITCH_HZ[gender]))
    return tuple(voices)


def _check(text: str, speed: float) -> None:
    if not text.strip():
        raise EngineError("There is nothing in the text that can be spoken.")
    if len(text) > MAX_CHARACTERS:
        raise EngineError(f"The text is longer than {MAX_CHARACTERS} characters.")
    if not MIN_SPEED <= speed <= MAX_SPEED:
        raise EngineError(f"The speed lies between {MIN_SPEED} and {MAX_SPEED}.")


def read_wav(data: bytes) -> SynthesizedSpeech:
    """Mono sound from a WAV file. Servers that stream do not know its length: then it goes on to the end."""
    chunks = _chunks(data)
    if "fmt " not in chunks or "data" not in chunks or len(chunks["fmt "]) < 16:
        raise EngineUnavailableError("The server's answer is no sound.")
    kind, channels, rate, _, _, bits = struct.unpack("<HHIIHH", chunks["fmt "][:16])
    kind = struct.unpack("<H", chunks["fmt "][24:26])[0] if kind == _EXTENSIBLE and len(chunks["fmt "]) >= 26 else kind
    if not (MIN_RATE <= rate <= MAX_RATE and 1 <= channels <= 8):
        raise EngineUnavailableError("The server's sound is of a kind that is not read here.")
    samples = _numbers(chunks["data"], kind=kind, bits=bits, channels=channels)
    if not len(samples) or len(samples) > MAX_SPEECH_SECONDS * rate:
        raise EngineUnavailableError("The server's sound is empty or too long.")
    return SynthesizedSpeech(samples, rate)


def _chunks(data: bytes) -> Mapping[str, bytes]:
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        return {}
    found: dict[str, bytes] = {}
    at = 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4].decode("latin-1"), int.from_bytes(data[at + 4 : at + 8], "little")
        found.setdefault(name, data[at + 8 : at + 8 + size])
        at += 8 + size + size % 2
    return found


def _numbers(data: bytes, *, kind: int, bits: int, channels: int) -> "Samples":
    import numpy as np  # noqa: PLC0415 - see above

    kinds = {(_PCM, 16): ("<i2", 32768.0), (_PCM, 32): ("<i4", 2147483648.0), (_FLOAT, 32): ("<f4", 1.0)}
    if (kind, bits) not in kinds:
        raise EngineUnavailableError("The server's sound is of a kind that is not read here.")
    form, full = kinds[kind, bits]
    whole = len(data) - len(data) % (bits // 8 * channels)
    rows = np.frombuffer(data[:whole], form).astype(np.float64).reshape(-1, channels) / full
    if not np.isfinite(rows).all():
        raise EngineUnavailableError("The server's sound has samples that are no numbers.")
    samples: Samples = np.clip(rows.mean(axis=1), -1.0, 1.0).astype(np.float32)
    return samples


def _as_wav(samples: "Samples") -> bytes:
    """16 bits at the rate of references."""
    import numpy as np  # noqa: PLC0415 - see above

    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(REFERENCE_RATE)
        out.writeframes((np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes())
    return file.getvalue()
