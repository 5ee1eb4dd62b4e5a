"""Checks the models, fonts and Python packages of a worker."""

import asyncio
import re
from collections.abc import Iterator
from importlib import metadata

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.model_selection import SelectedModel, selected_models
from cutroom.engines.models.manifest_reader import load_manifest
from cutroom.engines.models.store import ModelStore
from cutroom.engines.registry import FIREFOX_PREFIX
from cutroom.entrypoints.doctor.component import Component, ComponentHealth, Repairs
from cutroom.entrypoints.doctor.programs import SPOKEN
from cutroom.media import fonts
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue

FIRST_TRANSLATION = "firefox-en-pt"  # what to install where no language pair is
HASH_CHARACTERS = 12
RENDERED = frozenset({TaskQueue.MEDIA, TaskQueue.VISION})
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+).*; extra == ['\"](\w+)['\"]")


async def check_files(settings: Settings, *, repairs: Repairs) -> list[Component]:
    models = await asyncio.to_thread(lambda: list(_check_models(settings, repairs=repairs)))
    return [*models, *_check_fonts(settings, repairs=repairs), *_check_extras(settings, repairs=repairs)]


def _check_models(settings: Settings, *, repairs: Repairs) -> Iterator[Component]:
    manifest, queues = load_manifest(settings.models_manifest), set(settings.worker_queues)
    store = ModelStore(settings.models_dir, manifest=manifest)
    for selected in selected_models(settings):
        if selected.queues & queues:
            yield check_model(selected, store, repairs=repairs)
    if TaskQueue.SPEECH in queues and "firefox" in settings.translators:
        models = [model for model in store.manifest.models.values() if model.name.startswith(FIREFOX_PREFIX)]
        for name in [model.name for model in models if store.has_any_file(model)] or [FIRST_TRANSLATION]:
            yield check_model(SelectedModel(name, frozenset()), store, repairs=repairs)


def check_model(selected: SelectedModel, store: ModelStore, *, repairs: Repairs) -> Component:
    """Verifies the files as an engine does before it loads them; the version is the hash of the largest."""
    name, fix, required = f"model {selected.name}", repairs.models.format(selected.name), not selected.is_optional
    try:
        model = store.manifest.model(selected.name)
    except EngineUnavailableError:  # no such model
        return Component(name, ComponentHealth.MISSING, where=str(store.folder), fix="cutroom-server models list")
    where = str(store.folder_of(model))
    if not store.has_any_file(model):
        return Component(name, ComponentHealth.MISSING, where=where, fix=fix, required=required)
    version = max(model.files, key=lambda file: file.size_bytes).sha256[:HASH_CHARACTERS]
    health = ComponentHealth.UNHEALTHY if store.faults(model) else ComponentHealth.OK
    return Component(name, health, version, where=where, fix=fix, required=required)


def _check_fonts(settings: Settings, *, repairs: Repairs) -> Iterator[Component]:
    if RENDERED & set(settings.worker_queues):
        needed = fonts.all_fonts()
        present = [font for font in needed if font.path.is_file()]
        health = ComponentHealth.OK if len(present) == len(needed) else ComponentHealth.MISSING
        files = f"{len(present)} of {len(needed)} files"
        yield Component("fonts", health, files, str(fonts.FONTS_DIR), fix=repairs.debian.format(fonts.PACKAGES))


def _check_extras(settings: Settings, *, repairs: Repairs) -> Iterator[Component]:
    """The optional dependencies of the engines and products that the settings select."""
    requirements = [_REQUIREMENT.fullmatch(each) for each in metadata.requires("cutroom") or ()]
    for extra in sorted(_needed_extras(settings)):
        names = [found[1] for found in requirements if found is not None and found[2] == extra]
        versions = {name: _installed_version(name) for name in names}
        yield Component(
            f"cutroom[{extra}]",
            ComponentHealth.OK if all(versions.values()) else ComponentHealth.MISSING,
            metadata.version("cutroom"),
            where=", ".join(f"{name} {version or 'missing'}" for name, version in versions.items()),
            fix=repairs.python.format(f"'cutroom[{extra}]'"),
        )


def _needed_extras(settings: Settings) -> set[str]:
    queues, needed = set(settings.worker_queues), set()
    if queues & SPOKEN:
        needed |= {"speech", "translation"}
    if queues & RENDERED:
        needed.add("vision")
    if settings.mux_token_id is not None:
        needed.add("hosting")
    if any((settings.remote_asr_url, settings.remote_tts_url, settings.remote_images_url, settings.chat_url)):
        needed.add("remote")
    return needed


def _installed_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
