"""Shortens sentences by rule, removing fillers and other words that carry little meaning."""

import re

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
# Shorter synonyms. They are not applied in negated sentences, where they can change the meaning:
# "does not have to" is not "must not".
_NEGATIONS = re.compile(r"\b(?:não|nunca|nem|no|ni|tampoco|jamás|jamais)\b", re.IGNORECASE)
_SYNONYMS = {
    "en": {"in order to": "to", "at this point in time": "now"},
    "pt": {
        "tem que": "deve",
        "tem de": "deve",
        "têm que": "devem",
        "tenho que": "devo",
        "temos que": "devemos",
        "em seguida": "depois",
        "cada um deles": "cada um",
        "cada uma delas": "cada uma",
        "a fim de": "para",
        "em um": "num",
        "em uma": "numa",
    },
    "es": {
        "tiene que": "debe",
        "tienen que": "deben",
        "tengo que": "debo",
        "tenemos que": "debemos",
        "enseguida": "luego",
        "en seguida": "luego",
        "cada uno de ellos": "cada uno",
        "cada una de ellas": "cada una",
        "a fin de": "para",
    },
}
# Pro-drop languages: the verb form already identifies the subject.
_PRONOUNS = {"pt": r"eu|nós|vocês?", "es": r"yo|nosotros|nosotras|tú|ustedes|usted", "it": r"io|noi|tu"}
# Subject pronouns in questions follow the question word. After a verb or "para" the pronoun is an object and stays.
_QUESTIONS = {
    "pt": r"^((?:e |mas )?(?:quant[oa]s?|qua(?:l|is)|o que|onde|quando|como|por que)(?: \w+){0,2}) vocês? (?=\w)",
    "es": r"^((?:[¿ey ]*)(?:cuánt[oa]s?|cuál(?:es)?|qué|dónde|cuándo|cómo|por qué)(?: \w+){0,2}) usted(?:es)? (?=\w)",
}
# In Portuguese the article before a possessive is optional.
_POSSESSIVE_ARTICLES = re.compile(r"(?<=[\s,])[oa]s? (?=(?:meu|minha|nosso|nossa|seu|sua)s?\b)", re.IGNORECASE)
MIN_WORDS = 3  # in a shortened text


def shorter_variants(text: str, *, language: str) -> list[str]:
    """Progressively shorter variants of a text, each building on the previous; empty if nothing can be removed."""
    base = language.partition("-")[0]
    steps = [_without_pronouns(text, base)]
    steps.append(_with_synonyms(steps[-1], base))
    steps.append(_without(steps[-1], _FILLERS.get(base, ()), with_comma=True))
    steps.append(_without(steps[-1], _INTENSIFIERS.get(base, ()), with_comma=False))
    steps.append(_without_aside(steps[-1]))
    steps.append(_without_connective(steps[-1], base))
    variants: list[str] = []
    for step in steps:
        if step != text and step not in variants and len(step.split()) >= MIN_WORDS:
            variants.append(step)
    return variants


def _without_pronouns(text: str, language: str) -> str:
    """Drop redundant subject pronouns and optional articles."""
    pronouns = _PRONOUNS.get(language)
    if pronouns is not None:
        text = re.sub(rf"(^|[,;] |\be |\by |\bque )(?:{pronouns}) (?=\w)", r"\1", text, flags=re.IGNORECASE)
    question = _QUESTIONS.get(language)
    if question is not None:
        text = re.sub(question, r"\1 ", text, flags=re.IGNORECASE)
    return _tidy(_POSSESSIVE_ARTICLES.sub("", text)) if language == "pt" else _tidy(text)


def _with_synonyms(text: str, language: str) -> str:
    if _NEGATIONS.search(text):
        return text
    for phrase, shorter in _SYNONYMS.get(language, {}).items():
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
