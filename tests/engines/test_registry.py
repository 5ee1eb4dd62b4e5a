"""Settings name the engines that speak; nothing heavy is loaded before one is asked for."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.openai import OpenAiCloner, OpenAiSynthesizer
from cutroom.engines.thumbnails.openai import OpenAiImages
from cutroom.engines.writing.chat import ChatWriter
from cutroom.engines.writing.chat_ranker import ChatRanker
from cutroom.engines.writing.extractive.writer import ExtractiveWriter
from cutroom.platform.settings import Settings
from tests.engines.recognition.recognizer_suite import model_folder

REMOTE = {"remote_tts_url": "http://127.0.0.1:1/v1", "remote_tts_voices": "alloy:en-US:female"}


def engines(folder: Path, **settings: Any) -> Engines:  # noqa: ANN401 - of several types
    secrets: dict[str, Any] = dict.fromkeys(("database_url", "redis_url", "s3_access_key", "s3_secret_key"), "none")
    return Engines(Settings(**secrets, secret_key="k" * 32, models_dir=folder, **settings))


def test_a_remote_server_speaks_and_clones(tmp_path: Path) -> None:
    made = engines(tmp_path, tts_engines="remote", voice_cloner="remote", **REMOTE)
    assert isinstance(made.speaker(), OpenAiSynthesizer)
    assert made.speaker() is made.speaker()
    assert isinstance(made.cloner(), OpenAiCloner)


def test_the_next_speaker_is_taken_where_the_first_cannot_be_made(tmp_path: Path) -> None:
    assert isinstance(engines(tmp_path, tts_engines="kokoro,remote", **REMOTE).speaker(), OpenAiSynthesizer)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "kokoro-int8 is not installed"),
        ({"tts_engines": ""}, "No speaker"),
        ({"tts_engines": "parrot"}, "parrot"),
        ({"tts_engines": "remote"}, "CUTROOM_REMOTE_TTS_URL"),
    ],
)
def test_without_what_it_needs_no_speaker_is_there(tmp_path: Path, settings: dict[str, str], told: str) -> None:
    with pytest.raises(EngineUnavailableError, match=told):
        engines(tmp_path, **settings).speaker()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "kokoro-int8 is not installed"),
        ({"voice_cloner": "none"}, "not cloned"),
        ({"voice_cloner": "parrot"}, "parrot"),
        ({"voice_cloner": "remote"}, "CUTROOM_REMOTE_TTS_URL"),
    ],
)
def test_without_what_it_needs_no_cloner_is_there(tmp_path: Path, settings: dict[str, str], told: str) -> None:
    with pytest.raises(EngineUnavailableError, match=told):
        engines(tmp_path, **settings).cloner()


def test_without_its_model_there_is_no_embedder_and_that_is_no_fault(tmp_path: Path) -> None:
    assert engines(tmp_path).embedder() is None
    assert engines(tmp_path, embedder="none").embedder() is None
    with pytest.raises(EngineUnavailableError, match="parrot"):
        engines(tmp_path, embedder="parrot").embedder()


def test_a_damaged_embedder_is_told(tmp_path: Path) -> None:
    (tmp_path / "minilm-l6-v2").mkdir()
    (tmp_path / "minilm-l6-v2" / "tokenizer.json").write_text("{}")
    with pytest.raises(EngineUnavailableError, match="damaged"):
        engines(tmp_path).embedder()


def test_a_ranker_is_there_where_it_is_set(tmp_path: Path) -> None:
    assert engines(tmp_path).ranker() is None
    made = engines(tmp_path, ranker="chat", chat_url="http://127.0.0.1:1/v1", chat_key="k").ranker()
    assert isinstance(made, ChatRanker)
    for settings, told in (({"ranker": "chat"}, "CUTROOM_CHAT_URL"), ({"ranker": "parrot"}, "parrot")):
        with pytest.raises(EngineUnavailableError, match=told):
            engines(tmp_path, **settings).ranker()


def test_thumbnails_are_made_here_or_by_a_server(tmp_path: Path) -> None:
    store = model_folder("yunet").parent
    made = engines(store).thumbnail_engine()
    assert made.name == "compositor"
    remote = {"thumbnail_engine": "remote", "remote_images_url": "http://127.0.0.1:1/v1"}
    assert isinstance(engines(store, **remote).thumbnail_engine(), OpenAiImages)
    with pytest.raises(EngineUnavailableError, match="yunet"):
        engines(tmp_path).thumbnail_engine()
    for settings, told in (
        ({"thumbnail_engine": "remote"}, "REMOTE_IMAGES_URL"),
        ({"thumbnail_engine": "parrot"}, "parrot"),
    ):
        with pytest.raises(EngineUnavailableError, match=told):
            engines(store, **settings).thumbnail_engine()


def test_subjects_stay_in_their_pictures_where_nobody_cuts_them_out(tmp_path: Path) -> None:
    assert engines(tmp_path).background_remover() is None
    assert engines(model_folder("isnet-small").parent, background_remover="none").background_remover() is None
    with pytest.raises(EngineUnavailableError, match="parrot"):
        engines(tmp_path, background_remover="parrot").background_remover()


def test_the_registry_loads_no_engine_when_it_is_imported() -> None:
    code = (
        "import sys, cutroom.engines.registry\n"
        "heavy = {'faster_whisper', 'ctranslate2', 'onnxruntime', 'openai', 'httpx2', 'numpy', 'pyworld'}\n"
        "heavy |= {'tokenizers', 'cv2', 'uharfbuzz', 'cutroom.engines.thumbnails.compositor'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_the_writer_works_by_rules_unless_a_model_is_set(tmp_path: Path) -> None:
    assert isinstance(engines(tmp_path).writer(), ExtractiveWriter)
    asking = engines(tmp_path, writer="chat", chat_url="http://127.0.0.1:1/v1", chat_key="k")
    assert isinstance(asking.writer(), ChatWriter)
    assert asking.writer() is asking.writer()
    with pytest.raises(EngineUnavailableError, match="CUTROOM_CHAT_URL"):
        engines(tmp_path, writer="chat").writer()
    with pytest.raises(EngineUnavailableError, match="parrot"):
        engines(tmp_path, writer="parrot").writer()
