"""Symbols, numbers and abbreviations are spelled out."""

import pytest

from cutroom.text.speech_normalization import normalize_for_speech

ENGLISH = [
    ("It costs $5.20.", "It costs 5 dollars and 20 cents."),
    ("€3, £1 and $0.50", "3 euros, 1 pound and 50 cents"),
    ("$1.5 million", "1.5 million dollars"),
    ("$1,234.00", "1234 dollars"),
    ("15% of it", "15 percent of it"),
    ("5 km at 20°C", "5 kilometers at 20 degrees Celsius"),
    ("1 kg and 3 kg, 10 km/h", "1 kilogram and 3 kilograms, 10 kilometers per hour"),
    ("on 2024-03-05", "on March 5th, 20 24"),
    ("on 12/31/1999", "on December 31st, 19 99"),
    ("at 14:30, 9:05 and 9:00", "at 14 30, 9 oh 5 and 9 o'clock"),
    ("at 5:30 pm or 7 p.m. today", "at 5 30 P M or 7 P M today"),
    ("Dr. Smith vs. Mr. Jones, e.g. here, etc.", "Doctor Smith versus Mister Jones, for example here, et cetera."),
    ("No. 5 is alive. No. Not yet.", "number 5 is alive. No. Not yet."),
    ("Call 555-123-4567 now.", "Call 5 5 5, 1 2 3, 4 5 6 7 now."),
    ("+1 (555) 123-4567", "1, 5 5 5, 1 2 3, 4 5 6 7"),
    ("agent 007", "agent 0 0 7"),
    ("1,234,567 people", "1234567 people"),
    ("see https://www.example.com/docs?x=1.", "see example dot com slash docs."),
    ("mail ana.b@example.com!", "mail ana dot b at example dot com!"),
    ("R&D, this & that", "R and D, this and that"),
    ("@ana, #5, 2 + 2 = 4", "at ana, number 5, 2 plus 2 equals 4"),
    ("in 1999, since 1905, the 1990s", "in 19 99, since 19 oh 5, the 19 nineties"),
    ("2023-2024, 10-20 pages, -5", "2023 to 20 24, 10 to 20 pages, minus 5"),
    ("1500 people in 3rd place", "1500 people in 3rd place"),
    ("Nothing to change, here: at all!", "Nothing to change, here: at all!"),
]
OTHERS = [
    ("en-GB", "05/03/2024", "March 5th, 20 24"),
    ("pt-BR", "R$ 10,50 e R$ 1.234,00", "10 reais e 50 centavos e 1234 reais"),
    ("pt-BR", "US$ 5 milhões, 15%", "5 milhões de dólares, 15 por cento"),
    ("pt", "às 14h30, 9h, 14:05", "às 14 e 30, 9 horas, 14 e 5"),
    ("pt-BR", "1/3/2024", "primeiro de março de 2024"),
    ("pt-BR", "o Sr. João e a Dra. Ana", "o Senhor João e a Doutora Ana"),
    ("pt-BR", "-5, 3º, 1.234.567, 2,5 km", "menos 5, 3º, 1234567, 2,5 quilômetros"),
    ("pt-BR", "ana@exemplo.com.br", "ana arroba exemplo ponto com ponto br"),
    ("es", "10,50 € o $5", "10 euros con 50 céntimos o 5 dólares"),
    ("es-MX", "2024-01-01 a las 14:30", "primero de enero de 2024 a las 14 y 30"),
    ("es", "la Sra. Ana, p. ej. en EE. UU.; 15 %", "la Señora Ana, por ejemplo en Estados Unidos; 15 por ciento"),
    ("fr", "1 234,50 € et 2 millions €", "1234 euros 50 centimes et 2 millions d'euros"),
    ("fr", "le 2e et le 1er", "le deuxième et le 1er"),
    ("fr", "à 14h30 ou 14:00", "à 14 heures 30 ou 14 heures"),
    ("fr", "M. Dupont, le 01/05/2024", "Monsieur Dupont, le premier mai 2024"),
    ("fr", "06 12 34 56 78", "0 6, 1 2, 3 4, 5 6, 7 8"),
    ("it", "10,50 €, 3 kg, ecc.", "10 euro e 50 centesimi, 3 chili, eccetera."),
    ("it", "il 1/5/2024 alle 14:30", "il primo maggio 2024 alle 14 e 30"),
    ("de", "5 % und 3 km", "5 % und 3 km"),
]


@pytest.mark.parametrize(("text", "expected"), ENGLISH)
def test_english_is_normalized(text: str, expected: str) -> None:
    assert normalize_for_speech(text, "en-US") == expected


@pytest.mark.parametrize(("language", "text", "expected"), OTHERS)
def test_other_languages_are_normalized(language: str, text: str, expected: str) -> None:
    assert normalize_for_speech(text, language) == expected


@pytest.mark.parametrize("language", ["en", "pt", "es", "fr", "it"])
@pytest.mark.parametrize("text", ["", " ", "99/99/9999", "1/2", "$", "%", "@", "1:2:3", "٣", "1" * 400, "-" * 400])
def test_odd_texts_are_handled(language: str, text: str) -> None:
    assert isinstance(normalize_for_speech(text, language), str)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("text", ["1," * 20_000, "a." * 20_000, "1 " * 20_000, "+1 (" * 10_000, "a@" * 20_000])
def test_hostile_texts_are_handled_quickly(text: str) -> None:
    normalize_for_speech(text, "en")
