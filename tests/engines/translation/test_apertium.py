"""Translation with the installed Apertium programs."""

import random
import socket
from pathlib import Path

import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError, NoRouteError
from cutroom.engines.translation.apertium import PROGRAM, ApertiumTranslator
from cutroom.engines.translation.port import Quality
from cutroom.engines.translation.route_quality import ModelDirection, RouteRatings
from cutroom.media.sandbox import Sandbox, SandboxMode
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


def _fake_mode(tmp_path: Path, script: str) -> ApertiumTranslator:
    """A fake mode from Spanish to Portuguese whose pipeline is the script. Apertium changes vertical bars in it."""
    (tmp_path / "es-pt.mode").write_text(f"{script}\n")
    return ApertiumTranslator(tmp_path, seconds=2)


@pytest.mark.parametrize(
    ("script", "error", "message"),
    [
        ("exit 0", EngineError, "dropped a sentence marker"),
        ("sed 's/[a-z]//g'", EngineError, "translation is empty"),
        ("echo 'no such word' >&2; exit 1", EngineError, "exited with 1: no such word"),
        ("kill -9 $$", EngineError, "exited with 137"),
        ("sleep 30", EngineUnavailableError, "timed out"),
        ("yes palavra", EngineError, "TOO_MUCH_OUTPUT"),
    ],
)
def test_program_failure_raises(tmp_path: Path, script: str, error: type[EngineError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        _fake_mode(tmp_path, script).translate(["hola amigos"], source="es", target="pt")
    assert type(caught.value) is error


def test_incomplete_batch_is_split(tmp_path: Path) -> None:
    """The fake drops the second marker of a batch, and translates single sentences by upper-casing."""
    script = r"sed -E 's/[\x7c]1[\x7c]//; s/hola/HOLA/; s/amigos/AMIGOS/'"
    translations = _fake_mode(tmp_path, script).translate(["hola", "amigos"], source="es", target="pt")
    assert translations == ["HOLA", "AMIGOS"]


def test_dropped_placeholder_is_restored(tmp_path: Path) -> None:
    script = r"sed -E 's/\[=[0-9]+=\]//g; s/hola/HOLA/g; s/amigos/AMIGOS/g'"
    [translation] = _fake_mode(tmp_path, script).translate(["hola {x} amigos"], source="es", target="pt")
    assert translation == "HOLA {x} AMIGOS"


def test_text_is_not_passed_as_argument(tmp_path: Path) -> None:
    script = 'echo "$0 $@" >&2; exit 1'
    with pytest.raises(EngineError, match=r"exited with 1: es-pt -n \s*$"):
        _fake_mode(tmp_path, script).translate(["secreto guardado"], source="es", target="pt")


@pytest.mark.parametrize("mode", SandboxMode)
def test_only_the_sandbox_keeps_a_pipeline_from_files_and_sockets(tmp_path: Path, mode: SandboxMode) -> None:
    (tmp_path / "secret").write_text("secreto")
    with socket.create_server(("127.0.0.1", 0)) as server:
        tried = [
            f"cat {tmp_path}/secret",
            f"echo a > {tmp_path}/new",
            f"echo > /dev/tcp/127.0.0.1/{server.getsockname()[1]}",
        ]
        script = "; ".join(f"({each}) 2>/dev/null && echo reached >&2" for each in tried)
        (tmp_path / "es-pt.mode").write_text(f"{script}; exit 1\n")
        translator = ApertiumTranslator(tmp_path, sandbox=Sandbox(mode=mode))
        with pytest.raises(EngineError, match="exited with 1") as caught:
            translator.translate(["hola"], source="es", target="pt")
    assert str(caught.value).count("reached") == (len(tried) if mode is SandboxMode.OFF else 0)


def test_missing_modes_have_no_routes(tmp_path: Path) -> None:
    translator = ApertiumTranslator(tmp_path / "missing")
    assert list(translator.routes()) == []
    with pytest.raises(NoRouteError):
        translator.translate(["hola"], source="es", target="pt")


def test_unavailable_sandbox_is_reported(tmp_path: Path) -> None:
    (tmp_path / "es-pt.mode").write_text("cat\n")
    without_bubblewrap = ApertiumTranslator(tmp_path, sandbox=Sandbox(bubblewrap=Path("/usr/bin/false")))
    with pytest.raises(EngineUnavailableError, match="sandbox of Apertium"):
        without_bubblewrap.translate(["hola"], source="es", target="pt")


def test_without_the_sandbox_translations_are_the_same(translator: ApertiumTranslator) -> None:
    unsandboxed = ApertiumTranslator(sandbox=Sandbox(mode=SandboxMode.OFF))
    sentences = ["El gato duerme en la casa.", "Tengo {x} perros."]
    expected = translator.translate(sentences, source="es", target="ca")
    assert unsandboxed.translate(sentences, source="es", target="ca") == expected
