"""Translation with real Firefox Translations models."""

import gc
import gzip
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutroom.engines.errors import EngineUnavailableError, NoRouteError
from cutroom.engines.translation.firefox import FirefoxTranslator
from cutroom.engines.translation.port import Quality, Route
from cutroom.engines.translation.route_quality import ModelDirection, RouteRatings
from tests.engines.translation.translator_suite import TranslatorSuite, model_folder
from tests.support.translation_mirror import model_files


@pytest.fixture(scope="module")
def translator() -> Iterator[FirefoxTranslator]:
    folders = {("en", "pt"): model_folder("firefox-en-pt"), ("pt", "en"): model_folder("firefox-pt-en")}
    translator = FirefoxTranslator(folders)
    yield translator
    translator.close()


class TestEnglishToPortuguese(TranslatorSuite):
    source, target = "en", "pt"
    sentences = (
        "In 1984, 17 people paid 2,500 euros for the old house.",
        "We walked slowly along the river and talked about the weather.",
        "My sister has never seen the sea.",
        "It was the best of times, it was the worst of times.",
    )


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It was the best of times, it was the worst of times.", "Foi o melhor dos tempos, foi o pior dos tempos."),
        ("{\\an8}Hello there, friends.", "{\\an8}Olá, amigos."),
        ("Write to someone@example.com now, please.", "Escreva para someone@example.com agora, por favor."),
        ("Yes.", "Sim."),
    ],
)
def test_translation(translator: FirefoxTranslator, sentence: str, expected: str) -> None:
    assert translator.translate([sentence], source="en", target="pt") == [expected]


def test_regional_tag_uses_the_language_model(translator: FirefoxTranslator) -> None:
    expected = translator.translate(["Good morning, everyone."], source="en", target="pt")
    assert translator.translate(["Good morning, everyone."], source="en-US", target="pt_br") == expected


def test_split_sentence_keeps_lower_case_starts(translator: FirefoxTranslator) -> None:
    clause = "it was the season of light and of warm evenings by the fire, "
    [translation] = translator.translate(["I said that " + clause * 6 + "and so on."], source="en", target="pt")
    assert not any(word[0].isupper() for word in translation.split()[1:])


def test_long_sentence_does_not_block_other_threads(translator: FirefoxTranslator) -> None:
    """A call holds the GIL, so heartbeats depend on the passage length."""
    gaps, done = [0.0], threading.Event()

    def heartbeat() -> None:
        last = time.monotonic()
        while not done.wait(0.01):
            gaps.append(time.monotonic() - last)
            last = time.monotonic()

    thread = threading.Thread(target=heartbeat)
    thread.start()
    text = "We walked slowly along the river and talked about the weather, " * 15
    try:
        translator.translate([text], source="en", target="pt")
    finally:
        done.set()
        thread.join()
    assert max(gaps) < 10


def test_pairs_without_a_model_pivot_through_english() -> None:
    """Folders only need to exist; models load on first use."""
    folder = model_folder("firefox-en-pt")
    folders = {("en", "pt"): folder, ("es", "en"): folder, ("pt", "en"): folder, ("en", "fr"): folder}
    routes = FirefoxTranslator(folders).routes()
    assert Route("es", "pt", Quality.DRAFT, ("en",)) in routes
    assert Route("es", "fr", Quality.DRAFT, ("en",)) in routes
    assert {(route.source, route.target) for route in routes if not route.via} == set(folders)
    assert not [route for route in routes if route.source == route.target]


def test_measured_directions_rate_the_routes() -> None:
    folder = model_folder("firefox-en-pt")
    shares = {("es", "en"): 0.98, ("en", "pt"): 0.7}
    ratings = RouteRatings(
        {ModelDirection("firefox", folder.name, source, target): share for (source, target), share in shares.items()}
    )
    folders = dict.fromkeys([*shares, ("en", "fr")], folder)
    found = {(each.source, each.target): each for each in FirefoxTranslator(folders, ratings=ratings).routes()}
    assert found["es", "en"].quality is Quality.PUBLISHABLE
    assert found["en", "pt"].quality is Quality.REVIEW
    assert found["es", "pt"] == Route("es", "pt", Quality.REVIEW, ("en",), share=0.98 * 0.7)
    assert found["es", "fr"].quality is found["en", "fr"].quality is Quality.DRAFT


def test_pivot_runs_both_models(translator: FirefoxTranslator) -> None:
    """Portuguese labeled as Galician, so that the route goes through English."""
    folders = {("gl", "en"): model_folder("firefox-pt-en"), ("en", "pt"): model_folder("firefox-en-pt")}
    pivot = FirefoxTranslator(folders)
    sentence = "A minha irmã nunca viu o mar."
    english = translator.translate([sentence], source="pt", target="en")
    expected = translator.translate(english, source="en", target="pt")
    assert pivot.translate([sentence], source="gl", target="pt") == expected
    pivot.close()


def test_missing_folder_has_no_route(tmp_path: Path) -> None:
    empty = FirefoxTranslator({("en", "pt"): tmp_path / "missing"})
    assert list(empty.routes()) == []
    with pytest.raises(NoRouteError):
        empty.translate(["Hello there."], source="en", target="pt")


def test_separate_vocabularies_and_gzipped_files_are_loaded(translator: FirefoxTranslator, tmp_path: Path) -> None:
    for name, content in model_files(model_folder("firefox-en-pt"), separate_vocabularies=True).items():
        if name.startswith("model."):
            (tmp_path / name).write_bytes(content)
        else:
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content, 1))
    assert sum(path.name.startswith(("srcvocab", "trgvocab", "lex")) for path in tmp_path.iterdir()) == 3
    separate = FirefoxTranslator({("en", "pt"): tmp_path})
    sentences = ["My sister has never seen the sea.", "How much does it cost?"]
    expected = translator.translate(sentences, source="en", target="pt")
    assert separate.translate(sentences, source="en", target="pt") == expected
    separate.close()


def test_unreadable_vocabulary_is_reported(tmp_path: Path) -> None:
    (tmp_path / "vocab.enpt.spm.gz").write_bytes(b"not gzip")
    broken = FirefoxTranslator({("en", "pt"): tmp_path})
    with pytest.raises(EngineUnavailableError, match=r"vocab\.enpt\.spm\.gz cannot be loaded"):
        broken.translate(["Hello there."], source="en", target="pt")
    broken.close()


def test_model_is_verified_before_it_is_loaded() -> None:
    folder, verified = model_folder("firefox-en-pt"), list[Path]()

    def verify(path: Path) -> None:
        verified.append(path)
        if len(verified) == 1:
            raise EngineUnavailableError("The model is damaged.")

    checked = FirefoxTranslator({("en", "pt"): folder}, verify=verify)
    assert verified == []
    with pytest.raises(EngineUnavailableError, match="damaged"):
        checked.translate(["Yes."], source="en", target="pt")
    for _ in range(2):
        assert checked.translate(["Yes."], source="en", target="pt") == ["Sim."]
    assert verified == [folder, folder]
    checked.close()


@pytest.mark.parametrize("pattern", ["model.*.bin", "vocab.*.spm"])
def test_missing_file_names_the_fix(tmp_path: Path, pattern: str) -> None:
    folder = Path(shutil.copytree(model_folder("firefox-en-pt"), tmp_path / "model"))
    next(folder.glob(pattern)).unlink()
    broken = FirefoxTranslator({("en", "pt"): folder})
    with pytest.raises(EngineUnavailableError, match="just models"):
        broken.translate(["Hello there."], source="en", target="pt")
    broken.close()


def test_translator_survives_a_damaged_model(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(model_folder("firefox-en-pt"), tmp_path / "model"))
    model = next(folder.glob("model.*.bin"))
    intact = model.read_bytes()
    model.write_bytes(intact[: len(intact) // 2])
    translator = FirefoxTranslator({("en", "pt"): folder})
    with pytest.raises(EngineUnavailableError):
        translator.translate(["Hello there."], source="en", target="pt")
    model.write_bytes(intact)
    assert translator.translate(["Yes."], source="en", target="pt") == ["Sim."]
    translator.close()


def test_model_without_shortlist_works(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(model_folder("firefox-en-pt"), tmp_path / "model"))
    for path in folder.glob("lex.*"):
        path.unlink()
    translator = FirefoxTranslator({("en", "pt"): folder})
    assert translator.translate(["Yes."], source="en", target="pt") == ["Sim."]
    translator.close()


def test_closing_or_dropping_stops_the_thread() -> None:
    def threads() -> int:
        return sum(thread.name == "firefox-translator" for thread in threading.enumerate())

    before = threads()
    translator = FirefoxTranslator({("en", "pt"): model_folder("firefox-en-pt")})
    translator.translate(["Yes."], source="en", target="pt")
    assert threads() == before + 1
    translator.close()
    assert threads() == before
    assert translator.translate(["Yes."], source="en", target="pt") == ["Sim."]
    del translator
    gc.collect()
    deadline = time.monotonic() + 10
    while threads() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert threads() == before
