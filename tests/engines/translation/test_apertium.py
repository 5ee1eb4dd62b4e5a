"""Translation with the installed Apertium programs."""

import random
import shlex
from pathlib import Path

import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError, NoRouteError
from cutroom.engines.translation.apertium import PROGRAM, ApertiumTranslator
from cutroom.engines.translation.port import Quality
from cutroom.engines.translation.route_quality import ModelDirection, RouteRatings
from tests.engines.translation.translator_suite import TranslatorSuite


@pytest.fixture(scope="module")
def translator() -> ApertiumTranslator:
    if not PROGRAM.exists():
        pytest.fail("Apertium is not installed; run `just setup`.")
    return ApertiumTranslator()


class TestPortugueseToSpanish(TranslatorSuite):
    source, target = "pt", "es"
    sentences = (
        "Em 1984, 17 pessoas pagaram 2.500 euros pela casa velha.",
        "O gato preto dorme na cama da minha avó.",
        "Não sabíamos que ele tinha chegado ontem.",
    )


class TestFrenchToSpanish(TranslatorSuite):
    source, target = "fr", "es"
    sentences = (
        "En 1984, 17 personnes ont payé 2 500 euros pour la vieille maison.",
        "Le chat noir dort dans le lit de ma grand-mère.",
        "Nous ne savons pas quoi faire.",
    )


@pytest.mark.parametrize(
    ("source", "target", "sentence", "expected"),
    [
        ("pt", "es", "O gato preto dorme na cama.", "El gato negro duerme en la cama."),
        ("pt-BR", "es", "O gato preto dorme na cama.", "El gato negro duerme en la cama."),
        ("es", "ca", "El gato negro duerme en la cama.", "El gat negre dorm en el llit."),
        ("no", "nn", "Jeg heter Kari og bor i Oslo.", "Eg heiter Kari og bur i Oslo."),
        ("nb", "nn", "Jeg heter Kari og bor i Oslo.", "Eg heiter Kari og bur i Oslo."),
        ("es", "en", "El gato negro duerme en la cama.", "The black cat sleeps in the bed."),
        # unknown message are not marked
        ("es", "ca", "El gato zorbulante duerme.", "El gat zorbulante dorm."),
        ("fr", "es", "Le ~chat *noir + dort.", "El ~gato *negro + duerme."),
    ],
)
def test_translation(translator: ApertiumTranslator, source: str, target: str, sentence: str, expected: str) -> None:
    assert translator.translate([sentence], source=source, target=target) == [expected]


def test_regional_modes_are_offered(translator: ApertiumTranslator) -> None:
    assert {("es", "pt-PT"), ("es", "pt-BR")} <= {(route.source, route.target) for route in translator.routes()}


@pytest.mark.parametrize("pair", [("en", "es"), ("en", "ca"), ("ru", "uk"), ("es", "val"), ("es", "xx")])
def test_unusable_pairs_are_not_offered(translator: ApertiumTranslator, pair: tuple[str, str]) -> None:
    assert pair not in {(route.source, route.target) for route in translator.routes()}
    with pytest.raises(NoRouteError):
        translator.translate(["Hola."], source=pair[0], target=pair[1])


def test_unmeasured_rules_are_drafts(translator: ApertiumTranslator) -> None:
    assert translator.routes()
    assert {(route.quality, route.is_rule_based) for route in translator.routes()} == {(Quality.DRAFT, True)}


def test_measured_rules_have_their_class() -> None:
    ratings = RouteRatings({ModelDirection("apertium", "spa-cat", "es", "ca"): 0.9})
    qualities = {(each.source, each.target): each.quality for each in ApertiumTranslator(ratings=ratings).routes()}
    assert (qualities["es", "ca"], qualities["ca", "es"]) == (Quality.REVIEW, Quality.DRAFT)


def test_many_sentences_keep_their_order(translator: ApertiumTranslator) -> None:
    """More than one batch; no rule spans sentences without a final period."""
    sentences = [f"el gato número {number} duerme" for number in range(450)]
    translations = translator.translate(sentences, source="es", target="ca")
    assert translations == [f"el gat número {number} dorm" for number in range(450)]


def test_special_characters_do_not_break_alignment(translator: ApertiumTranslator) -> None:
    """Characters of the stream format, our markers and the shell, in random order."""
    rng = random.Random(20)
    signs = [*"[]^$/\\{}<>@*#+~.|;&'\"\0\n  ", "[]", "[][|0|]", "[|1|]", "[=0=]", "[~]", "`id`", "$(id)"]
    signs += ["[<STREAMCMD:SETVAR:x>]", "[[t:b:1]]"]
    signs += ["gato", "casa", "duerme", "https://example.com/[x]", "<b>", "{x}", "😀", "ñ"]
    sentences = ["".join(rng.choices(signs, k=12)) + f" el gato {number}" for number in range(80)]
    translations = translator.translate(sentences, source="es", target="ca")
    assert len(translations) == len(sentences)
    for number, (sentence, translation) in enumerate(zip(sentences, translations, strict=True)):
        assert translation.endswith(f"gat {number}"), sentence
        assert translation.count("<b>") == sentence.count("<b>")
        assert translation.count("[][|0|]") == sentence.count("[][|0|]")
        assert "uid=" not in translation


def _fake_apertium(tmp_path: Path, script: str) -> ApertiumTranslator:
    """A fake apertium that runs the script; `-l` lists one mode."""
    path = tmp_path / "apertium"
    path.write_text(f"#!/bin/bash\nif [ $1 = -l ]; then echo '  es-pt'; exit; fi\n{script}\n")
    path.chmod(0o755)
    return ApertiumTranslator(path, seconds=2)


@pytest.mark.parametrize(
    ("script", "error", "message"),
    [
        ("exit 0", EngineError, "dropped a sentence marker"),
        ("cat $5 | sed 's/[a-z]//g'", EngineError, "translation is empty"),
        ("echo 'no such mode' >&2; exit 1", EngineError, "no such mode"),
        ("kill -9 $$", EngineError, "exited with -9"),
        ("sleep 30", EngineUnavailableError, "timed out"),
        ("yes palavra", EngineError, "TOO_MUCH_OUTPUT"),
    ],
)
def test_program_failure_raises(tmp_path: Path, script: str, error: type[EngineError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        _fake_apertium(tmp_path, script).translate(["hola amigos"], source="es", target="pt")
    assert type(caught.value) is error


def test_incomplete_batch_is_split(tmp_path: Path) -> None:
    """The fake drops the second marker of a batch, and translates single sentences by upper-casing."""
    script = r"sed -E 's/[|]1[|]//; s/(hola|amigos)/\U\1/' $5"
    translations = _fake_apertium(tmp_path, script).translate(["hola", "amigos"], source="es", target="pt")
    assert translations == ["HOLA", "AMIGOS"]


def test_dropped_placeholder_is_restored(tmp_path: Path) -> None:
    script = r"sed -E 's/\[=[0-9]+=\]//g; s/(hola|amigos)/\U\1/g' $5"
    [translation] = _fake_apertium(tmp_path, script).translate(["hola {x} amigos"], source="es", target="pt")
    assert translation == "HOLA {x} AMIGOS"


def test_text_is_not_passed_as_argument(tmp_path: Path) -> None:
    record = tmp_path / "arguments"
    script = f'echo "$@" > {shlex.quote(str(record))}; cat $5'
    _fake_apertium(tmp_path, script).translate(["secreto guardado"], source="es", target="pt")
    assert "secreto" not in record.read_text()


def test_missing_program_has_no_routes(tmp_path: Path) -> None:
    translator = ApertiumTranslator(tmp_path / "missing")
    assert list(translator.routes()) == []
    with pytest.raises(NoRouteError):
        translator.translate(["hola"], source="es", target="pt")
