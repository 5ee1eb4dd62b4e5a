"""Shortens sentences by rule, removing fillers and other words that carry little meaning."""

import re
from collections.abc import Mapping

# Fillers set off by commas.
_FILLERS = {
    "en": (
        r"you know",
        r"i mean",
        r"you see",
        r"well",
        r"so",
        r"actually",
        r"basically",
        r"honestly",
        r"of course",
        r"in fact",
        r"as a matter of fact",
        r"to be honest",
        r"at the end of the day",
    ),
    "pt": (
        r"na verdade",
        r"bem",
        r"sabe",
        r"quer dizer",
        r"de fato",
        r"é claro",
        r"basicamente",
        r"honestamente",
        r"veja",
    ),
    "es": (
        r"en realidad",
        r"bueno",
        r"ya sabes",
        r"es decir",
        r"de hecho",
        r"claro",
        r"básicamente",
        r"la verdad",
        r"vea",
    ),
}
# Conjunctions that only connect a sentence to the previous one.
_CONNECTIVES = {"en": r"and", "pt": r"então|e|aí", "es": r"entonces|y"}
_INTENSIFIERS = {
    "en": (r"really", r"very", r"quite", r"just", r"simply", r"perhaps", r"sort of", r"kind of", r"a little bit"),
    "pt": (r"muito", r"realmente", r"apenas", r"simplesmente", r"um pouco", r"bastante"),
    "es": (r"muy", r"realmente", r"solo", r"simplemente", r"un poco", r"bastante"),
}
_NEGATIONS = re.compile(r"\b(?:not|never|não|nunca|nem|no|ni|tampoco|jamás|jamais)\b|n['\u2019]t\b", re.IGNORECASE)
# Longer and shorter phrases of the same meaning.
_EQUIVALENTS = {
    "en": {
        "in order to": "to",
        "at this point in time": "now",
        "at this moment": "now",
        "due to the fact that": "because",
    },
    "pt": {
        "em seguida": "depois",
        "cada um deles": "cada um",
        "cada uma delas": "cada uma",
        "a fim de": "para",
        "com o objetivo de": "para",
        "neste momento": "agora",
        "no momento em que": "quando",
        "devido ao fato de que": "porque",
        "em um": "num",
        "em uma": "numa",
    },
    "es": {
        "cada uno de ellos": "cada uno",
        "cada una de ellas": "cada una",
        "a fin de": "para",
        "con el objetivo de": "para",
        "en este momento": "ahora",
        "en el momento en que": "cuando",
        "debido al hecho de que": "porque",
    },
}
# Synonyms of a slightly different meaning. They are not applied in negated sentences, where the difference is large:
# "does not have to" is not "must not".
_SYNONYMS = {
    "pt": {
        "tem que": "deve",
        "tem de": "deve",
        "têm que": "devem",
        "tenho que": "devo",
        "temos que": "devemos",
    },
    "es": {
        "tiene que": "debe",
        "tienen que": "deben",
        "tengo que": "debo",
        "tenemos que": "debemos",
        "enseguida": "luego",
        "en seguida": "luego",
    },
}
# In pro-drop languages, many verb forms identify their subject: "eu falo", but not "eu falava" or "você fala".
_CLEAR_PRONOUNS = {
    "pt": r"eu (?=(?:(?:não|só|já) )?(?!(?:não|só|já|o)\b)\w*(?:o|ei|i|ou|tive)\b)|nós (?=(?:(?:não|só|já) )?\w*mos\b)",
    "es": r"yo (?=(?:no )?(?!(?:no|lo)\b)\w*(?:o|é|í|oy)\b)|(?:nosotros|nosotras) (?=(?:no )?\w*mos\b)"
    r"|tú (?=(?:no )?\w*(?:s|ste)\b)",
    "it": r"io (?=(?:non )?(?!lo\b)\w*o\b)|noi (?=(?:non )?\w*mo\b)",
}
_PRONOUNS = {
    "pt": r"(?:eu|nós|vocês?) (?=\w)",
    "es": r"(?:yo|nosotros|nosotras|tú|ustedes|usted) (?=\w)",
    "it": r"(?:io|noi|tu) (?=\w)",
}
# Words before the subject of a clause; after "mas" and "pero" a pronoun is a contrast, and stays.
_CLAUSE_WORDS = r"\b(?:e|y|que|se|si|quando|cuando|porque|então|entonces) "
# Subject pronouns in questions follow the question word. After a verb or "para" the pronoun is an object and stays.
_QUESTIONS = {
    "pt": r"^((?:e |mas )?(?:quant[oa]s?|qua(?:l|is)|o que|onde|quando|como|por que)(?: \w+){0,2}) vocês? (?=\w)",
    "es": r"^((?:[¿ey ]*)(?:cuánt[oa]s?|cuál(?:es)?|qué|dónde|cuándo|cómo|por qué)(?: \w+){0,2}) usted(?:es)? (?=\w)",
}
# In Portuguese the article before a possessive is optional.
_POSSESSIVE_ARTICLES = re.compile(r"(?<=[\s,])[oa]s? (?=(?:meu|minha|nosso|nossa|seu|sua)s?\b)", re.IGNORECASE)
MIN_WORDS = 3  # in a shortened text


def shorter_variants(text: str, *, language: str, keeps_meaning: bool = False) -> list[str]:
    """Progressively shorter variants of a text, each building on the previous; empty if nothing can be removed.

    With `keeps_meaning`, only words that add nothing are removed, and phrases are replaced by shorter equivalents.
    """
    base = language.partition("-")[0]
    steps = [_without_pronouns(_without_articles(text, base), _CLEAR_PRONOUNS.get(base))]
    steps.append(_with_phrases(steps[-1], _EQUIVALENTS.get(base, {})))
    steps.append(_without(steps[-1], _FILLERS.get(base, ()), with_comma=True))
    if not keeps_meaning:
        steps.append(_without_questioned(_without_pronouns(steps[-1], _PRONOUNS.get(base)), base))
        if not _NEGATIONS.search(text):
            steps.append(_with_phrases(steps[-1], _SYNONYMS.get(base, {})))
            steps.append(_without(steps[-1], _INTENSIFIERS.get(base, ()), with_comma=False))
        steps.append(_without_aside(steps[-1]))
        steps.append(_without_connective(steps[-1], base))
    variants: list[str] = []
    for step in steps:
        if step != text and step not in variants and len(step.split()) >= MIN_WORDS:
            variants.append(step)
    return variants


def _without_articles(text: str, language: str) -> str:
    return _tidy(_POSSESSIVE_ARTICLES.sub("", text)) if language == "pt" else text


def _without_pronouns(text: str, pronouns: str | None) -> str:
    """Drop subject pronouns at the start of a clause."""
    if pronouns is None:
        return text
    clause_start = re.compile(rf"(^|[,;.!?] |{_CLAUSE_WORDS})(?:{pronouns})(\w)", re.IGNORECASE)
    return _tidy(clause_start.sub(lambda at: at[1] + (at[2].upper() if at[1][:1] in ".!?" else at[2]), text))


def _without_questioned(text: str, language: str) -> str:
    question = _QUESTIONS.get(language)
    return text if question is None else _tidy(re.sub(question, r"\1 ", text, flags=re.IGNORECASE))


def _with_phrases(text: str, replacements: Mapping[str, str]) -> str:
    for phrase, shorter in replacements.items():
        text = re.sub(rf"\b{phrase}\b(?=[\s,.!?;])", shorter, text, flags=re.IGNORECASE)
    return _tidy(text)


def _without_connective(text: str, language: str) -> str:
    connectives = _CONNECTIVES.get(language)
    return (
        text if connectives is None else _tidy(re.sub(rf"^(?:{connectives}),? (?=\w)", "", text, flags=re.IGNORECASE))
    )


def _without(text: str, phrases: tuple[str, ...], *, with_comma: bool) -> str:
    for phrase in phrases:
        if with_comma:
            text = re.sub(rf"^{phrase},\s*", "", text, flags=re.IGNORECASE)
            text = re.sub(rf",\s*{phrase}(?=[,.!?;])", "", text, flags=re.IGNORECASE)
        else:
            text = re.sub(rf"\b{phrase}\s+(?=\w)", "", text, flags=re.IGNORECASE)
    return _tidy(text)


def _without_aside(text: str) -> str:
    """Drop text in parentheses or between dashes."""
    text = re.sub(r"\s*\([^()]*\)", "", text)
    return _tidy(re.sub("\\s*[—\u2013]\\s[^—\u2013]*\\s?[—\u2013]\\s*", " ", text))


def _tidy(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:]
