"""Missing entities are reported; rephrased ones are not."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.engines.translation.fidelity import EntityKind, MissingEntity, missing_entities
from cutroom.text.numbers import find_numbers

NUMBER, NAME = EntityKind.NUMBER, EntityKind.NAME

MISSING = [
    # real engine output
    ("He was born in the nineteen thirties.", "Ele nasceu nos dezenove anos.", [(NUMBER, "nineteen thirties", False)]),
    ("It cost $1,234.50 then.", "Custou $1,234,50 na época.", [(NUMBER, "1,234.50", True)]),
    ("They sold 1,250,000 phones.", "Venderam 1.250,000 telefones.", [(NUMBER, "1,250,000", True)]),
    (
        "Write to a.b@example.com now.",
        "Escreva para a.b-example.com agora.",
        [(EntityKind.EMAIL, "a.b@example.com", True)],
    ),
    ("%s has {count} messages.", "%s tem -count - mensagens.", [(EntityKind.PLACEHOLDER, "{count}", True)]),
    ("Only a round dozen of years ago.", "Há apenas uma congelada de anos.", [(NUMBER, "dozen", False)]),
    # one of each kind
    ("It has 99 rooms.", "Tem 9 quartos.", [(NUMBER, "99", True)]),
    ("Pi is 3.14.", "Pi é 314.", [(NUMBER, "3.14", True)]),
    ("From 10 to 15 and 15.", "De 10 a 15.", [(NUMBER, "15", True)]),
    ("We are seven.", "Nós somos seis.", [(NUMBER, "seven", False)]),
    ("It starts at 10:30.", "Começa às 10:45.", [(NUMBER, "10:30", True)]),
    ("It had 35,000 people.", "Tinha 35 pessoas.", [(NUMBER, "35,000", True)]),
    ("It had 35,500 people.", "Tinha 35,5 pessoas.", [(NUMBER, "35,500", True)]),
    ("It had 35 people.", "Tinha 35.000 pessoas.", [(NUMBER, "35", True)]),
    ("Pi is 3.142.", "Pi é 3142.", [(NUMBER, "3.142", True)]),
    ("It opens at 7:45 a.m.", "Abre às 19:45.", [(NUMBER, "7:45", True)]),
    ("It opens at 7.45 a.m.", "Abre às 19:45.", [(NUMBER, "7.45", True)]),
    ("It opens at 7:45 a.m.", "Abre às 19h45.", [(NUMBER, "7:45", True)]),
    ("It opens at 7:45 a.m.", "Abre às 7:45 p.m.", [(NUMBER, "7:45", True)]),
    ("It opens at 7 a.m.", "Abre às 19 horas.", [(NUMBER, "7", True)]),
    ("It opens at seven p.m.", "Abre às 7 a.m.", [(NUMBER, "seven", False)]),
    ("It opens at 19:45.", "Abre às 7:45 a.m.", [(NUMBER, "19:45", True)]),
    ("It closes at 12:30 p.m.", "Fecha às 0:30.", [(NUMBER, "12:30", True)]),
    ("Your order is #000123.", "O seu pedido é este.", [(NUMBER, "000123", True)]),
    ("Your order is #000123.", "O seu pedido é o nº 123.", [(NUMBER, "000123", True)]),
    ("Agent 007 and 7 more.", "Agente 7 e mais 7.", [(NUMBER, "007", True)]),
    (
        "See https://example.com/a_b today.",
        "Veja https://example.com/ab hoje.",
        [(EntityKind.URL, "https://example.com/a_b", True)],
    ),
    ("Ask @someone there.", "Pergunte a Someone lá.", [(EntityKind.HANDLE, "@someone", True)]),
    ("{\\an8}Hello.", "Olá.", [(EntityKind.PLACEHOLDER, "{\\an8}", True)]),
    ("Then Kowalski left.", "Então ele saiu.", [(NAME, "Kowalski", False)]),
    ("I met Sydney Carton there.", "Eu o conheci lá.", [(NAME, "Sydney Carton", False)]),
]

PRESENT = [
    ("en", "pt", "It cost $1,000.50.", "Custou US$ 1.000,50."),
    ("en", "pt", "See you at 10:30 p.m.", "Vemo-nos às 22h30."),
    ("en", "pt", "At 5 p.m. we left.", "Às 17:00 partimos."),
    ("en", "pt", "It had 35,000 people.", "Tinha 35.000 pessoas."),
    ("en", "pt", "It had 35,000 people.", "Tinha 35 000 pessoas."),
    ("en", "pt", "It had 35,000 people.", "Tinha 35 mil pessoas."),
    ("pt", "en", "Tinha 35.500 pessoas.", "It had 35,500 people."),
    ("en", "pt", "Pi is 3.142.", "Pi é 3,142."),
    ("en", "pt", "It weighs 1.250 million tons.", "Pesa 1,250 milhões de toneladas."),
    ("en", "pt", "See you at 7:45 p.m.", "Vemo-nos às 19:45."),
    ("en", "pt", "See you at 7:45 p.m.", "Vemo-nos às 7:45 da noite."),
    ("en", "pt", "See you at 7:45 a.m.", "Vemo-nos às 7h45."),
    ("en", "pt", "See you at 7.45 p.m.", "Vemo-nos às 19.45."),
    ("en", "pt", "See you at 5 p.m.", "Vemo-nos às cinco da tarde."),
    ("en", "pt", "It is 12:30 a.m.", "São 0h30."),
    ("en", "pt", "It is 12:30 p.m.", "São 12:30."),
    ("pt", "en", "Às 19:45.", "At 7:45 p.m."),
    ("pt", "en", "Às 19:45.", "At 7:45."),
    ("en", "pt", "At 7:45, 7 p.m. or 7 a.m.", "Às 7:45, 19h ou 7h."),
    ("en", "pt", "Be there at 0730.", "Esteja lá às 7:30."),
    ("en", "pt", "Your order is #000123.", "O seu pedido é #000123."),
    ("en", "pt", "It was on 05/06/2026.", "Foi em 5 de junho de 2026."),
    ("es", "en", "A las 10.30 llegó.", "He came at 10:30."),
    ("es", "ca", "Se fue a las 10:30.", "Se'n va anar a les 10.30."),
    ("en", "pt", "It was on 1/2/2026.", "Foi em 1 de fevereiro de 2026."),
    ("en", "pt", "On January 5th it snowed.", "No dia 5 de janeiro nevou."),
    ("en", "es", "In the 20th century.", "En el siglo XX."),
    ("en", "pt", "The twenty-first century.", "O século XXI."),
    ("en", "pt", "In the 1960s.", "Nos anos sessenta."),
    ("en", "pt", "He was born in the nineteen thirties.", "Ele nasceu nos anos trinta."),
    ("en", "pt", "He was born in the nineteen thirties.", "Ele nasceu na década de 1930."),
    ("en", "pt", "About 1.5 million people.", "Cerca de 1.500.000 pessoas."),
    ("en", "es", "It cost 5 billion.", "Costó 5 mil millones."),
    ("en", "pt", "Two dozen eggs.", "24 ovos."),
    ("en", "pt", "We are 7.", "Somos sete."),
    ("en", "pt", "The two brothers came.", "Ambos os irmãos vieram."),
    ("en", "pt", "The 1st day.", "O primeiro dia."),
    ("en", "pt", "The 1st day.", "O 1º dia."),
    ("en", "fr", "Five cats and 1,000 dogs.", "Cinq chats et 1 000 chiens."),
    ("en", "ja", "My friend Anna paid 30 euros.", "友人のアンナは30ユーロを払いました。"),
    ("en", "pt", "We went from London to Lisbon.", "Fomos de Londres para Lisboa."),
    ("en", "pt", "On Friday the English king met Our Lord.", "Na sexta-feira o rei inglês conheceu o Nosso Senhor."),
    ("en", "pt", "She said: Come here. Then John's mother left.", "Ela disse: Venha aqui. Então a mãe de João saiu."),
    ("en", "pt", "HOW TO BUILD A TABLE", "COMO CONSTRUIR UMA MESA"),
    ("en", "pt", "How To Build A Small Table", "Como construir uma mesa pequena"),
    ("de", "en", "Der Hund schläft im Haus.", "The dog sleeps in the house."),
    ("en", "pt", "I am OK, I think.", "Estou bem, acho eu."),
    ("en", "pt", "Go to https://example.com/1984, now.", "Vá a https://example.com/1984, agora."),
    ("en", "pt", "Good 😀 night.", "Boa noite."),
    ("en", "pt", "", ""),
    ("pt", "en", "Nos séculos XII e XIV.", "In the 12th and 14th centuries."),
    ("pt", "en", "A água cobre 71 por cento.", "Water covers 71 percent."),
    (
        "en",
        "pt",
        "The mail was waylaid by seven robbers, and the guard shot three, and got shot dead by the other four.",
        "O correio foi arremessado por sete ladrões, e a guarda matou três, e foi morto pelos outros quatro.",
    ),
    (
        "en",
        "pt",
        "It was the year of Our Lord one thousand seven hundred and seventy-five.",
        "Era o ano de Nosso Senhor mil setecentos e setenta e cinco.",
    ),
]


@pytest.mark.parametrize(("source", "translation", "expected"), MISSING)
def test_missing_entity_is_reported(
    source: str, translation: str, expected: list[tuple[EntityKind, str, bool]]
) -> None:
    assert missing_entities(source, translation, source="en", target="pt") == [
        MissingEntity(*each) for each in expected
    ]


@pytest.mark.parametrize(("source_language", "target_language", "source", "translation"), PRESENT)
def test_rephrased_entity_is_not_reported(
    source_language: str, target_language: str, source: str, translation: str
) -> None:
    assert missing_entities(source, translation, source=source_language, target=target_language) == []


@pytest.mark.parametrize(
    ("source", "translation", "number"),
    [
        (
            "He has 5 cats.",
            "Il a cinq chats.",
            "5",
        ),  # French number words are not parsed, so this is a tolerated false positive
        ("Take the A6 to exit 26.", "Prenez la A jusqu'à la sortie 26.", "6"),
        ("It had 3,907 people.", "Elle avait 8,907 habitants.", "3,907"),
    ],
)
def test_digits_are_reported_without_number_words(source: str, translation: str, number: str) -> None:
    assert missing_entities(source, translation, source="en", target="fr") == [
        MissingEntity(NUMBER, number, certain=True)
    ]


def test_regions_are_ignored() -> None:
    assert missing_entities("We are seven.", "Somos sete.", source="en-GB", target="pt-BR") == []
    assert missing_entities("We are seven.", "Somos seis.", source="en-GB", target="pt-BR")


@given(st.text(alphabet=st.sampled_from("0179.,: apm"), max_size=40))
def test_numbers_match_themselves(text: str) -> None:
    assert missing_entities(text, text, source="en", target="en") == []


@given(st.text(max_size=80))
def test_text_matches_itself(text: str) -> None:
    assert missing_entities(text, text, source="en", target="en") == []


@given(st.text(alphabet=st.sampled_from("aA1 .,:/%é7½"), max_size=80))
def test_every_number_is_missing_in_empty_translation(text: str) -> None:
    missing = [entity for entity in missing_entities(text, "", source="en", target="pt") if entity.kind is NUMBER]
    assert len(missing) == len(find_numbers(text, language="en"))


@pytest.mark.parametrize(
    "unit", ["a", "一", "-", "A b ", "1 ", "1,", "a.", "<a =", "{", "@a ", "é@", "Ab. ", "twenty "]
)
def test_long_texts_are_compared_quickly(unit: str) -> None:
    """Time must not grow quadratically."""
    text = unit * (20_000 // len(unit))
    started = time.process_time()
    missing_entities(text, text[::-1], source="en", target="pt")
    assert time.process_time() - started < 10
