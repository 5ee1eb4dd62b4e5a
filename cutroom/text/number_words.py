"""Number words in English, Portuguese and Spanish, without accents."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class NumberLexicon:
    """Number words of one language; `values` start at two, `ones` only count after tens."""

    values: Mapping[str, int] = field(default_factory=dict)
    scales: Mapping[str, int] = field(default_factory=dict)
    ones: Mapping[str, int] = field(default_factory=dict)
    decades: Mapping[str, int] = field(default_factory=dict)
    last_ordinals: Mapping[str, int] = field(default_factory=dict)
    joiners: frozenset[str] = frozenset()
    joins_tens: bool = False  # "vinte e dois": a conjunction joins tens and ones
    says_years_by_hundreds: bool = False  # "nineteen thirty"


def _numbered(words: str, *, start: int = 2, step: int = 1) -> dict[str, int]:
    """Maps words in ascending order to numbers; `|` separates synonyms."""
    numbered = enumerate(words.split())
    return {word: start + step * at for at, synonyms in numbered for word in synonyms.split("|")}


_ENGLISH = NumberLexicon(
    values={
        **_numbered("two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"),
        **_numbered("seventeen eighteen nineteen", start=17),
        **_numbered("twenty thirty forty|fourty fifty sixty seventy eighty ninety", start=20, step=10),
    },
    scales={"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12},
    ones={"one": 1},
    decades=_numbered("twenties thirties forties fifties sixties seventies eighties nineties", start=20, step=10),
    last_ordinals=_numbered("first second third fourth fifth sixth seventh eighth ninth", start=1),
    joiners=frozenset({"and"}),
    says_years_by_hundreds=True,
)
_PORTUGUESE = NumberLexicon(
    values={
        **_numbered("dois|duas tres quatro cinco seis sete oito nove dez onze doze treze catorze|quatorze quinze"),
        **_numbered("dezesseis|dezasseis dezessete|dezassete dezoito dezenove|dezanove", start=16),
        **_numbered("vinte trinta quarenta cinquenta sessenta setenta oitenta noventa", start=20, step=10),
        **_numbered("cem|cento duzentos|duzentas trezentos|trezentas quatrocentos|quatrocentas", start=100, step=100),
        **_numbered("quinhentos|quinhentas seiscentos|seiscentas setecentos|setecentas", start=500, step=100),
        **_numbered("oitocentos|oitocentas novecentos|novecentas", start=800, step=100),
    },
    scales={
        "mil": 1_000,
        **dict.fromkeys(("milhao", "milhoes"), 10**6),
        **dict.fromkeys(("bilhao", "bilhoes"), 10**9),
        **dict.fromkeys(("trilhao", "trilhoes", "biliao", "bilioes"), 10**12),
        **dict.fromkeys(("duzia", "duzias"), 12),
    },
    ones={"um": 1, "uma": 1},
    joiners=frozenset({"e"}),
    joins_tens=True,
)
_SPANISH = NumberLexicon(
    values={
        **_numbered("dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis"),
        **_numbered("diecisiete dieciocho diecinueve veinte veintiuno|veintiun|veintiuna veintidos", start=17),
        **_numbered("veintitres veinticuatro veinticinco veintiseis veintisiete veintiocho veintinueve", start=23),
        **_numbered("treinta cuarenta cincuenta sesenta setenta ochenta noventa", start=30, step=10),
        **_numbered("cien|ciento doscientos|doscientas trescientos|trescientas", start=100, step=100),
        **_numbered("cuatrocientos|cuatrocientas quinientos|quinientas seiscientos|seiscientas", start=400, step=100),
        **_numbered("setecientos|setecientas ochocientos|ochocientas novecientos|novecientas", start=700, step=100),
    },
    scales={
        "mil": 1_000,
        **dict.fromkeys(("millon", "millones"), 10**6),
        **dict.fromkeys(("billon", "billones"), 10**12),
        **dict.fromkeys(("docena", "docenas"), 12),
    },
    ones={"un": 1, "uno": 1, "una": 1},
    joiners=frozenset({"y"}),
    joins_tens=True,
)
EMPTY_LEXICON = NumberLexicon()
LEXICONS: Mapping[str, NumberLexicon] = {"en": _ENGLISH, "pt": _PORTUGUESE, "es": _SPANISH}

_MONTHS = {
    "en": "january february march april may june july august september october november december",
    "pt": "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre diciembre",
}
_ORDINALS = {
    "en": "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth",
    "pt": "primeiro|primeira|primeiros|primeiras segundo|segunda terceiro|terceira quarto|quarta quinto|quinta "
    "sexto|sexta setimo|setima oitavo|oitava nono|nona decimo|decima",
    "es": "primero|primera|primer|primeros|primeras segundo|segunda tercero|tercera|tercer cuarto|cuarta quinto|quinta "
    "sexto|sexta septimo|septima octavo|octava noveno|novena decimo|decima",
}
# Words that imply a small number.
_OTHER_WORDS = {
    "en": {"one": 1, "both": 2, "couple": 2, "pair": 2, "twice": 2, "double": 2, "twin": 2, "half": 30, "quarter": 15},
    "pt": {"um": 1, "uma": 1, "ambos": 2, "ambas": 2, "casal": 2, "par": 2, "dobro": 2, "duplo": 2, "dupla": 2}
    | {
        "gemeos": 2,
        "gemeas": 2,
        "meia": 30,
        "dezena": 10,
        "centena": 100,
        "milhar": 1000,
        "vigesimo": 20,
        "vigesima": 20,
    },
    "es": {"un": 1, "uno": 1, "una": 1, "ambos": 2, "ambas": 2, "pareja": 2, "par": 2, "doble": 2, "gemelos": 2}
    | {
        "gemelas": 2,
        "media": 30,
        "decena": 10,
        "centena": 100,
        "centenar": 100,
        "millar": 1000,
        "vigesimo": 20,
        "vigesima": 20,
    },
}
LENIENT_WORDS: Mapping[str, Mapping[str, int]] = {
    language: {
        **_numbered(_MONTHS[language], start=1),
        **_numbered(_ORDINALS[language], start=1),
        **_OTHER_WORDS[language],
    }
    for language in LEXICONS
}
