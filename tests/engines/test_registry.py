"""Settings select the engines; no model or heavy dependency is loaded before first use."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.openai import OpenAiSynthesizer, OpenAiVoiceCloner
from cutroom.engines.thumbnails.openai import OpenAiThumbnailRenderer
from cutroom.engines.writing.chat import ChatWriter
from cutroom.engines.writing.chat_ranker import ChatRanker
from cutroom.engines.writing.extractive.writer import ExtractiveWriter
from cutroom.platform.settings import Settings
from tests.engines.recognition.recognizer_suite import model_folder

REMOTE = {"remote_tts_url": "http://127.0.0.1:1/v1", "remote_tts_voices": ["alloy:en-US:female"]}


def engines(folder: Path, **settings: Any) -> Engines:  # noqa: ANN401 - settings have several types
    secrets: dict[str, Any] = dict.fromkeys(("database_url", "redis_url", "s3_access_key", "s3_secret_key"), "none")
    return Engines(Settings(**secrets, secret_key="k" * 32, models_dir=folder, **settings))


def test_remote_server_synthesizes_and_clones(tmp_path: Path) -> None:
    built = engines(tmp_path, tts_engines=["remote"], voice_cloner="remote", **REMOTE)
    assert isinstance(built.synthesizer(), OpenAiSynthesizer)
    assert built.synthesizer() is built.synthesizer()
    assert isinstance(built.voice_cloner(), OpenAiVoiceCloner)


def test_synthesizer_falls_back_to_next_engine(tmp_path: Path) -> None:
    assert isinstance(engines(tmp_path, tts_engines=["kokoro", "remote"], **REMOTE).synthesizer(), OpenAiSynthesizer)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "kokoro-int8 is not installed"),
        ({"tts_engines": []}, "No speech synthesis engine"),
        ({"tts_engines": ["parrot"]}, "parrot"),
        ({"tts_engines": ["remote"]}, "CUTROOM_REMOTE_TTS_URL"),
    ],
)
def test_synthesizer_unavailable_without_requirements(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(EngineUnavailableError, match=message):
        engines(tmp_path, **settings).synthesizer()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "kokoro-int8 is not installed"),
        ({"voice_cloner": "none"}, "Voice cloning is disabled"),
        ({"voice_cloner": "parrot"}, "parrot"),
        ({"voice_cloner": "remote"}, "CUTROOM_REMOTE_TTS_URL"),
    ],
)
def test_voice_cloner_unavailable_without_requirements(tmp_path: Path, settings: dict[str, str], message: str) -> None:
    with pytest.raises(EngineUnavailableError, match=message):
        engines(tmp_path, **settings).voice_cloner()


def test_text_embedder_is_none_without_its_model(tmp_path: Path) -> None:
    assert engines(tmp_path).text_embedder() is None
    assert engines(tmp_path, embedder="none").text_embedder() is None
    with pytest.raises(EngineUnavailableError, match="parrot"):
        engines(tmp_path, embedder="parrot").text_embedder()


def test_damaged_text_embedder_raises(tmp_path: Path) -> None:
    (tmp_path / "minilm-l6-v2").mkdir()
    (tmp_path / "minilm-l6-v2" / "tokenizer.json").write_text("{}")
    with pytest.raises(EngineUnavailableError, match="damaged"):
        engines(tmp_path).text_embedder()


def test_ranker_is_built_only_if_configured(tmp_path: Path) -> None:
    assert engines(tmp_path).ranker() is None
    built = engines(tmp_path, ranker="chat", chat_url="http://127.0.0.1:1/v1", chat_key="k").ranker()
    assert isinstance(built, ChatRanker)
    for settings, message in (({"ranker": "chat"}, "CUTROOM_CHAT_URL"), ({"ranker": "parrot"}, "parrot")):
        with pytest.raises(EngineUnavailableError, match=message):
            engines(tmp_path, **settings).ranker()


def test_thumbnail_renderer_is_local_or_remote(tmp_path: Path) -> None:
    store = model_folder("yunet").parent
    built = engines(store).thumbnail_renderer()
    assert built.name == "compositor"
    remote = {"thumbnail_engine": "remote", "remote_images_url": "http://127.0.0.1:1/v1"}
    assert isinstance(engines(store, **remote).thumbnail_renderer(), OpenAiThumbnailRenderer)
    with pytest.raises(EngineUnavailableError, match="yunet"):
        engines(tmp_path).thumbnail_renderer()
    for settings, message in (
        ({"thumbnail_engine": "remote"}, "REMOTE_IMAGES_URL"),
        ({"thumbnail_engine": "parrot"}, "parrot"),
    ):
        with pytest.raises(EngineUnavailableError, match=message):
            engines(store, **settings).thumbnail_renderer()


def test_background_remover_is_none_without_its_model(tmp_path: Path) -> None:
    assert engines(tmp_path).background_remover() is None
    assert engines(model_folder("isnet-small").parent, background_remover="none").background_remover() is None
    with pytest.raises(EngineUnavailableError, match="parrot"):
        engines(tmp_path, background_remover="parrot").background_remover()


def test_importing_registry_loads_no_engine() -> None:
    code = (
        "import sys, cutroom.engines.registry\n"
        "heavy = {'faster_whisper', 'ctranslate2', 'onnxruntime', 'openai', 'httpx2', 'numpy', 'pyworld'}\n"
        "heavy |= {'tokenizers', 'cv2', 'uharfbuzz', 'cutroom.engines.thumbnails.compositor'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_writer_is_extractive_unless_chat_is_configured(tmp_path: Path) -> None:
    assert isinstance(engines(tmp_path).writer(), ExtractiveWriter)
    chat_engines = engines(tmp_path, writer="chat", chat_url="http://127.0.0.1:1/v1", chat_key="k")
    assert isinstance(chat_engines.writer(), ChatWriter)
    assert chat_engines.writer() is chat_engines.writer()
    with pytest.raises(EngineUnavailableError, match="CUTROOM_CHAT_URL"):
        engines(tmp_path, writer="chat").writer()
    with pytest.raises(EngineUnavailableError, match="parrot"):
        engines(tmp_path, writer="parrot").writer()
