"""The engines of this installation, as settings name them; each is made when it is first asked for."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from cutroom.engines.apertium import ApertiumTranslator
from cutroom.engines.chat import ChatServer
from cutroom.engines.chat_ranker import ChatRanker
from cutroom.engines.chat_translator import ChatTranslator
from cutroom.engines.chat_writer import ChatWriter
from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.extractive.writer import ExtractiveWriter
from cutroom.engines.fallback import FallbackRecogniser
from cutroom.engines.firefox import FirefoxTranslator
from cutroom.engines.isnet import IsnetCutter
from cutroom.engines.kokoro import KokoroSpeaker
from cutroom.engines.langdetect import FastLanguageIdentifier
from cutroom.engines.minilm import MiniLmEmbedder
from cutroom.engines.noise import SpectralGate
from cutroom.engines.openai_images import OpenAiImages
from cutroom.engines.openai_recogniser import OpenAiRecogniser
from cutroom.engines.openai_speaker import OpenAiCloner, OpenAiSpeaker, parse_voices
from cutroom.engines.picture_ports import CutOuter, ThumbnailMaker
from cutroom.engines.ports import (
    Cloner,
    Denoiser,
    Embedder,
    FaceFinder,
    LanguageIdentifier,
    Quality,
    Ranker,
    Recogniser,
    Separator,
    Speaker,
    Translator,
    VoiceDetector,
    VoiceProfiler,
)
from cutroom.engines.silero import SileroDetector
from cutroom.engines.spleeter import SpleeterSeparator
from cutroom.engines.store import ModelStore
from cutroom.engines.voice_profiles import WeSpeakerProfiler
from cutroom.engines.voice_transfer import TransferCloner
from cutroom.engines.whisper import WhisperRecogniser
from cutroom.engines.writing import Writer
from cutroom.engines.yunet import YuNetFinder
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
        self._store = store or ModelStore(settings.models_folder)
        self._threads = settings.speech_threads or os.cpu_count() or 1
        self._made: dict[str, object] = {}
        self._making = threading.RLock()  # a cloner is made of a speaker

    def recogniser(self) -> Recogniser:
        """The first that works, of those that settings name."""
        names = _names(self._settings.recognisers)
        makers = [partial(self._recogniser, name) for name in names]
        return self._once("recogniser", lambda: FallbackRecogniser(makers))

    def language_identifier(self) -> LanguageIdentifier:
        return self._once("language identifier", FastLanguageIdentifier)

    def voice_detector(self) -> VoiceDetector:
        return self._once("voice detector", SileroDetector)

    def voice_profiler(self) -> VoiceProfiler | None:
        name = self._settings.voice_profiler
        if name == NONE:
            return None
        makers: Mapping[str, Callable[[Path], VoiceProfiler]] = {
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

    def speaker(self) -> Speaker:
        """The first that can be made, of those that settings name. Its voices are its own, so none stands in later."""
        unavailable = EngineUnavailableError("No speaker is set.")
        for name in _names(self._settings.speakers):
            try:
                return self._speaker(name)
            except EngineUnavailableError as error:
                unavailable = error
        raise unavailable

    def cloner(self) -> Cloner:
        name = self._settings.cloner
        makers: Mapping[str, Callable[[], Cloner]] = {"transfer": self._transfer, REMOTE: self._remote_cloner}
        if name == NONE:
            raise EngineUnavailableError("Voices are not cloned here.")
        if name not in makers:
            raise EngineUnavailableError(f"There is no cloner {name}.")
        return self._once(f"cloner {name}", makers[name])

    def denoiser(self) -> Denoiser:
        return self._once("denoiser", SpectralGate)

    def face_finder(self) -> FaceFinder:
        return self._once("face finder", lambda: YuNetFinder(self._store.path(FACE_MODEL)))

    def cut_outer(self) -> CutOuter | None:
        """Who parts subjects from their background; nothing where its model was not pulled: pictures stay whole."""
        name = self._settings.cut_outer
        if name == NONE:
            return None
        if name not in CUT_OUT_MODELS:
            raise EngineUnavailableError(f"There is no cut-outer {name}.")
        if not self._store.holds_any(self._store.manifest.model(name)):
            return None
        make = partial(IsnetCutter, name=name, cpu_threads=self._threads)
        return self._once("cut-outer", lambda: make(self._store.path(name)))

    def thumbnail_maker(self) -> ThumbnailMaker:
        name = self._settings.thumbnail_maker
        makers: Mapping[str, Callable[[], ThumbnailMaker]] = {
            "compositor": self._compositor,
            REMOTE: self._remote_images,
        }
        if name not in makers:
            raise EngineUnavailableError(f"There is no maker of thumbnails {name}.")
        return self._once(f"thumbnail maker {name}", makers[name])

    def _compositor(self) -> ThumbnailMaker:
        try:
            from cutroom.engines.compositor.maker import Compositor  # noqa: PLC0415 - it loads numpy and OpenCV at once
        except ImportError as error:
            raise EngineUnavailableError("Install cutroom[vision] to make thumbnails.") from error
        return Compositor(self.face_finder(), self.cut_outer())

    def _remote_images(self) -> ThumbnailMaker:
        settings = self._settings
        if settings.remote_images_url is None:
            raise EngineUnavailableError("Set CUTROOM_REMOTE_IMAGES_URL to have a remote server make pictures.")
        key, model = settings.remote_images_key.get_secret_value(), settings.remote_images_model
        return OpenAiImages(settings.remote_images_url, api_key=key, model=model, finder=self.face_finder())

    def embedder(self) -> Embedder | None:
        """Who says what sentences mean; nothing where its model was not pulled, since words alone do for a choice."""
        name = self._settings.embedder
        if name == NONE:
            return None
        makers: Mapping[str, Callable[[Path], Embedder]] = {"minilm-l6-v2": MiniLmEmbedder}
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

    def _speaker(self, name: str) -> Speaker:
        makers: Mapping[str, Callable[[], Speaker]] = {"kokoro": self._kokoro, REMOTE: self._remote_speaker}
        if name not in makers:
            raise EngineUnavailableError(f"There is no speaker {name}.")
        return self._once(f"speaker {name}", makers[name])

    def _kokoro(self) -> KokoroSpeaker:
        model, voices = self._store.path(KOKORO_MODEL), self._store.path(KOKORO_VOICES)
        return KokoroSpeaker(model, voices, cpu_threads=self._threads)

    def _remote_speaker(self) -> OpenAiSpeaker:
        url, key, model = self._remote_voice()
        return OpenAiSpeaker(url, api_key=key, model=model, voices=parse_voices(self._settings.remote_voices))

    def _transfer(self) -> TransferCloner:
        speaker, comparing = self._speaker("kokoro"), self._store.path(COMPARING_MODEL)
        return TransferCloner(speaker, comparing, cpu_threads=self._threads)

    def _remote_cloner(self) -> OpenAiCloner:
        url, key, model = self._remote_voice()
        return OpenAiCloner(url, api_key=key, model=model)

    def _remote_voice(self) -> tuple[str, str, str]:
        settings = self._settings
        if settings.remote_voice_url is None:
            raise EngineUnavailableError("Set CUTROOM_REMOTE_VOICE_URL to use voices of a remote server.")
        return settings.remote_voice_url, settings.remote_voice_key.get_secret_value(), settings.remote_voice_model

    def _recogniser(self, name: str) -> Recogniser:
        if name != REMOTE:
            return self._once(
                f"recogniser {name}",
                lambda: WhisperRecogniser(self._store.path(name), cpu_threads=self._threads, name=name),
            )
        settings = self._settings
        if settings.remote_speech_url is None:
            raise EngineUnavailableError("Set CUTROOM_REMOTE_SPEECH_URL to use a remote recogniser.")
        url, key = settings.remote_speech_url, settings.remote_speech_key.get_secret_value()
        return self._once(
            "recogniser remote", lambda: OpenAiRecogniser(url, api_key=key, model=settings.remote_speech_model)
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
