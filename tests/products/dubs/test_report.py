"""The sync report, and shortening of texts."""

import pytest

from cutroom.products.dubs.line_levels import LineLevel
from cutroom.products.dubs.report import LineSync, intelligibility, overlap_ms, sync_report
from cutroom.text.shortening import shorter_variants


def line(number: int, start: float, seconds: float, slot: float = 2.0, **changes: object) -> LineSync:
    defaults = {
        "number": number,
        "source_start_seconds": float(number * 3),
        "slot_seconds": slot,
        "start_seconds": start,
        "seconds": seconds,
        "tempo": 1.1,
        "speaking_rate": 1.0,
        "text": "uma linha de texto",
        "recognized": "uma linha de texto",
        "shortened": False,
        "level": LineLevel("speaker_1", 0.1),
    }
    return LineSync(**{**defaults, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "recognized", "expected"),
    [
        ("Bom dia, senhor!", "bom dia senhor", 1.0),
        ("um dois três quatro", "um dois seis quatro", 0.75),
        ("um dois", "um dois três quatro cinco", 0.0),
        ("um", "", 0.0),
        ("...", "", 1.0),
    ],
)
def test_intelligibility_is_one_minus_word_error_rate(text: str, recognized: str, expected: float) -> None:
    assert intelligibility(text, recognized) == expected


def test_worst_lines_come_first_and_totals_are_correct() -> None:
    lines = [
        line(0, 0.0, 2.1),
        line(1, 3.05, 2.5, tempo=0.85),
        line(2, 6.0, 2.0, recognized="nada disso aqui"),
        line(3, 9.0, 2.0, recognized=None, shortened=True),
    ]
    report = sync_report(lines)
    assert [each["line"] for each in report["segments"]] == [2, 1, 0, 3]
    assert (report["lines"], report["within10Percent"], report["worstStretch"]) == (4, 0.75, 0.85)
    assert (report["longestStartErrorMs"], report["overlapMs"], report["naturalFit"]) == (50, 0, 1.0)
    assert report["segments"][3] == {
        "line": 3,
        "start": 9.0,
        "slotSeconds": 2.0,
        "spokenSeconds": 2.0,
        "naturalSeconds": 2.2,
        "stretch": 1.1,
        "speakingRate": 1.0,
        "startErrorMs": 0,
        "withinSlot": True,
        "fitsNaturally": True,
        "levelDb": 0.0,
        "shortened": True,
    }


def test_lines_far_below_the_median_of_their_speaker_are_listed() -> None:
    quiet = LineLevel("speaker_1", 0.1, gain=0.25)
    another_speaker = LineLevel("speaker_2", 0.01)
    unknown = LineLevel("speaker_1", 0.0)
    levels = [LineLevel("speaker_1", 0.1)] * 3 + [quiet, another_speaker, unknown]
    report = sync_report([line(number, 3.0 * number, 2.0, level=level) for number, level in enumerate(levels)])
    assert report["loudnessOutliers"] == [{"line": 3, "start": 9.0, "levelDb": -12.0}]
    assert report["segments"][0]["line"] == 3
    assert [each.get("levelDb") for each in report["segments"]] == [-12.0, 0.0, 0.0, 0.0, 0.0, None]


def test_natural_fit_is_measured_before_the_tempo_changes() -> None:
    lines = [
        line(0, 0.0, 2.0, tempo=1.2),  # 2.4 s in a slot of 2 s
        line(1, 3.0, 2.0, tempo=1.25),
        line(2, 6.0, 2.0, tempo=0.9),
        line(3, 9.0, 2.0, tempo=0.85),
        line(4, 12.0, 2.0, tempo=1.1, speaking_rate=1.2),
        line(5, 15.0, 2.0, tempo=1.0, speaking_rate=1.1),
    ]
    report = sync_report(lines)
    assert report["naturalFit"] == 0.5
    by_number = sorted(report["segments"], key=lambda each: each["line"])
    assert [each["fitsNaturally"] for each in by_number] == [True, False, True, False, False, True]
    assert [each["naturalSeconds"] for each in by_number] == [2.4, 2.5, 1.8, 1.7, 2.64, 2.2]


def test_overlap_is_computed_in_time_order() -> None:
    assert overlap_ms([line(1, 3.0, 2.0), line(0, 0.0, 3.25)]) == 250


def test_report_without_lines() -> None:
    assert sync_report([]) == {
        "lines": 0,
        "within10Percent": 1.0,
        "naturalFit": 1.0,
        "worstStretch": 1.0,
        "longestStartErrorMs": 0,
        "overlapMs": 0,
        "loudnessOutliers": [],
        "segments": [],
    }


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Well, we have to go home now.", "en", ["We have to go home now."]),
        ("It was, you know, a really long day.", "en", ["It was, a really long day.", "It was, a long day."]),
        ("The house (which was old) burned down.", "en", ["The house burned down."]),
        ("Na verdade, ele chegou muito tarde.", "pt-BR", ["Ele chegou muito tarde.", "Ele chegou tarde."]),
        ("Eu nunca vi a minha casa assim.", "pt", ["Eu nunca vi minha casa assim.", "Nunca vi minha casa assim."]),
        ("Yo no lo sé, pero nosotros iremos.", "es", ["No lo sé, pero nosotros iremos."]),
        ("Em seguida, ele tem que sair.", "pt", ["Depois, ele tem que sair.", "Depois, ele deve sair."]),
        ("Ele não tem que sair agora.", "pt", []),
        ("No, usted tiene que esperar aquí.", "es", ["No, tiene que esperar aquí."]),
        (
            "E quantos barcos você constrói em um ano?",
            "pt",
            [
                "E quantos barcos você constrói num ano?",
                "E quantos barcos constrói num ano?",
                "Quantos barcos constrói num ano?",
            ],
        ),
        ("Quero ver você hoje.", "pt", []),
        ("O preço dobra se você ainda estiver aqui.", "pt", ["O preço dobra se ainda estiver aqui."]),
        ("Era tarde, cuando usted estaba allí.", "es", ["Era tarde, cuando estaba allí."]),
        ("Es algo bueno para usted también.", "es", []),
        ("Y cuántos barcos usted construye?", "es", ["Y cuántos barcos construye?", "Cuántos barcos construye?"]),
        ("We go.", "en", []),
        ("Really very good.", "en", []),
        ("Das ist also so.", "de", []),
        ("It is not very good.", "en", []),
        ("Não é muito bom para nós.", "pt", []),
    ],
)
def test_shorter_variants(text: str, language: str, expected: list[str]) -> None:
    assert shorter_variants(text, language=language) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Na verdade, eu cheguei muito tarde.", "pt-BR", ["Na verdade, cheguei muito tarde.", "Cheguei muito tarde."]),
        ("Entonces llegó muy tarde.", "es", []),
        ("Eu estava em casa, e eu vi tudo.", "pt", ["Eu estava em casa, e vi tudo."]),
        ("Você fala, e nós ouvimos.", "pt", ["Você fala, e ouvimos."]),
        ("Yo hablaba, y yo comí.", "es", ["Yo hablaba, y comí."]),
        ("Yo lo hablaba con ella.", "es", []),
        ("Eu não sabia o que era.", "pt", []),
        ("Eu não posso prometer isso.", "pt", ["Não posso prometer isso."]),
        ("Nosotros no podemos salir.", "es", ["No podemos salir."]),
        ("Para com isso. Eu só estive aqui hoje.", "pt", ["Para com isso. Só estive aqui hoje."]),
        ("São dez a.m. e eu já voltei.", "pt", ["São dez a.m. e já voltei."]),
        ("Ela tem que sair neste momento.", "pt", ["Ela tem que sair agora."]),
        ("The barn (which was old) burned down.", "en", []),
    ],
)
def test_shorter_variants_that_keep_the_meaning(text: str, language: str, expected: list[str]) -> None:
    assert shorter_variants(text, language=language, keeps_meaning=True) == expected
