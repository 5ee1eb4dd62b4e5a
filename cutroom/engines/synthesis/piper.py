"""Local speech synthesis with Piper voices in onnxruntime, from espeak-ng phonemes."""

import json
import re
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom.engines.errors import EngineError, EngineUnavailableError, UnsuitableInputError
from cutroom.engines.models.device import Device
from cutroom.engines.models.manifest import ModelVoice
from cutroom.engines.models.onnx import OnnxSession, open_session
from cutroom.engines.synthesis.chunks import join_chunks, split_phonemes
from cutroom.engines.synthesis.phonemes import PROGRAM, Espeak
from cutroom.engines.synthesis.port import Gender, StockVoice, SynthesizedSpeech
from cutroom.media.sandbox import Sandbox
from cutroom.text.language_tags import canonical_tag
from cutroom.text.speech_normalization import normalize_for_speech

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

MIN_SPEED, MAX_SPEED = 0.5, 2.0
MIN_RATE, MAX_RATE = 8_000, 48_000
MAX_CONFIG_BYTES = 1024 * 1024
MAX_SPEAKERS = 1_000
LOADED_MODELS = 4  # 60 MB each

_PAD, _START, _END = "_", "^", "$"
_ESPEAK_VOICE = re.compile(r"[a-z][a-z0-9-]{1,31}")  # it becomes a program argument
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")
# Marks that few models know, and those that every model knows.
_EQUIVALENT_MARKS = str.maketrans({"…": ".", "—": ",", "“": '"', "”": '"'})
_PITCH_HZ = {Gender.FEMALE: 200.0, Gender.MALE: 115.0, Gender.NEUTRAL: 155.0}  # typical, where none was measured
_DEFAULT_SCALES = {"noise_scale": 0.667, "length_scale": 1.0, "noise_w": 0.8}


@dataclass(frozen=True, slots=True)
class PiperModel:
    """The installed files of a model, and what the manifest says about its voices."""

    name: str
    folder: Path
    onnx_file: str
    config_file: str
    voices: tuple[ModelVoice, ...] = ()


@dataclass(frozen=True, slots=True)
class PiperConfig:
    """The configuration that every model has beside its weights."""

    language: str
    espeak_voice: str  # empty if the model reads characters
    sample_rate: int
    token_ids: Mapping[str, tuple[int, ...]]
    scales: tuple[float, float, float]  # noise, length, and noise of the durations
    speakers: Mapping[str, int]  # empty if there is only one


@dataclass(frozen=True, slots=True)
class _PiperVoice:
    voice: StockVoice
    model: PiperModel
    config: PiperConfig
    speaker_id: int | None


class PiperSynthesizer:
    """Thread-safe: calls are serialized; models are loaded at first use, and the least recently used are dropped."""

    name = "piper-1"
    is_sampling = True  # the network adds noise to the sound and to the durations

    def __init__(
        self,
        models: Sequence[PiperModel],
        *,
        cpu_threads: int,
        device: Device = Device.CPU,
        verify: Callable[[PiperModel], object] | None = None,
        program: Path = PROGRAM,
        sandbox: Sandbox | None = None,
    ) -> None:
        """`verify` raises if the files of a model are damaged."""
        found = [each for model in models for each in _voices_of(model)]
        self._voices = {each.voice.name: each for each in found}
        if not self._voices:
            raise EngineUnavailableError("No Piper voices are installed.")
        self._cpu_threads = cpu_threads
        self._device = device
        self._verify = verify
        self._espeak = Espeak(program, sandbox=sandbox)
        self._sessions: OrderedDict[str, OnnxSession] = OrderedDict()
        self._running = threading.Lock()

    def voices(self) -> Sequence[StockVoice]:
        return tuple(each.voice for each in self._voices.values())

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        """Synthesizes sentence by sentence, in the language of the voice."""
        if voice not in self._voices:
            raise EngineError(f"Unknown voice: {voice}.")
        if not MIN_SPEED <= speed <= MAX_SPEED:
            raise EngineError(f"The speed must be between {MIN_SPEED} and {MAX_SPEED}.")
        chosen = self._voices[voice]
        if canonical_tag(language).partition("-")[0] != chosen.config.language.partition("-")[0]:
            raise UnsuitableInputError("no_voice", f"The voice {voice} does not speak the language {language}.")
        phonemes = self._phonemes(text, chosen.config)
        chunks = [chunk for sentence in _SENTENCE_END.split(phonemes) for chunk in split_phonemes(sentence)]
        if not chunks:
            raise UnsuitableInputError("no_words", "The text contains nothing to speak.")
        with self._running:
            session = self._session(chosen.model)
            spoken = [(chunk, _run(session, chosen, chunk, speed)) for chunk in chunks]
        rate = chosen.config.sample_rate
        return SynthesizedSpeech(join_chunks(spoken, rate), rate)

    def _phonemes(self, text: str, config: PiperConfig) -> str:
        spelled = normalize_for_speech(text, config.language)
        if config.espeak_voice:
            return self._espeak.ipa(spelled, voice=config.espeak_voice)
        return " ".join(spelled.split()) if any(map(str.isalnum, spelled)) else ""

    def _session(self, model: PiperModel) -> OnnxSession:
        if model.name not in self._sessions:
            if self._verify is not None:
                self._verify(model)
            path = model.folder / model.onnx_file
            self._sessions[model.name] = open_session(
                path, name=model.name, cpu_threads=self._cpu_threads, device=self._device
            )
        self._sessions.move_to_end(model.name)
        while len(self._sessions) > LOADED_MODELS:
            self._sessions.popitem(last=False)
        return self._sessions[model.name]


def read_config(model: PiperModel) -> PiperConfig:
    try:
        with (model.folder / model.config_file).open("rb") as file:
            return _parse_config(json.loads(file.read(MAX_CONFIG_BYTES)))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise EngineUnavailableError(f"The configuration of the voice {model.name} is invalid.") from error


def _parse_config(config: Mapping[str, Any]) -> PiperConfig:
    kind, espeak_voice = config.get("phoneme_type", "espeak"), config["espeak"]["voice"]
    if kind not in {"espeak", "text"} or not _ESPEAK_VOICE.fullmatch(espeak_voice):
        raise ValueError("unknown phonemes")
    rate = int(config["audio"]["sample_rate"])
    if not MIN_RATE <= rate <= MAX_RATE:
        raise ValueError("invalid sample rate")
    scales = {**_DEFAULT_SCALES, **config.get("inference", {})}
    token_ids = {symbol: tuple(map(int, ids)) for symbol, ids in config["phoneme_id_map"].items()}
    if not {_PAD, _START, _END} <= set(token_ids):
        raise ValueError("incomplete phonemes")
    speakers = {str(name): int(number) for name, number in (config.get("speaker_id_map") or {}).items()}
    if int(config.get("num_speakers", 1)) <= 1:
        speakers = {}
    return PiperConfig(
        language=canonical_tag(config.get("language", {}).get("code", espeak_voice)),
        espeak_voice=espeak_voice if kind == "espeak" else "",
        sample_rate=rate,
        token_ids=token_ids,
        scales=(float(scales["noise_scale"]), float(scales["length_scale"]), float(scales["noise_w"])),
        speakers=dict(list(speakers.items())[:MAX_SPEAKERS]),
    )


def encode_phonemes(phonemes: str, token_ids: Mapping[str, tuple[int, ...]]) -> list[int]:
    """Token ids with a pad after each symbol, between the start and the end symbol; unknown symbols are dropped."""
    pad = token_ids[_PAD]
    encoded = [*token_ids[_START], *pad]
    for symbol in unicodedata.normalize("NFD", phonemes.translate(_EQUIVALENT_MARKS)):
        if symbol in token_ids and symbol not in {_PAD, _START, _END}:
            encoded += [*token_ids[symbol], *pad]
    return [*encoded, *token_ids[_END]]


def _voices_of(model: PiperModel) -> Iterator[_PiperVoice]:
    """One voice, or one for each speaker; those that the manifest names, or else all."""
    config = read_config(model)
    described = {each.speaker: each for each in model.voices}
    if not config.speakers:
        yield _PiperVoice(_stock_voice(model, config, described.get("")), model, config, None)
        return
    names = [name for name in described if name in config.speakers] or list(config.speakers)
    for name in names:
        voice = _stock_voice(model, config, described.get(name) or ModelVoice(speaker=name))
        yield _PiperVoice(voice, model, config, config.speakers[name])


def _stock_voice(model: PiperModel, config: PiperConfig, described: ModelVoice | None) -> StockVoice:
    about = described or ModelVoice()
    gender = Gender(about.gender)
    name = f"{model.name}/{about.speaker}" if about.speaker else model.name
    title = about.title or about.speaker or model.name
    return StockVoice(name, title, config.language, gender, about.age, about.pitch_hz or _PITCH_HZ[gender])


def _run(session: OnnxSession, chosen: _PiperVoice, phonemes: str, speed: float) -> "Samples":
    import numpy as np  # noqa: PLC0415 - the API process imports this module without it

    tokens = encode_phonemes(phonemes, chosen.config.token_ids)
    noise, length, duration_noise = chosen.config.scales
    inputs = {
        "input": np.array([tokens], np.int64),
        "input_lengths": np.array([len(tokens)], np.int64),
        "scales": np.array([noise, length / speed, duration_noise], np.float32),
    }
    if chosen.speaker_id is not None:
        inputs["sid"] = np.array([chosen.speaker_id], np.int64)
    try:
        output = session.run(None, inputs)[0]
    except Exception as error:  # onnxruntime exposes no common error class
        raise EngineError(f"The model {chosen.model.name} failed.") from error
    samples: Samples = np.asarray(output, np.float32).reshape(-1)
    if not len(samples) or not np.isfinite(samples).all():
        raise EngineError(f"The model {chosen.model.name} produced no audio.")
    return np.clip(samples, -1.0, 1.0)
