"""The engines of this installation, as settings name them; each is made when it is first asked for."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from cutroom.engines.chat_client import ChatServer
from cutroom.engines.diarization.embeddings import WeSpeakerProfiler
from cutroom.engines.diarization.port import SpeakerEmbedder
from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.store import ModelStore
from cutroom.engines.recognition.fallback import FallbackRecognizer
from cutroom.engines.recognition.openai import OpenAiRecognizer
from cutroom.engines.recognition.port import SpeechRecognizer, VoiceActivityDetector
from cutroom.engines.recognition.silero import SileroDetector
from cutroom.engines.recognition.whisper import WhisperRecognizer
from cutroom.engines.separation.port import Denoiser, Separator
from cutroom.engines.separation.spectral_gate import SpectralGate
from cutroom.engines.separation.spleeter import SpleeterSeparator
from cutroom.engines.synthesis.kokoro import KokoroSynthesizer
from cutroom.engines.synthesis.openai import OpenAiCloner, OpenAiSynthesizer, parse_voices
from cutroom.engines.synthesis.port import SpeechSynthesizer
from cutroom.engines.thumbnails.openai import OpenAiImages
from cutroom.engines.thumbnails.port import ThumbnailRenderer
from cutroom.engines.translation.apertium import ApertiumTranslator
from cutroom.engines.translation.chat import ChatTranslator
from cutroom.engines.translation.firefox import FirefoxTranslator
from cutroom.engines.translation.language_identification import FastLanguageIdentifier
from cutroom.engines.translation.port import LanguageIdentifier, Quality, Translator
from cutroom.engines.vision.isnet import IsnetBackgroundRemover
from cutroom.engines.vision.port import BackgroundRemover, FaceDetector
from cutroom.engines.vision.yunet import YuNetFaceDetector
from cutroom.engines.voice_conversion.port import VoiceCloner
from cutroom.engines.voice_conversion.spectral_transfer import TransferCloner
from cutroom.engines.writing.chat import ChatWriter
from cutroom.engines.writing.chat_ranker import ChatRanker
from cutroom.engines.writing.extractive.writer import ExtractiveWriter
from cutroom.engines.writing.minilm import MiniLmEmbedder
from cutroom.engines.writing.port import Writer
from cutroom.engines.writing.text_ports import Ranker, TextEmbedder
from cutroom.platform.settings import Settings

REMOTE = "remote"
NONE = "none"
FIREFOX_PREFIX = "firefox-"
KOKORO_MODEL, KOKORO_VOICES = "kokoro-int8", "kokoro-voices"
FACE_MODEL = "yunet"
CUT_OUT_MODELS = ("isnet-small", "isnet-medium")
COMPARING_MODEL = "whisper-base"  # by which the transfer of voices compares sounds

Engine = TypeVar("Engine")


class Engines:
    """One of each for a process: models are large, and are shared by all that runs in it."""

    def __init__(self, settings: Settings, store: ModelStore | None = None) -> None:
        self._settings = settings
        self._store = store or ModelStore(settings.models_dir)
        self._threads = settings.speech_threads or os.cpu_count() or 1
        self._made: dict[str, object] = {}
        self._making = threading.RLock()  # a cloner is made of a speaker

    def recogniser(self) -> SpeechRecognizer:
        """The first that works, of those that settings name."""
        names = _names(self._settings.asr_engines)
        makers = [partial(self._recogniser, name) for name in names]
        return self._once("recogniser", lambda: FallbackRecognizer(makers))

    def language_identifier(self) -> LanguageIdentifier:
        return self._once("language identifier", FastLanguageIdentifier)

    def voice_detector(self) -> VoiceActivityDetector:
        return self._once("voice detector", SileroDetector)

    def speaker_embedder(self) -> SpeakerEmbedder | None:
        name = self._settings.speaker_embedder
        if name == NONE:
            return None
        makers: Mapping[str, Callable[[Path], SpeakerEmbedder]] = {
            "wespeaker-resnet34": partial(WeSpeakerProfiler, cpu_threads=self._threads),
        }
        if name not in makers:
            raise EngineUnavailableError(f"There is no voice profiler {name}.")
        return self._once("voice profiler", lambda: makers[name](self._store.path(name)))

    def separator(self) -> Separator:
        """Who takes speech apart from music and effects."""
        name = self._settings.separator
        makers: Mapping[str, Callable[[Path], Separator]] = {
            "spleeter-2stems": partial(SpleeterSeparator, cpu_threads=self._threads),
        }
        if name == NONE:
            raise EngineUnavailableError("Speech is not taken apart from other sound here.")
        if name not in makers:
            raise EngineUnavailableError(f"There is no separator {name}.")
        return self._once("separator", lambda: makers[name](self._store.path(name)))

    def translators(self) -> Sequence[Translator]:
        """Those that have anything to work with, in the order of the setting."""
        makers: Mapping[str, Callable[[], Translator | None]] = {
            "firefox": self._firefox,
            "apertium": ApertiumTranslator,
            "chat": self._chat,
        }
        found = []
        for name in _names(self._settings.translators):
            if name not in makers:
                raise EngineUnavailableError(f"There is no translator {name}.")
            made = self._once(f"translator {name}", makers[name])
            if made is not None and made.routes():
                found.append(made)
        return found

    def speaker(self) -> SpeechSynthesizer:
        """The first that can be made, of those that settings name. Its voices are its own, so none stands in later."""
        unavailable = EngineUnavailableError("No speaker is set.")
        for name in _names(self._settings.tts_engines):
            try:
                return self._speaker(name)
            except EngineUnavailableError as error:
                unavailable = error
        raise unavailable

    def cloner(self) -> VoiceCloner:
        name = self._settings.voice_cloner
        makers: Mapping[str, Callable[[], VoiceCloner]] = {"transfer": self._transfer, REMOTE: self._remote_cloner}
        if name == NONE:
            raise EngineUnavailableError("Voices are not cloned here.")
        if name not in makers:
            raise EngineUnavailableError(f"There is no cloner {name}.")
        return self._once(f"cloner {name}", makers[name])

    def denoiser(self) -> Denoiser:
        return self._once("denoiser", SpectralGate)

    def face_finder(self) -> FaceDetector:
        return self._once("face finder", lambda: YuNetFaceDetector(self._store.path(FACE_MODEL)))

    def background_remover(self) -> BackgroundRemover | None:
        """Who parts subjects from their background; nothing where its model was not pulled: pictures stay whole."""
        name = self._settings.background_remover
        if name == NONE:
            return None
        if name not in CUT_OUT_MODELS:
            raise EngineUnavailableError(f"There is no cut-outer {name}.")
        if not self._store.holds_any(self._store.manifest.model(name)):
            return None
        make = partial(IsnetBackgroundRemover, name=name, cpu_threads=self._threads)
        return self._once("cut-outer", lambda: make(self._store.path(name)))

    def thumbnail_engine(self) -> ThumbnailRenderer:
        name = self._settings.thumbnail_engine
        makers: Mapping[str, Callable[[], ThumbnailRenderer]] = {
            "compositor": self._compositor,
            REMOTE: self._remote_images,
        }
        if name not in makers:
            raise EngineUnavailableError(f"There is no maker of thumbnails {name}.")
        return self._once(f"thumbnail maker {name}", makers[name])

    def _compositor(self) -> ThumbnailRenderer:
        try:
            from cutroom.engines.thumbnails.compositor.maker import Compositor  # noqa: PLC0415 - it loads numpy and OpenCV at once
        except ImportError as error:
            raise EngineUnavailableError("Install cutroom[vision] to make thumbnails.") from error
        return Compositor(self.face_finder(), self.background_remover())

    def _remote_images(self) -> ThumbnailRenderer:
        settings = self._settings
        if settings.remote_images_url is None:
            raise EngineUnavailableError("Set CUTROOM_REMOTE_IMAGES_URL to have a remote server make pictures.")
        key, model = settings.remote_images_key.get_secret_value(), settings.remote_images_model
        return OpenAiImages(settings.remote_images_url, api_key=key, model=model, finder=self.face_finder())

    def embedder(self) -> TextEmbedder | None:
        """Who says what sentences mean; nothing where its model was not pulled, since words alone do for a choice."""
        name = self._settings.embedder
        if name == NONE:
            return None
        makers: Mapping[str, Callable[[Path], TextEmbedder]] = {"minilm-l6-v2": MiniLmEmbedder}
        if name not in makers:
            raise EngineUnavailableError(f"There is no embedder {name}.")
        if not self._store.holds_any(self._store.manifest.model(name)):
            return None
        return self._once("embedder", lambda: makers[name](self._store.path(name)))

    def ranker(self) -> Ranker | None:
        """Who has the last word on the order of moments; nothing means that our own order stands."""
        name = self._settings.ranker
        if name == NONE:
            return None
        if name != "chat":
            raise EngineUnavailableError(f"There is no ranker {name}.")
        return self._once("ranker", self._chat_ranker)

    def writer(self) -> Writer:
        """Who writes titles, descriptions and headlines; one that asks a model still falls back on our own."""
        name = self._settings.writer
        makers: Mapping[str, Callable[[], Writer]] = {"extractive": self._extractive, "chat": self._chat_writer}
        if name not in makers:
            raise EngineUnavailableError(f"There is no writer {name}.")
        return self._once("writer", makers[name])

    def _extractive(self) -> ExtractiveWriter:
        return self._once("writer extractive", lambda: ExtractiveWriter(self.embedder()))

    def _chat_writer(self) -> ChatWriter:
        settings = self._settings
        if settings.chat_url is None:
            raise EngineUnavailableError("Set CUTROOM_CHAT_URL to have a language model write titles and descriptions.")
        server = ChatServer(settings.chat_url, settings.chat_model, settings.chat_key.get_secret_value())
        return ChatWriter(server, otherwise=self._extractive(), identifier=self.language_identifier())

    def _chat_ranker(self) -> ChatRanker:
        settings = self._settings
        if settings.chat_url is None:
            raise EngineUnavailableError("Set CUTROOM_CHAT_URL to have a language model rank moments.")
        return ChatRanker(ChatServer(settings.chat_url, settings.chat_model, settings.chat_key.get_secret_value()))

    def _speaker(self, name: str) -> SpeechSynthesizer:
        makers: Mapping[str, Callable[[], SpeechSynthesizer]] = {"kokoro": self._kokoro, REMOTE: self._remote_speaker}
        if name not in makers:
            raise EngineUnavailableError(f"There is no speaker {name}.")
        return self._once(f"speaker {name}", makers[name])

    def _kokoro(self) -> KokoroSynthesizer:
        model, voices = self._store.path(KOKORO_MODEL), self._store.path(KOKORO_VOICES)
        return KokoroSynthesizer(model, voices, cpu_threads=self._threads)

    def _remote_speaker(self) -> OpenAiSynthesizer:
        url, key, model = self._remote_voice()
        return OpenAiSynthesizer(url, api_key=key, model=model, voices=parse_voices(self._settings.remote_tts_voices))

    def _transfer(self) -> TransferCloner:
        speaker, comparing = self._speaker("kokoro"), self._store.path(COMPARING_MODEL)
        return TransferCloner(speaker, comparing, cpu_threads=self._threads)

    def _remote_cloner(self) -> OpenAiCloner:
        url, key, model = self._remote_voice()
        return OpenAiCloner(url, api_key=key, model=model)

    def _remote_voice(self) -> tuple[str, str, str]:
        settings = self._settings
        if settings.remote_tts_url is None:
            raise EngineUnavailableError("Set CUTROOM_REMOTE_TTS_URL to use voices of a remote server.")
        return settings.remote_tts_url, settings.remote_tts_key.get_secret_value(), settings.remote_tts_model

    def _recogniser(self, name: str) -> SpeechRecognizer:
        if name != REMOTE:
            return self._once(
                f"recogniser {name}",
                lambda: WhisperRecognizer(self._store.path(name), cpu_threads=self._threads, name=name),
            )
        settings = self._settings
        if settings.remote_asr_url is None:
            raise EngineUnavailableError("Set CUTROOM_REMOTE_ASR_URL to use a remote recogniser.")
        url, key = settings.remote_asr_url, settings.remote_asr_key.get_secret_value()
        return self._once(
            "recogniser remote", lambda: OpenAiRecognizer(url, api_key=key, model=settings.remote_asr_model)
        )

    def _firefox(self) -> FirefoxTranslator | None:
        folders: dict[tuple[str, str], Path] = {}
        for model in self._store.manifest.models.values():
            if model.name.startswith(FIREFOX_PREFIX) and self._store.holds(model):
                source, _, target = model.name.removeprefix(FIREFOX_PREFIX).partition("-")
                folders[source, target] = self._store.path(model.name)
        return FirefoxTranslator(folders) if folders else None

    def _chat(self) -> ChatTranslator | None:
        settings = self._settings
        if settings.chat_url is None:
            return None
        pairs = {}
        for pair in _names(settings.chat_pairs):
            source, _, target = pair.partition("-")
            pairs[source, target] = Quality.GOOD
        key = settings.chat_key.get_secret_value()
        return ChatTranslator(ChatServer(settings.chat_url, settings.chat_model, key, pairs))

    def _once(self, name: str, make: Callable[[], Engine]) -> Engine:
        with self._making:
            if name not in self._made:
                self._made[name] = make()
            made: Engine = self._made[name]  # type: ignore[assignment]
            return made


def _names(setting: str) -> list[str]:
    return [name.strip() for name in setting.split(",") if name.strip()]
