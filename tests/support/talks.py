"""Short hand-written transcripts in several languages."""

from collections.abc import Mapping, Sequence

from cutroom.engines.writing.port import WritingInput
from cutroom.text.sentences import SpokenSegment

WORD_SECONDS = 0.45
PAUSE_SECONDS = 0.5

TEXTS: Mapping[str, Sequence[str]] = {
    "en": (
        "So, um, today I want to show you how to repair a garden hose with a short piece of copper pipe.",
        "A garden hose bursts in winter because water freezes inside it.",
        "First, cut the broken part out with a sharp knife.",
        "Then, you know, push the copper pipe into both ends of the garden hose.",
        "Next, tighten two clamps around the copper pipe.",
        "Never use tape, it is dangerous near the pump.",
        "The repaired garden hose held for 7 years in my garden in Bristol.",
        "Why does nobody sell copper pipe in short pieces?",
        "The clamps cost less than a cup of coffee, and they feel like a handshake.",
    ),
    "pt": (
        "Hoje eu vou mostrar como plantar tomates numa varanda pequena.",
        "Os tomates precisam de muito sol, e a varanda recebe sol de manhã.",
        "Primeiro, escolha um vaso grande com furos no fundo.",
        "Depois, coloque a terra no vaso e molhe bem.",
        "Guarde as sementes dos tomates maiores para o ano seguinte.",
        "A minha avó em Coimbra colheu 12 tomates de uma só planta.",
        "O vento da tarde mata as flores, então a varanda precisa de abrigo.",
        "Por que ninguém planta tomates no inverno?",
    ),
    "es": (
        "Hoy vamos a hablar del molino de viento de Alcolea.",
        "El molino de viento se construyó en 1743 y perdió sus aspas en una tormenta.",
        "La familia Robledo cuidó el molino durante cuatro generaciones.",
        "El molino de viento molía trigo por la noche, porque el viento era más fuerte.",
        "¿Quién pintó la puerta del molino de azul?",
        "Nadie lo sabe, y la puerta del molino sigue azul.",
        "Desde la puerta del molino se oye el viento como un órgano.",
    ),
    "fr": (
        "Aujourd'hui on va parler de la cave à fromage du village.",
        "La cave à fromage garde la même température toute l'année.",
        "Le berger Marcel y descend chaque matin avec une lampe.",
        "Les fromages restent 90 jours sur des planches de sapin.",
        "Personne ne sait qui a creusé la cave à fromage.",
        "L'odeur de la cave ressemble à la pluie, comme un jardin après un orage.",
        "Pourquoi les planches de sapin sont-elles si importantes ?",
    ),
    "de": (
        "Heute geht es um den alten Bahnhof von Lauterbach.",
        "Der Bahnhof wurde 1889 gebaut und steht seit langem leer.",
        "Im Wartesaal hängt eine Uhr, und die Uhr geht noch.",
        "Niemand weiß, wer die Uhr aufzieht.",
        "Die Uhr schlägt wie ein Hammer auf Blech.",
        "Warum kommt kein Zug mehr in den Bahnhof?",
        "Der letzte Zug fuhr im Winter, und der Bahnhof blieb dunkel.",
    ),
    "it": (
        "Oggi parliamo della bottega del liutaio Fausto.",
        "Il liutaio lavora con legno di abete che ha riposato 30 anni.",
        "Ogni violino nasce da due tavole di abete.",
        "Il violino suona come una voce nella stanza.",
        "Nessuno conosce la ricetta della vernice.",
        "La vernice asciuga al sole per settimane sul tetto della bottega.",
        "Perché la vernice del liutaio è così rossa?",
    ),
    "ja": (
        "今日は手打ちうどんの作り方を紹介します。",
        "うどんは小麦粉と塩と水だけで作ります。",
        "まず、小麦粉に塩水を入れてください。",
        "次に、生地を足で踏んでください。",
        "最後に、生地を細く切ってください。",
        "香川では毎朝うどんを食べる人がいます。",
        "なぜ生地を足で踏むのか、誰も教えてくれませんでした。",
        "生地を休ませないと、うどんは失敗します。",
    ),
    "nl": (
        "De oude brug van Zutphen ligt over een smalle gracht.",
        "De brug werd gebouwd van eikenhout dat uit de bossen kwam.",
        "Elke ochtend loopt de bakker Joris over de brug met een mand brood.",
        "De brug kraakt, maar de brug breekt niet.",
        "Waarom kraakt de brug alleen in de winter?",
    ),
}  # fmt: skip


def talk(language: str = "en", *, guidelines: str | None = None, texts: Sequence[str] | None = None) -> WritingInput:
    """One of the transcripts, or other sentences, with estimated timings."""
    segments, at = [], 0.4
    for number, text in enumerate(TEXTS[language] if texts is None else texts):
        seconds = max(1.0, WORD_SECONDS * (len(text.split()) if " " in text else len(text) / 4))
        segments.append(SpokenSegment(text, at, at + seconds, f"speaker_{number % 2 + 1}"))
        at += seconds + PAUSE_SECONDS
    return WritingInput(language, tuple(segments), at, guidelines)
