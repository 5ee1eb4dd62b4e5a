"""Every installed direction of a catalog is offered, and English connects them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.manifest_reader import load_manifest, read_manifest
from cutroom.engines.models.store import ModelStore, installed_directions
from cutroom.engines.registry import FIREFOX_PREFIX, Engines
from cutroom.engines.translation.firefox import FirefoxTranslator
from cutroom.engines.translation.port import Translator
from cutroom.engines.translation.routing import plan_translation, reachable_languages, translate_along
from cutroom.platform.settings import Settings
from tests.engines.translation.translator_suite import model_folder
from tests.support.translation_mirror import MirrorContent, model_files

TINY = {"model.bin": b"weights", "vocab.spm": b"words", "lex.bin": b"shortlist"}


def installed_store(folder: Path, *models: tuple[str, str, str, float | None, Mapping[str, bytes]]) -> ModelStore:
    """A store with these models: source, target, architecture, score and files."""
    manifests = []
    for source, target, architecture, comet, files in models:
        content = MirrorContent()
        content.add(source, target, files, architecture=architecture, comet=comet)
        text = content.manifest_text()
        manifests.append(text[text.index("[[models]]") :])
        installed = folder / f"firefox-{source}-{target}-{architecture}"
        installed.mkdir(parents=True)
        for name, data in files.items():
            (installed / name).write_bytes(data)
    return ModelStore(folder, manifest=read_manifest(*manifests))


def firefox(store: ModelStore) -> Translator:
    secrets: dict[str, Any] = dict.fromkeys(("database_url", "redis_url", "s3_access_key", "s3_secret_key"), "none")
    settings = Settings(**secrets, secret_key="k" * 32, models_dir=store.folder, translators=["firefox"])
    (translator,) = Engines(settings, store).translators()
    return translator


def test_installed_directions_are_routes_with_english_as_pivot(tmp_path: Path) -> None:
    pairs = (("es", "en"), ("en", "pt"), ("en", "ja"), ("zh", "en"))
    store = installed_store(tmp_path, *((source, target, "tiny", None, TINY) for source, target in pairs))
    (tmp_path / "firefox-zh-en-tiny" / "model.bin").unlink()  # incomplete
    translator = firefox(store)
    assert {(route.source, route.target): route.via for route in translator.routes()} == {
        ("es", "en"): (),
        ("en", "pt"): (),
        ("en", "ja"): (),
        ("es", "pt"): ("en",),
        ("es", "ja"): ("en",),
    }
    assert reachable_languages([translator], source="es") == ["en", "ja", "pt"]


def test_model_with_the_highest_score_of_a_direction_is_used(tmp_path: Path) -> None:
    store = installed_store(
        tmp_path,
        ("en", "pt", "base", 0.86, TINY),
        ("en", "pt", "base-memory", 0.89, TINY),
        ("en", "pt", "tiny", None, TINY),
    )
    chosen = installed_directions(store, prefix=FIREFOX_PREFIX)
    assert {pair: model.name for pair, model in chosen.items()} == {("en", "pt"): "firefox-en-pt-base-memory"}


def test_damaged_model_affects_only_its_direction(tmp_path: Path) -> None:
    store = installed_store(
        tmp_path,
        ("en", "de", "tiny", 0.8, TINY),
        ("en", "pt", "tiny", 0.8, model_files(model_folder("firefox-en-pt"), separate_vocabularies=True)),
    )
    (tmp_path / "firefox-en-de-tiny" / "model.bin").write_bytes(b"changed")
    translator = firefox(store)
    assert {(route.source, route.target) for route in translator.routes()} == {("en", "de"), ("en", "pt")}
    with pytest.raises(EngineUnavailableError, match="The model firefox-en-de-tiny is damaged"):
        translator.translate(["Yes."], source="en", target="de")
    assert translator.translate(["Yes."], source="en", target="pt") == ["Sim."]


def test_two_installed_directions_translate_through_english(tmp_path: Path) -> None:
    """Portuguese labeled as Spanish."""
    store = installed_store(
        tmp_path,
        ("es", "en", "tiny", 0.8, model_files(model_folder("firefox-pt-en"))),
        ("en", "pt", "tiny", 0.8, model_files(model_folder("firefox-en-pt"))),
    )
    plan = plan_translation([firefox(store)], source="es", target="pt")
    assert (plan.via, len(plan.legs)) == (("en",), 1)
    (translated,) = translate_along(plan, ["A minha irmã nunca viu o mar."])
    assert "irmã" in translated


def test_whole_catalog_connects_all_languages(tmp_path: Path) -> None:
    models = load_manifest().models.values()
    direct = {(model.direction.source, model.direction.target) for model in models if model.direction}
    translator = FirefoxTranslator(dict.fromkeys(direct, tmp_path))
    sources = {source for source, target in direct if target == "en"}
    targets = {target for source, target in direct if source == "en"}
    assert reachable_languages([translator], source="en") == sorted(targets)
    for source in sources:
        assert set(reachable_languages([translator], source=source)) == ({"en"} | targets) - {source}
