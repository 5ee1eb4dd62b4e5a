"""CTranslate2 translation with a tiny model that the test builds: it says known sentences, whatever the source."""

from pathlib import Path

import pytest

from cutroom.engines.errors import EngineUnavailableError, NoRouteError
from cutroom.engines.translation.ctranslate2_models import (
    END_OF_SENTENCE,
    ConvertedModel,
    Ctranslate2Translator,
    Decoding,
)
from cutroom.engines.translation.document import DocumentLine, TranslationDocument
from cutroom.engines.translation.document_routing import translate_document
from cutroom.engines.translation.port import Quality, Route
from cutroom.engines.translation.routing import plan_translation
from tests.support.tiny_translation_model import build_model

BEST, SECOND, THIRD = "o mar está frio hoje", "nós vamos ao longo do rio", "a minha irmã viu a ponte antiga"
SENTENCES = {BEST: 3.0, SECOND: 2.6, THIRD: 2.2}
SOURCE = "the sea is cold today"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_model(tmp_path_factory.mktemp("models") / "opus-mt-en-pt", SENTENCES)


def make(folder: Path, *, prefix: str = "", decoding: Decoding | None = None) -> Ctranslate2Translator:
    return Ctranslate2Translator([ConvertedModel(folder, {("en", "pt"): prefix})], cpu_threads=1, decoding=decoding)


@pytest.fixture
def translator(folder: Path) -> Ctranslate2Translator:
    return make(folder)


def test_translation_is_detokenized(translator: Ctranslate2Translator) -> None:
    assert translator.routes() == (Route("en", "pt", Quality.DRAFT),)
    assert translator.translate([SOURCE], source="en", target="pt-BR") == [BEST]


def test_batches_keep_order_and_alignment(translator: Ctranslate2Translator) -> None:
    shares: list[float] = []
    sentences = ["...", SOURCE, "", *(f"{SOURCE} {'and ' * number}so" for number in range(20)), "1984"]
    translated = translator.translate(sentences, source="en", target="pt", on_progress=shares.append)
    assert translated == ["...", BEST, "", *[BEST] * 20, "1984"]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_addresses_and_placeholders_survive(translator: Ctranslate2Translator) -> None:
    [text] = translator.translate([f"{SOURCE} https://example.com/a?b=1 {SOURCE} {{count}}"], source="en", target="pt")
    assert "https://example.com/a?b=1" in text
    assert "{count}" in text


def test_alternatives_are_the_best_hypotheses_in_order(translator: Ctranslate2Translator) -> None:
    found = translator.alternatives(SOURCE, source="en", target="pt", count=3)
    assert found[0].text == BEST
    assert len(found) == len({each.text for each in found}) == 3
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert translator.alternatives("...", source="en", target="pt", count=3) == []
    assert len(translator.alternatives(SOURCE, source="en", target="pt", count=99)) <= 5


def test_decoding_stops_at_the_length_limit(folder: Path) -> None:
    limited = make(folder, decoding=Decoding(tokens_per_source_token=0.0, spare_tokens=4))
    [cut] = limited.alternatives(SOURCE, source="en", target="pt", count=1)
    assert BEST.startswith(cut.text)
    assert len(cut.text) < len(BEST)


def test_length_penalty_changes_the_choice(tmp_path: Path) -> None:
    short, long = "o mar", "nós vamos ao longo do rio"
    folder = build_model(tmp_path / "model", {short: 2.0, long: 2.0})
    best = {}
    for penalty in (0.0, 4.0):
        decoding = Decoding(length_penalty=penalty)
        best[penalty] = make(folder, decoding=decoding).alternatives(SOURCE, source="en", target="pt", count=1)[0].text
    assert len(best[0.0]) < len(best[4.0])


@pytest.mark.parametrize("adds_end", [True, False])
def test_source_ends_once(tmp_path: Path, *, adds_end: bool) -> None:
    folder = build_model(tmp_path / "model", SENTENCES, add_source_eos=adds_end)
    translator = make(folder)
    tokens = translator._model(translator._direction("en", "pt")).source_tokens(SOURCE, "")
    assert (tokens[-1] == END_OF_SENTENCE) == (not adds_end)
    assert "".join(tokens).removesuffix(END_OF_SENTENCE).replace("▁", " ").strip() == SOURCE
    assert translator.translate([SOURCE], source="en", target="pt") == [BEST]


def test_target_language_is_the_first_token(tmp_path: Path) -> None:
    """As MADLAD-400 expects it, which has one tokenizer for all languages."""
    folder = build_model(tmp_path / "madlad", SENTENCES, add_source_eos=False, prefixes=["<2pt>", "<2es>"])
    model = ConvertedModel(folder, {("en", "pt"): "<2pt>", ("en", "es"): "<2es>"})
    translator = Ctranslate2Translator([model], cpu_threads=1)
    direction = translator._direction("en", "es")
    tokens = translator._model(direction).source_tokens(SOURCE, direction.prefix)
    assert (tokens[0], tokens[-1]) == ("<2es>", END_OF_SENTENCE)
    assert {route.target for route in translator.routes()} == {"pt", "es"}
    assert translator.translate([SOURCE], source="en", target="es") == [BEST]


def test_shared_tokenizer_is_found(tmp_path: Path) -> None:
    folder = build_model(tmp_path / "model", SENTENCES)
    (folder / "target.spm").rename(folder / "sentencepiece.model")
    assert make(folder).translate([SOURCE], source="en", target="pt") == [BEST]


@pytest.mark.parametrize("missing", ["model.bin", "source.spm", "config.json"])
def test_incomplete_model_is_unavailable(tmp_path: Path, missing: str) -> None:
    folder = build_model(tmp_path / "model", SENTENCES)
    (folder / missing).unlink()
    with pytest.raises(EngineUnavailableError, match="model"):
        make(folder).translate([SOURCE], source="en", target="pt")


def test_model_is_verified_before_it_is_loaded(folder: Path) -> None:
    def reject(_: Path) -> Path:
        raise EngineUnavailableError("The model is damaged.")

    model = ConvertedModel(folder, {("en", "pt"): ""})
    translator = Ctranslate2Translator([model], cpu_threads=1, verify=reject)
    with pytest.raises(EngineUnavailableError, match="damaged"):
        translator.translate([SOURCE], source="en", target="pt")


def test_other_directions_are_rejected(translator: Ctranslate2Translator) -> None:
    with pytest.raises(NoRouteError):
        translator.translate([SOURCE], source="pt", target="en")


def test_flagged_line_has_alternatives(translator: Ctranslate2Translator) -> None:
    """The model loses the number; its other hypotheses are offered for review."""
    document = TranslationDocument("en", "pt", (DocumentLine("1", "the sea is cold at 40 today"),))
    plan = plan_translation([translator], source="en", target="pt")
    [line] = translate_document(plan, document, translators=[translator]).lines
    assert "number" in line.reasons
    assert BEST not in line.alternatives
    assert len(line.alternatives) == 2
