"""The selected models are those that the engines ask the store for."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from cutroom.engines.model_selection import selected_models
from cutroom.engines.models.manifest import Model
from cutroom.engines.models.store import ModelStore
from cutroom.engines.registry import Engines
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue


class RecordingStore(ModelStore):
    """Records which models are requested; none of them is installed."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.names: set[str] = set()

    def path(self, name: str) -> Path:
        self.names.add(name)
        return self.folder / name

    def has_any_file(self, model: Model) -> bool:
        return model is not None


def test_engines_load_only_selected_models(settings: Settings, tmp_path: Path) -> None:
    store = RecordingStore(tmp_path)
    engines = Engines(settings, store)
    getters: list[Callable[[], object]] = [
        engines.speaker_embedder,
        engines.source_separator,
        engines.synthesizer,
        engines.voice_cloner,
        engines.face_detector,
        engines.face_landmarker,
        engines.background_remover,
        engines.text_embedder,
    ]
    for getter in getters:
        with suppress(Exception):  # the model is not there
            getter()
    names = {each.name for each in selected_models(settings)}
    assert {"kokoro-int8", "kokoro-voices", "yunet"} <= store.names <= names


@pytest.mark.parametrize(
    ("values", "absent"),
    [
        ({"asr_engines": ["remote"], "voice_cloner": "none"}, {"whisper-base"}),
        ({"tts_engines": ["remote"], "voice_cloner": "none"}, {"kokoro-int8", "kokoro-voices"}),
        ({"separator": "none", "speaker_embedder": "none"}, {"spleeter-2stems", "wespeaker-resnet34"}),
        ({"embedder": "none", "background_remover": "none"}, {"minilm-l6-v2", "isnet-small"}),
        ({"face_landmarker": "none"}, {"mediapipe-face"}),
    ],
)
def test_disabled_engines_select_no_model(settings: Settings, values: dict[str, object], absent: set[str]) -> None:
    assert not absent & {each.name for each in selected_models(settings.model_copy(update=values))}


def test_a_model_of_two_engines_is_listed_once(settings: Settings) -> None:
    shared = settings.model_copy(update={"asr_engines": ["whisper-base"], "voice_cloner": "transfer"})
    (whisper,) = [each for each in selected_models(shared) if each.name == "whisper-base"]
    assert whisper.queues == {TaskQueue.SPEECH, TaskQueue.VOICE}
