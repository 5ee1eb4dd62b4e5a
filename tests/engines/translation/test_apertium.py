"""Apertium's programs, really run."""

import random
import shlex
from pathlib import Path

import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError, NoRouteError
from cutroom.engines.translation.apertium import PROGRAM, ApertiumTranslator
from cutroom.engines.translation.port import Quality
from tests.engines.translation.translator_suite import TranslatorSuite


@pytest.fixture(scope="module")
def translator() -> ApertiumTranslator:
    if not PROGRAM.exists():
        pytest.fail("The program apertium is not there: install Debian's packages with `just setup`.")
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


class TestSpanishToCatalan(TranslatorSuite):
    source, target = "es", "ca"
    sentences = (
        "En 1984, 17 personas pagaron 2.500 euros por la casa vieja.",
        "El gato negro duerme en la cama de mi abuela.",
        "No sabíamos que había llegado ayer.",
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
        # no mark on a word that it does not know
        ("es", "ca", "El gato zorbulante duerme.", "El gat zorbulante dorm."),
        ("fr", "es", "Le ~chat *noir + dort.", "El ~gato *negro + duerme."),
    ],
)
def test_the_translation_is_what_it_should_be(
    translator: ApertiumTranslator, source: str, target: str, sentence: str, expected: str
) -> None:
    assert translator.translate([sentence], source=source, target=target) == [expected]


def test_a_region_that_the_program_knows_is_used(translator: ApertiumTranslator) -> None:
    assert {("es", "pt"), ("es", "pt-BR")} <= {(route.source, route.target) for route in translator.routes()}


@pytest.mark.parametrize("pair", [("en", "es"), ("en", "ca"), ("ru", "uk"), ("es", "val"), ("es", "xx")])
def test_pairs_of_no_use_are_not_offered(translator: ApertiumTranslator, pair: tuple[str, str]) -> None:
    assert pair not in {(route.source, route.target) for route in translator.routes()}
    with pytest.raises(NoRouteError):
        translator.translate(["Hola."], source=pair[0], target=pair[1])


def test_only_read_pairs_are_called_good(translator: ApertiumTranslator) -> None:
    good = {(route.source, route.target) for route in translator.routes() if route.quality is Quality.GOOD}
    assert {("es", "ca"), ("nb", "nn"), ("pt", "ca")} <= good
    assert not good & {("es", "en"), ("pt", "es"), ("it", "es"), ("fr", "es")}


def test_many_sentences_come_back_in_their_places(translator: ApertiumTranslator) -> None:
    """More than one batch, and no rule reaches over the end of a sentence without a full stop."""
    sentences = [f"el gato número {number} duerme" for number in range(450)]
    answers = translator.translate(sentences, source="es", target="ca")
    assert answers == [f"el gat número {number} dorm" for number in range(450)]


def test_no_text_can_leave_its_place(translator: ApertiumTranslator) -> None:
    """Signs of the program's own notation, of our marks in it and of the shell, in any order."""
    chance = random.Random(20)
    signs = [*"[]^$/\\{}<>@*#+~.|;&'\"\0\n  ", "[]", "[][|0|]", "[|1|]", "[=0=]", "[~]", "`id`", "$(id)"]
    signs += ["[<STREAMCMD:SETVAR:x>]", "[[t:b:1]]"]
    signs += ["gato", "casa", "duerme", "https://example.com/[x]", "<b>", "{x}", "😀", "ñ"]
    sentences = ["".join(chance.choices(signs, k=12)) + f" el gato {number}" for number in range(80)]
    answers = translator.translate(sentences, source="es", target="ca")
    assert len(answers) == len(sentences)
    for number, (sentence, answer) in enumerate(zip(sentences, answers, strict=True)):
        assert answer.endswith(f"gat {number}"), sentence
        assert answer.count("<b>") == sentence.count("<b>")
        assert answer.count("[][|0|]") == sentence.count("[][|0|]")
        assert "uid=" not in answer


def _program(tmp_path: Path, script: str) -> ApertiumTranslator:
    """A fake in the program's place, for what the real one does not do on demand; `-l` is answered for it."""
    path = tmp_path / "apertium"
    path.write_text(f"#!/bin/bash\nif [ $1 = -l ]; then echo '  es-pt'; exit; fi\n{script}\n")
    path.chmod(0o755)
    return ApertiumTranslator(path, seconds=2)


@pytest.mark.parametrize(
    ("script", "error", "words"),
    [
        ("exit 0", EngineError, "lost the end"),
        ("cat $5 | sed 's/[a-z]//g'", EngineError, "gave nothing"),
        ("echo 'no such mode' >&2; exit 1", EngineError, "no such mode"),
        ("kill -9 $$", EngineError, "ended with -9"),
        ("sleep 30", EngineUnavailableError, "in time"),
        ("yes palavra", EngineError, "TOO_MUCH_OUTPUT"),
    ],
)
def test_a_program_that_fails_is_not_believed(
    tmp_path: Path, script: str, error: type[EngineError], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        _program(tmp_path, script).translate(["hola amigos"], source="es", target="pt")
    assert type(caught.value) is error


def test_a_batch_that_comes_back_short_is_asked_for_again_one_by_one(tmp_path: Path) -> None:
    """The fake loses the second of two, and translates one alone by writing it large."""
    script = r"sed -E 's/[|]1[|]//; s/(hola|amigos)/\U\1/' $5"
    answers = _program(tmp_path, script).translate(["hola", "amigos"], source="es", target="pt")
    assert answers == ["HOLA", "AMIGOS"]


def test_what_the_program_drops_is_carried_over_all_the_same(tmp_path: Path) -> None:
    script = r"sed -E 's/\[=[0-9]+=\]//g; s/(hola|amigos)/\U\1/g' $5"
    [answer] = _program(tmp_path, script).translate(["hola {x} amigos"], source="es", target="pt")
    assert answer == "HOLA {x} AMIGOS"


def test_the_text_is_never_an_argument(tmp_path: Path) -> None:
    note = tmp_path / "arguments"
    script = f'echo "$@" > {shlex.quote(str(note))}; cat $5'
    _program(tmp_path, script).translate(["secreto guardado"], source="es", target="pt")
    assert "secreto" not in note.read_text()


def test_a_missing_program_offers_nothing(tmp_path: Path) -> None:
    translator = ApertiumTranslator(tmp_path / "missing")
    assert list(translator.routes()) == []
    with pytest.raises(NoRouteError):
        translator.translate(["hola"], source="es", target="pt")
