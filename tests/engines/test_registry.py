"""Settings select the engines; no model or heavy dependency is loaded before first use."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.openai import OpenAiSynthesizer, OpenAiVoiceCloner
from cutroom.engines.thumbnails.openai import OpenAiThumbnailRenderer
from cutroom.engines.translation.port import Quality
from cutroom.engines.writing.chat import ChatWriter
from cutroom.engines.writing.chat_ranker import ChatRanker
from cutroom.engines.writing.extractive.writer import ExtractiveWriter
from cutroom.platform.settings import Settings
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.synthesis.test_piper import config
from tests.support.tiny_models import manifest_text

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


def test_every_available_engine_offers_its_voices(tmp_path: Path) -> None:
    built = engines(tmp_path, tts_engines=["kokoro", "pico", "remote"], **REMOTE)
    assert [each.name for each in built.synthesizers()] == ["pico-1", "openai-tts-1"]
    assert built.synthesizer_named("openai-tts-1").voices()[0].name == "alloy"
    with pytest.raises(EngineUnavailableError, match="do not have the voice"):
        built.synthesizer_named("kokoro-int8")


def test_installed_piper_models_become_voices(tmp_path: Path) -> None:
    text = manifest_text()
    files = {"tiny.onnx": b"graph", "tiny.onnx.json": json.dumps(config()).encode()}
    (tmp_path / "piper-tiny").mkdir()
    for name, data in files.items():
        (tmp_path / "piper-tiny" / name).write_bytes(data)
    pins = ", ".join(
        f'{{ name = "{name}", size_bytes = {len(data)}, sha256 = "{hashlib.sha256(data).hexdigest()}" }}'
        for name, data in files.items()
    )
    text += f"""
        [[models]]
        name = "piper-tiny"
        task = "synthesis"
        license = "MIT"
        about = "for tests"
        hub = {{ repository = "people/voices", folder = "de/tiny" }}
        voices = [{{ title = "Tiny", gender = "male" }}]
        files = [{pins}]
    """
    (tmp_path / "manifest.toml").write_text(text)
    built = engines(tmp_path, tts_engines=["piper"], models_manifest=tmp_path / "manifest.toml")
    (voice,) = built.synthesizer().voices()
    assert (voice.name, voice.title, voice.language, voice.gender) == ("piper-tiny", "Tiny", "de-DE", "male")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tts_engines": ["piper"]}, "No Piper voices"),
        ({"tts_engines": ["kokoro"]}, "kokoro-int8 is not installed"),
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


def test_operator_sets_the_class_of_a_chat_model(tmp_path: Path) -> None:
    settings = {"translators": ["chat"], "chat_url": "http://127.0.0.1:1/v1", "chat_pairs": ["en-pt", "en-pt-PT"]}
    [plain] = engines(tmp_path, **settings).translators()
    assert {route.quality for route in plain.routes()} == {Quality.DRAFT}
    [rated] = engines(tmp_path, **settings, route_quality=["chat:en-pt-PT:review"]).translators()
    assert {route.target: route.quality for route in rated.routes()} == {"pt": Quality.DRAFT, "pt-PT": Quality.REVIEW}
    with pytest.raises(EngineUnavailableError, match="CUTROOM_ROUTE_QUALITY"):
        engines(tmp_path, **settings, route_quality=["chat:en-pt:good"]).translators()


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
        "heavy |= {'pyopenjtalk', 'pypinyin', 'ttspico'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=500)
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
