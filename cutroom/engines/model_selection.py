"""Names the models that the engines selected in the settings load."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cutroom.engines.registry import FACE_MODEL, KOKORO_MODEL, KOKORO_VOICES, NONE, REMOTE, VOICE_TRANSFER_ENCODER
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue

SPEECH = frozenset({TaskQueue.SPEECH})
SPOKEN = frozenset({TaskQueue.SPEECH, TaskQueue.VOICE})
VISION = frozenset({TaskQueue.VISION})


@dataclass(frozen=True, slots=True)
class SelectedModel:
    """A model, and the task queues whose work loads it; work continues without an optional one."""

    name: str
    queues: frozenset[TaskQueue]
    is_optional: bool = False


def selected_models(settings: Settings) -> list[SelectedModel]:
    """The models of every engine except translation, which uses whichever language pairs are installed."""
    merged: dict[str, SelectedModel] = {}
    for each in _selected(settings):
        queues = each.queues | (merged[each.name].queues if each.name in merged else frozenset())
        merged[each.name] = replace(each, queues=queues)
    return list(merged.values())


def _selected(settings: Settings) -> Iterator[SelectedModel]:
    yield from (SelectedModel(name, SPEECH) for name in settings.asr_engines if name != REMOTE)
    yield from (SelectedModel(name, SPEECH) for name in (settings.speaker_embedder, settings.separator) if name != NONE)
    if "kokoro" in settings.tts_engines or settings.voice_cloner == "transfer":
        yield from (SelectedModel(name, SPOKEN) for name in (KOKORO_MODEL, KOKORO_VOICES))
    if settings.voice_cloner == "transfer":
        yield SelectedModel(VOICE_TRANSFER_ENCODER, SPOKEN)
    yield SelectedModel(FACE_MODEL, VISION)
    if settings.face_landmarker != NONE:
        yield SelectedModel(settings.face_landmarker, VISION, is_optional=True)
    if settings.embedder != NONE:
        yield SelectedModel(settings.embedder, SPEECH, is_optional=True)
    if settings.background_remover != NONE:
        yield SelectedModel(settings.background_remover, VISION, is_optional=True)
