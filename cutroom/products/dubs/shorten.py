"""Says the same with fewer words, by rule: what a speaker puts in without meaning much by it."""

import re

# Whole words or phrases that can go, with the comma that belongs to them; only where a sentence still stands without.
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
# That only tie a sentence to the one before.
_LINKS = {"en": r"and", "pt": r"então|e|aí", "es": r"entonces|y"}
_WEAK = {
    "en": (r"really", r"very", r"quite", r"just", r"simply", r"perhaps", r"sort of", r"kind of", r"a little bit"),
    "pt": (r"muito", r"realmente", r"apenas", r"simplesmente", r"um pouco", r"bastante"),
    "es": (r"muy", r"realmente", r"solo", r"simplemente", r"un poco", r"bastante"),
}
# What means the same and takes less time to say.
# Not in a sentence that denies: what one does not have to do is not what one must not do.
_DENIALS = re.compile(r"\b(?:não|nunca|nem|no|ni|tampoco|jamás|jamais)\b", re.IGNORECASE)
_BRIEFLY = {
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
# Verbs say who it is: these languages leave the pronoun out unless they stress it.
_PRONOUNS = {"pt": r"eu|nós|vocês?", "es": r"yo|nosotros|nosotras|tú|ustedes|usted", "it": r"io|noi|tu"}
# A question may have words before the pronoun; behind a verb or "para" it would be the one who is spoken of.
_ASKED = {
    "pt": r"^((?:e |mas )?(?:quant[oa]s?|qua(?:l|is)|o que|onde|quando|como|por que)(?: \w+){0,2}) vocês? (?=\w)",
    "es": r"^((?:[¿ey ]*)(?:cuánt[oa]s?|cuál(?:es)?|qué|dónde|cuándo|cómo|por qué)(?: \w+){0,2}) usted(?:es)? (?=\w)",
}
# Both forms are right; the one without an article is shorter.
_OWN = re.compile(r"(?<=[\s,])[oa]s? (?=(?:meu|minha|nosso|nossa|seu|sua)s?\b)", re.IGNORECASE)
MIN_WORDS = 3  # of what is left


def shorter(text: str, *, language: str) -> list[str]:
    """Shorter ways to say it, from the nearest to the furthest; none where nothing can go."""
    base = language.partition("-")[0]
    steps = [_plain(text, base)]
    steps.append(_briefly(steps[-1], base))
    steps.append(_without(steps[-1], _FILLERS.get(base, ()), with_comma=True))
    steps.append(_without(steps[-1], _WEAK.get(base, ()), with_comma=False))
    steps.append(_without_aside(steps[-1]))
    steps.append(_without_link(steps[-1], base))
    found: list[str] = []
    for step in steps:
        if step != text and step not in found and len(step.split()) >= MIN_WORDS:
            found.append(step)
    return found


def _plain(text: str, language: str) -> str:
    """Nothing is lost: who does it, and whose it is, stays clear."""
    pronouns = _PRONOUNS.get(language)
    if pronouns is not None:
        text = re.sub(rf"(^|[,;] |\be |\by |\bque )(?:{pronouns}) (?=\w)", r"\1", text, flags=re.IGNORECASE)
    asked = _ASKED.get(language)
    if asked is not None:
        text = re.sub(asked, r"\1 ", text, flags=re.IGNORECASE)
    return _tidy(_OWN.sub("", text)) if language == "pt" else _tidy(text)


def _briefly(text: str, language: str) -> str:
    if _DENIALS.search(text):
        return text
    for phrase, brief in _BRIEFLY.get(language, {}).items():
        text = re.sub(rf"\b{phrase}\b(?=[\s,.!?;])", brief, text, flags=re.IGNORECASE)
    return _tidy(text)


def _without_link(text: str, language: str) -> str:
    links = _LINKS.get(language)
    return text if links is None else _tidy(re.sub(rf"^(?:{links}),? (?=\w)", "", text, flags=re.IGNORECASE))


def _without(text: str, phrases: tuple[str, ...], *, with_comma: bool) -> str:
    for phrase in phrases:
        if with_comma:
            text = re.sub(rf"^{phrase},\s*", "", text, flags=re.IGNORECASE)
            text = re.sub(rf",\s*{phrase}(?=[,.!?;])", "", text, flags=re.IGNORECASE)
        else:
            text = re.sub(rf"\b{phrase}\s+(?=\w)", "", text, flags=re.IGNORECASE)
    return _tidy(text)


def _without_aside(text: str) -> str:
    """Without what stands in brackets or between dashes."""
    text = re.sub(r"\s*\([^()]*\)", "", text)
    return _tidy(re.sub("\\s*[—\u2013]\\s[^—\u2013]*\\s?[—\u2013]\\s*", " ", text))


def _tidy(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:]
