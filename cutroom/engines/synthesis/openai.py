"""Speech synthesis and voice cloning on a remote server with the OpenAI speech API."""

import io
import struct
import wave
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError, UnsuitableInputError
from cutroom.engines.remote_client import RemoteClient
from cutroom.engines.synthesis.port import Gender, StockVoice, SynthesizedSpeech
from cutroom.engines.voice_conversion.port import REFERENCE_RATE, ReferenceAudio

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

TIMEOUT_SECONDS = 300.0
MAX_CHARACTERS = 4_000  # per request; the API limit is 4096
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
MAX_SPEECH_SECONDS = 900.0
MIN_SPEED, MAX_SPEED = 0.5, 2.0
MIN_RATE, MAX_RATE = 8_000, 48_000

# Languages of Chatterbox Multilingual, the model behind most such servers.
CLONED_LANGUAGES = (
    "ar", "da", "de", "el", "en", "es", "fi", "fr", "he", "hi", "it", "ja", "ko", "ms", "nl", "no", "pl", "pt", "ru",
    "sv", "sw", "tr", "zh",
)  # fmt: skip

_PITCH_HZ = {
    Gender.FEMALE: 200.0,
    Gender.MALE: 115.0,
    Gender.NEUTRAL: 155.0,
}  # typical values; the API does not report pitch
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE


class OpenAiSynthesizer:
    """`POST /audio/speech` of one model; voices come from settings, because the API does not list them."""

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
            raise EngineUnavailableError("No remote voices are configured.")
        self.name = f"openai-{model}"
        self._model = model
        self._voices = tuple(voices)
        self._server = RemoteClient(base_url, api_key, timeout_seconds=timeout_seconds)

    def close(self) -> None:
        self._server.close()

    def voices(self) -> Sequence[StockVoice]:
        return self._voices

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:  # noqa: ARG002 - detected from the text
        """The server detects the language from the text."""
        if voice not in {each.name for each in self._voices}:
            raise EngineError(f"Unknown voice: {voice}.")
        _check(text, speed)
        body = {"model": self._model, "input": text, "voice": voice, "response_format": "wav", "speed": speed}
        return decode_wav(self._server.post("/audio/speech", max_bytes=MAX_RESPONSE_BYTES, json=body))


class OpenAiVoiceCloner:
    """`POST /audio/speech/upload`, a Chatterbox extension that takes the reference with every request."""

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
        self._server = RemoteClient(base_url, api_key, timeout_seconds=timeout_seconds)

    def close(self) -> None:
        self._server.close()

    def languages(self) -> Sequence[str]:
        return self._languages

    def synthesize(
        self, text: str, *, reference: ReferenceAudio, language: str, speed: float = 1.0
    ) -> SynthesizedSpeech:
        code = language.lower().partition("-")[0]
        if code not in self._languages:
            raise UnsuitableInputError("no_voice", f"No voice speaks the language {language}.")
        _check(text, speed)
        fields = {
            "input": text,
            "model": self._model,
            "language": code,
            "response_format": "wav",
            "speed": str(speed),
        }
        files = {"voice_file": ("voice.wav", _encode_wav(reference.samples), "audio/wav")}
        return decode_wav(
            self._server.post("/audio/speech/upload", max_bytes=MAX_RESPONSE_BYTES, data=fields, files=files)
        )


def parse_voices(entries: Iterable[str]) -> tuple[StockVoice, ...]:
    """Parses `name:language:gender` entries; language defaults to `en`, gender to `neutral`."""
    voices = []
    for entry in entries:
        name, _, rest = entry.partition(":")
        language, _, gender_name = rest.partition(":")
        try:
            gender = Gender(gender_name or Gender.NEUTRAL)
        except ValueError as error:
            raise EngineUnavailableError(f"The gender of the voice {name} must be female, male or neutral.") from error
        voices.append(StockVoice(name, name.title(), language or "en", gender, "middle-aged", _PITCH_HZ[gender]))
    return tuple(voices)


def _check(text: str, speed: float) -> None:
    if not text.strip():
        raise UnsuitableInputError("no_words", "The text contains nothing to speak.")
    if len(text) > MAX_CHARACTERS:
        raise UnsuitableInputError("too_long", f"The text is longer than {MAX_CHARACTERS} characters.")
    if not MIN_SPEED <= speed <= MAX_SPEED:
        raise EngineError(f"The speed must be between {MIN_SPEED} and {MAX_SPEED}.")


def decode_wav(data: bytes) -> SynthesizedSpeech:
    """Decodes WAV to mono. Streaming servers send a placeholder length, so data may run to the end."""
    chunks = _chunks(data)
    if "fmt " not in chunks or "data" not in chunks or len(chunks["fmt "]) < 16:
        raise EngineUnavailableError("The server's response is not audio.")
    encoding, channels, rate, _, _, bits = struct.unpack("<HHIIHH", chunks["fmt "][:16])
    encoding = (
        struct.unpack("<H", chunks["fmt "][24:26])[0]
        if encoding == _EXTENSIBLE and len(chunks["fmt "]) >= 26
        else encoding
    )
    if not (MIN_RATE <= rate <= MAX_RATE and 1 <= channels <= 8):
        raise EngineUnavailableError("The server's audio format is not supported.")
    samples = _decode_samples(chunks["data"], encoding=encoding, bits=bits, channels=channels)
    if not len(samples) or len(samples) > MAX_SPEECH_SECONDS * rate:
        raise EngineUnavailableError("The server's audio is empty or too long.")
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


def _decode_samples(data: bytes, *, encoding: int, bits: int, channels: int) -> "Samples":
    import numpy as np  # noqa: PLC0415 - see above

    formats = {(_PCM, 16): ("<i2", 32768.0), (_PCM, 32): ("<i4", 2147483648.0), (_FLOAT, 32): ("<f4", 1.0)}
    if (encoding, bits) not in formats:
        raise EngineUnavailableError("The server's audio format is not supported.")
    dtype, full_scale = formats[encoding, bits]
    usable = len(data) - len(data) % (bits // 8 * channels)
    rows = np.frombuffer(data[:usable], dtype).astype(np.float64).reshape(-1, channels) / full_scale
    if not np.isfinite(rows).all():
        raise EngineUnavailableError("The server's audio contains NaN or infinite values.")
    samples: Samples = np.clip(rows.mean(axis=1), -1.0, 1.0).astype(np.float32)
    return samples


def _encode_wav(samples: "Samples") -> bytes:
    """16-bit PCM at REFERENCE_RATE."""
    import numpy as np  # noqa: PLC0415 - see above

    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(REFERENCE_RATE)
        out.writeframes((np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes())
    return file.getvalue()
