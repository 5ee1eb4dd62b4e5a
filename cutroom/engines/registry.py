"""Builds the engines selected in settings, lazily and once per process."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from cutroom.engines.chat_client import ChatServer
from cutroom.engines.diarization.embeddings import WeSpeakerEmbedder
from cutroom.engines.diarization.port import SpeakerEmbedder, SpeakerSegmenter
from cutroom.engines.diarization.segmentation import PyannoteSegmenter
from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.llama_server import LlamaServer
from cutroom.engines.models.device import Device
from cutroom.engines.models.manifest import Model
from cutroom.engines.models.manifest_reader import load_manifest
from cutroom.engines.models.store import ModelStore, installed_directions, installed_models
from cutroom.engines.recognition.fallback import FallbackRecognizer
from cutroom.engines.recognition.openai import OpenAiRecognizer
from cutroom.engines.recognition.port import SpeechRecognizer, UtteranceRecognizer, VoiceActivityDetector, WordAligner
from cutroom.engines.recognition.silero import SileroVoiceActivityDetector
from cutroom.engines.recognition.whisper import WhisperRecognizer
from cutroom.engines.recognition.whisper_alignment import WhisperAligner
from cutroom.engines.recognition.whisper_utterances import WhisperUtteranceRecognizer
from cutroom.engines.separation.port import Denoiser, SourceSeparator
from cutroom.engines.separation.spectral_gate import SpectralGate
from cutroom.engines.separation.spleeter import SpleeterSeparator
from cutroom.engines.synthesis.kokoro import KokoroSynthesizer
from cutroom.engines.synthesis.openai import OpenAiSynthesizer, OpenAiVoiceCloner, parse_voices
from cutroom.engines.synthesis.pico import PicoSynthesizer
from cutroom.engines.synthesis.piper import PiperModel, PiperSynthesizer
from cutroom.engines.synthesis.port import SpeechSynthesizer
from cutroom.engines.thumbnails.openai import OpenAiThumbnailRenderer
from cutroom.engines.thumbnails.port import ThumbnailRenderer
from cutroom.engines.translation.apertium import ApertiumTranslator
from cutroom.engines.translation.chat import ChatTranslator
from cutroom.engines.translation.ctranslate2_models import ConvertedModel, Ctranslate2Translator
from cutroom.engines.translation.firefox import FirefoxTranslator
from cutroom.engines.translation.language_identification import FastLanguageIdentifier
from cutroom.engines.translation.port import LanguageIdentifier, Quality, Translator
from cutroom.engines.translation.route_quality import ModelDirection, RouteRatings, load_ratings
from cutroom.engines.vision.isnet import IsnetBackgroundRemover
from cutroom.engines.vision.mediapipe import MediaPipeFaceLandmarker, is_runtime_installed
from cutroom.engines.vision.port import BackgroundRemover, FaceDetector, FaceLandmarker
from cutroom.engines.vision.yunet import YuNetFaceDetector
from cutroom.engines.voice_conversion.port import VoiceCloner
from cutroom.engines.voice_conversion.spectral_transfer import SpectralTransferCloner
from cutroom.engines.writing.chat import ChatWriter
from cutroom.engines.writing.chat_ranker import ChatRanker
from cutroom.engines.writing.chat_shortener import ChatShortener
from cutroom.engines.writing.chat_tightener import ChatTightener
from cutroom.engines.writing.extractive.writer import ExtractiveWriter
from cutroom.engines.writing.minilm import MiniLmEmbedder
from cutroom.engines.writing.port import Ranker, TextEmbedder, Writer
from cutroom.media.sandbox import Sandbox, SandboxMode
from cutroom.platform.process.processor import available_cores
from cutroom.platform.settings import Settings
from cutroom.text.language_tags import canonical_tag

REMOTE = "remote"
NONE = "none"
FIREFOX_PREFIX = "firefox-"
OPUS_PREFIX = "opus-mt-"
PIPER_PREFIX = "piper-"
GGUF_FILE = "model.gguf"
LOCAL_CHAT_URL = "http://127.0.0.1:9/v1"  # placeholder until the local server has a port
KOKORO_MODEL, KOKORO_VOICES = "kokoro-int8", "kokoro-voices"
SEGMENTATION_MODEL = "pyannote-segmentation-3.0"
FACE_MODEL = "yunet"
FACE_LANDMARK_MODEL = "mediapipe-face"
BACKGROUND_REMOVAL_MODELS = ("isnet-small", "isnet-medium")
VOICE_TRANSFER_ENCODER = "whisper-base"  # its encoder features align phonemes during voice transfer

Engine = TypeVar("Engine")


class Engines:
    """Lazily built engine instances, shared across the process because models are large."""

    def __init__(self, settings: Settings, store: ModelStore | None = None, *, cpu_threads: int = 0) -> None:
        """Engines use `cpu_threads` threads, by default as many as `speech_threads` says."""
        self._settings = settings
        self._store = store or ModelStore(settings.models_dir, manifest=load_manifest(settings.models_manifest))
        self._threads = cpu_threads or settings.speech_threads or available_cores()
        self._device = Device(settings.device)
        self._instances: dict[str, object] = {}
        self._build_lock = threading.RLock()  # reentrant: building a voice cloner builds a synthesizer

    def recognizer(self) -> SpeechRecognizer:
        """Tries the configured ASR engines in order on each call."""
        factories = [partial(self._recognizer, name) for name in self._settings.asr_engines]
        return self._once("recognizer", lambda: FallbackRecognizer(factories))

    def word_aligner(self) -> WordAligner | None:
        """The first configured local ASR model that is installed; None without one: word times are then estimated."""
        for name in self._settings.asr_engines:
            if self._is_local_recognizer(name):
                return self._once(f"word aligner {name}", partial(self._word_aligner, name))
        return None

    def utterance_recognizer(self) -> UtteranceRecognizer | None:
        """The first configured ASR engine, if it is a local model that is installed."""
        name = self._settings.asr_engines[0]
        if not self._is_local_recognizer(name):
            return None
        return self._once(f"utterance recognizer {name}", partial(self._utterance_recognizer, name))

    def _is_local_recognizer(self, name: str) -> bool:
        model = self._store.manifest.models.get(name)
        return name != REMOTE and model is not None and self._store.has_any_file(model)

    def _utterance_recognizer(self, name: str) -> UtteranceRecognizer:
        folder = self._store.path(name)
        return WhisperUtteranceRecognizer(folder, cpu_threads=self._threads, device=self._device, name=name)

    def _word_aligner(self, name: str) -> WordAligner:
        return WhisperAligner(self._store.path(name), cpu_threads=self._threads, device=self._device, name=name)

    def language_identifier(self) -> LanguageIdentifier:
        return self._once("language identifier", FastLanguageIdentifier)

    def voice_activity_detector(self) -> VoiceActivityDetector:
        return self._once("voice activity detector", SileroVoiceActivityDetector)

    def speaker_embedder(self) -> SpeakerEmbedder | None:
        name = self._settings.speaker_embedder
        if name == NONE:
            return None
        factories: Mapping[str, Callable[[Path], SpeakerEmbedder]] = {
            "wespeaker-resnet34": partial(WeSpeakerEmbedder, cpu_threads=self._threads, device=self._device),
        }
        if name not in factories:
            raise EngineUnavailableError(f"Unknown speaker embedding engine: {name}.")
        return self._once("speaker embedder", lambda: factories[name](self._store.path(name)))

    def speaker_segmenter(self) -> SpeakerSegmenter | None:
        """None when its model is not installed; speaker changes then follow from embeddings alone."""
        model = self._store.manifest.models.get(SEGMENTATION_MODEL)  # an operator's manifest may lack it
        if model is None or not self._store.has_any_file(model):
            return None
        build = partial(PyannoteSegmenter, cpu_threads=self._threads, device=self._device)
        return self._once("speaker segmenter", lambda: build(self._store.path(SEGMENTATION_MODEL)))

    def source_separator(self) -> SourceSeparator:
        name = self._settings.separator
        factories: Mapping[str, Callable[[Path], SourceSeparator]] = {
            "spleeter-2stems": partial(SpleeterSeparator, cpu_threads=self._threads, device=self._device),
        }
        if name == NONE:
            raise EngineUnavailableError("Source separation is disabled.")
        if name not in factories:
            raise EngineUnavailableError(f"Unknown source separation engine: {name}.")
        return self._once("source separator", lambda: factories[name](self._store.path(name)))

    def translators(self) -> Sequence[Translator]:
        """The configured translators that offer at least one route, in order of preference."""
        factories: Mapping[str, Callable[[], Translator | None]] = {
            "firefox": self._firefox,
            "apertium": self._apertium,
            "chat": self._chat,
            "ctranslate2": self._ctranslate2,
        }
        usable = []
        for name in self._settings.translators:
            if name not in factories:
                raise EngineUnavailableError(f"Unknown translation engine: {name}.")
            translator = self._once(f"translator {name}", factories[name])
            if translator is not None and translator.routes():
                usable.append(translator)
        return usable

    def synthesizers(self) -> Sequence[SpeechSynthesizer]:
        """The configured TTS engines that can be built, in order; each has its own voices."""
        usable, faults = [], []
        for name in self._settings.tts_engines:
            try:
                usable.append(self._synthesizer(name))
            except EngineUnavailableError as error:
                faults.append(error)
        if not usable:
            raise faults[0] if faults else EngineUnavailableError("No speech synthesis engine is configured.")
        return usable

    def synthesizer(self) -> SpeechSynthesizer:
        """The first configured TTS engine that can be built."""
        return self.synthesizers()[0]

    def synthesizer_named(self, name: str) -> SpeechSynthesizer:
        """The engine that a voice belongs to; another engine never replaces it."""
        for synthesizer in self.synthesizers():
            if synthesizer.name == name:
                return synthesizer
        raise EngineUnavailableError("This worker's speech engines do not have the voice.")

    def voice_cloner(self) -> VoiceCloner:
        name = self._settings.voice_cloner
        factories: Mapping[str, Callable[[], VoiceCloner]] = {"transfer": self._transfer, REMOTE: self._remote_cloner}
        if name == NONE:
            raise EngineUnavailableError("Voice cloning is disabled.")
        if name not in factories:
            raise EngineUnavailableError(f"Unknown voice cloning engine: {name}.")
        return self._once(f"voice cloner {name}", factories[name])

    def denoiser(self) -> Denoiser:
        return self._once("denoiser", SpectralGate)

    def face_detector(self) -> FaceDetector:
        return self._once("face detector", lambda: YuNetFaceDetector(self._store.path(FACE_MODEL)))

    def face_landmarker(self) -> FaceLandmarker | None:
        """None when disabled or when its model or runtime is not installed; closed eyes then go unnoticed."""
        name = self._settings.face_landmarker
        if name == NONE:
            return None
        if name != FACE_LANDMARK_MODEL:
            raise EngineUnavailableError(f"Unknown face landmark engine: {name}.")
        if not is_runtime_installed() or not self._store.has_any_file(self._store.manifest.model(name)):
            return None
        return self._once("face landmarker", lambda: MediaPipeFaceLandmarker(self._store.path(name)))

    def background_remover(self) -> BackgroundRemover | None:
        """None when disabled or when its model is not installed; images then keep their background."""
        name = self._settings.background_remover
        if name == NONE:
            return None
        if name not in BACKGROUND_REMOVAL_MODELS:
            raise EngineUnavailableError(f"Unknown background removal engine: {name}.")
        if not self._store.has_any_file(self._store.manifest.model(name)):
            return None
        build = partial(IsnetBackgroundRemover, name=name, cpu_threads=self._threads, device=self._device)
        return self._once("background remover", lambda: build(self._store.path(name)))

    def thumbnail_renderer(self) -> ThumbnailRenderer:
        name = self._settings.thumbnail_engine
        factories: Mapping[str, Callable[[], ThumbnailRenderer]] = {
            "compositor": self._compositor,
            REMOTE: self._remote_images,
        }
        if name not in factories:
            raise EngineUnavailableError(f"Unknown thumbnail engine: {name}.")
        return self._once(f"thumbnail renderer {name}", factories[name])

    def _compositor(self) -> ThumbnailRenderer:
        try:
            from cutroom.engines.thumbnails.compositor.renderer import Compositor  # noqa: PLC0415 - imports numpy and OpenCV
        except ImportError as error:
            raise EngineUnavailableError("Install cutroom[vision] to render thumbnails.") from error
        return Compositor(self.face_detector(), self.background_remover())

    def _remote_images(self) -> ThumbnailRenderer:
        settings = self._settings
        if settings.remote_images_url is None:
            raise EngineUnavailableError("Set CUTROOM_REMOTE_IMAGES_URL to generate images on a remote server.")
        key, model = settings.remote_images_key.get_secret_value(), settings.remote_images_model
        return OpenAiThumbnailRenderer(
            settings.remote_images_url, api_key=key, model=model, detector=self.face_detector()
        )

    def text_embedder(self) -> TextEmbedder | None:
        """None when disabled or when its model is not installed; callers then compare words instead of embeddings."""
        name = self._settings.embedder
        if name == NONE:
            return None
        factories: Mapping[str, Callable[[Path], TextEmbedder]] = {"minilm-l6-v2": MiniLmEmbedder}
        if name not in factories:
            raise EngineUnavailableError(f"Unknown text embedding engine: {name}.")
        if not self._store.has_any_file(self._store.manifest.model(name)):
            return None
        return self._once("text embedder", lambda: factories[name](self._store.path(name)))

    def ranker(self) -> Ranker | None:
        """Reorders candidate moments; None keeps the built-in order."""
        name = self._settings.ranker
        if name == NONE:
            return None
        if name != "chat":
            raise EngineUnavailableError(f"Unknown ranking engine: {name}.")
        return self._once("ranker", self._chat_ranker)

    def writer(self) -> Writer:
        """Writes titles, descriptions and headlines; the chat writer falls back to the extractive one."""
        name = self._settings.writer
        factories: Mapping[str, Callable[[], Writer]] = {"extractive": self._extractive, "chat": self._chat_writer}
        if name not in factories:
            raise EngineUnavailableError(f"Unknown writing engine: {name}.")
        return self._once("writer", factories[name])

    def tightener(self) -> ChatTightener | None:
        """Tightens what was said, by the language model that writes; None without one."""
        if self._settings.writer != "chat" or (server := self._chat_server()) is None:
            return None
        return self._once("tightener", lambda: ChatTightener(server, identifier=self.language_identifier()))

    def shortener(self) -> ChatShortener | None:
        """Says lines in fewer words, by the configured language model; None without one."""
        if (server := self._chat_server()) is None:
            return None
        return self._once("shortener", lambda: ChatShortener(server, identifier=self.language_identifier()))

    def _extractive(self) -> ExtractiveWriter:
        return self._once("writer extractive", lambda: ExtractiveWriter(self.text_embedder()))

    def _chat_writer(self) -> ChatWriter:
        server = self._chat_server()
        if server is None:
            raise EngineUnavailableError("Set CUTROOM_CHAT_URL to write titles and descriptions with a language model.")
        return ChatWriter(server, fallback=self._extractive(), identifier=self.language_identifier())

    def _chat_ranker(self) -> ChatRanker:
        server = self._chat_server()
        if server is None:
            raise EngineUnavailableError("Set CUTROOM_CHAT_URL to rank moments with a language model.")
        return ChatRanker(server)

    def _synthesizer(self, name: str) -> SpeechSynthesizer:
        factories: Mapping[str, Callable[[], SpeechSynthesizer]] = {
            "kokoro": self._kokoro,
            "piper": self._piper,
            "pico": lambda: PicoSynthesizer(sandbox=self._sandbox()),
            REMOTE: self._remote_synthesizer,
        }
        if name not in factories:
            raise EngineUnavailableError(f"Unknown speech synthesis engine: {name}.")
        return self._once(f"synthesizer {name}", factories[name])

    def _kokoro(self) -> KokoroSynthesizer:
        model, voices = self._store.path(KOKORO_MODEL), self._store.path(KOKORO_VOICES)
        return KokoroSynthesizer(model, voices, cpu_threads=self._threads, sandbox=self._sandbox())

    def _piper(self) -> PiperSynthesizer:
        """Voices are verified when they are first used: the operator may have many."""
        models = [_piper_model(each, self._store) for each in installed_models(self._store, prefix=PIPER_PREFIX)]
        return PiperSynthesizer(
            models,
            cpu_threads=self._threads,
            device=self._device,
            verify=lambda model: self._store.path(model.name),
            sandbox=self._sandbox(),
        )

    def _remote_synthesizer(self) -> OpenAiSynthesizer:
        url, key, model = self._remote_voice()
        return OpenAiSynthesizer(url, api_key=key, model=model, voices=parse_voices(self._settings.remote_tts_voices))

    def _transfer(self) -> SpectralTransferCloner:
        synthesizer, encoder = self._synthesizer("kokoro"), self._store.path(VOICE_TRANSFER_ENCODER)
        return SpectralTransferCloner(synthesizer, encoder, cpu_threads=self._threads)

    def _remote_cloner(self) -> OpenAiVoiceCloner:
        url, key, model = self._remote_voice()
        return OpenAiVoiceCloner(url, api_key=key, model=model)

    def _remote_voice(self) -> tuple[str, str, str]:
        settings = self._settings
        if settings.remote_tts_url is None:
            raise EngineUnavailableError("Set CUTROOM_REMOTE_TTS_URL to use a remote speech synthesis server.")
        return settings.remote_tts_url, settings.remote_tts_key.get_secret_value(), settings.remote_tts_model

    def _recognizer(self, name: str) -> SpeechRecognizer:
        if name != REMOTE:
            return self._once(
                f"recognizer {name}",
                lambda: WhisperRecognizer(
                    self._store.path(name), cpu_threads=self._threads, device=self._device, name=name
                ),
            )
        settings = self._settings
        if settings.remote_asr_url is None:
            raise EngineUnavailableError("Set CUTROOM_REMOTE_ASR_URL to use a remote speech recognition server.")
        url, key = settings.remote_asr_url, settings.remote_asr_key.get_secret_value()
        return self._once(
            "recognizer remote", lambda: OpenAiRecognizer(url, api_key=key, model=settings.remote_asr_model)
        )

    def _firefox(self) -> FirefoxTranslator | None:
        """Models are verified when their direction is first used: hashing the whole catalog takes many seconds."""
        store, installed = self._store, installed_directions(self._store, prefix=FIREFOX_PREFIX)
        if not installed:
            return None
        folders = {direction: store.folder_of(model) for direction, model in installed.items()}
        names = {store.folder_of(model): model.name for model in installed.values()}
        return FirefoxTranslator(folders, ratings=self._ratings(), verify=lambda folder: store.path(names[folder]))

    def _ctranslate2(self) -> Ctranslate2Translator | None:
        """OPUS-MT models by their direction in the manifest, then MADLAD-400 for the configured pairs."""
        store, settings = self._store, self._settings
        installed = installed_directions(store, prefix=OPUS_PREFIX)
        models = [ConvertedModel(store.folder_of(model), {pair: ""}) for pair, model in installed.items()]
        names = {store.folder_of(model): model.name for model in installed.values()}
        if settings.madlad_model and settings.madlad_pairs:
            folder = store.folder_of(store.manifest.model(settings.madlad_model))
            names[folder] = settings.madlad_model
            pairs = _parse_pairs(settings.madlad_pairs)
            models.append(ConvertedModel(folder, {pair: f"<2{pair[1]}>" for pair in pairs}))
        if not models:
            return None
        return Ctranslate2Translator(
            models,
            cpu_threads=self._threads,
            device=self._device,
            ratings=self._ratings(),
            verify=lambda folder: store.path(names[folder]),
        )

    def _apertium(self) -> ApertiumTranslator:
        return ApertiumTranslator(ratings=self._ratings(), sandbox=self._sandbox())

    def _sandbox(self) -> Sandbox:
        """For programs that read text."""
        return self._once("sandbox", lambda: Sandbox(mode=SandboxMode(self._settings.sandbox)))

    def _ratings(self) -> RouteRatings:
        """Measured classes of translation routes, and those that the operator has set."""
        return load_ratings(self._settings.route_quality)

    def _chat(self) -> ChatTranslator | None:
        server = self._chat_server()
        return ChatTranslator(server) if server else None

    def _chat_server(self) -> ChatServer | None:
        """The configured server, or llama.cpp with a local model, which starts with the first request."""
        settings = self._settings
        pairs = self._rate_chat(settings.chat_local_model or settings.chat_model)
        if name := settings.chat_local_model:
            local = self._once("llama.cpp", partial(self._llama_server, name))
            return ChatServer(LOCAL_CHAT_URL, name, local.key, pairs, concurrency=1, local=local)
        if settings.chat_url is None:
            return None
        key, concurrency = settings.chat_key.get_secret_value(), settings.chat_concurrency
        return ChatServer(settings.chat_url, settings.chat_model, key, pairs, concurrency=concurrency)

    def _rate_chat(self, model: str) -> dict[tuple[str, str], Quality]:
        ratings = self._ratings()
        return {
            pair: ratings.rate(ModelDirection(ChatTranslator.name, model, *map(canonical_tag, pair))).quality
            for pair in _parse_pairs(self._settings.chat_pairs)
        }

    def _llama_server(self, name: str) -> LlamaServer:
        return LlamaServer(lambda: self._store.path(name) / GGUF_FILE, cpu_threads=self._threads)

    def _once(self, name: str, build: Callable[[], Engine]) -> Engine:
        with self._build_lock:
            if name not in self._instances:
                self._instances[name] = build()
            engine: Engine = self._instances[name]  # type: ignore[assignment]
            return engine


def _piper_model(model: Model, store: ModelStore) -> PiperModel:
    onnx = [file.name for file in model.files if file.name.endswith(".onnx")]
    configs = [file.name for file in model.files if file.name.endswith(".json")]
    if len(onnx) != 1 or len(configs) != 1:
        raise EngineUnavailableError(f"The voice {model.name} needs one .onnx file and one .json file.")
    return PiperModel(model.name, store.folder_of(model), onnx[0], configs[0], model.voices)


def _parse_pairs(pairs: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs such as `en-de`."""
    split = [pair.partition("-") for pair in pairs]
    return [(source, target) for source, _, target in split]
