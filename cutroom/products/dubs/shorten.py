"""Says the same with fewer words, by rule: what a speaker puts in without meaning much by it."""

import re

# Whole words or phrases that can go, with the comma that belongs to them; only where a sentence still stands without.
_FILLERS = {
    "en": (
        r"you know",
        r"i mean",
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
    "pt": (r"na verdade", r"bem", r"sabe", r"quer dizer", r"de fato", r"é claro", r"basicamente", r"honestamente"),
    "es": (r"en realidad", r"bueno", r"ya sabes", r"es decir", r"de hecho", r"claro", r"básicamente", r"la verdad"),
}
_WEAK = {
    "en": (r"really", r"very", r"quite", r"just", r"simply", r"perhaps", r"sort of", r"kind of", r"a little bit"),
    "pt": (r"muito", r"realmente", r"apenas", r"simplesmente", r"um pouco", r"bastante"),
    "es": (r"muy", r"realmente", r"solo", r"simplemente", r"un poco", r"bastante"),
}
# Verbs say who it is: these languages leave the pronoun out unless they stress it.
_PRONOUNS = {"pt": r"eu|nós", "es": r"yo|nosotros|nosotras|tú", "it": r"io|noi|tu"}
# Both forms are right; the one without an article is shorter.
_OWN = re.compile(r"(?<=[\s,])[oa]s? (?=(?:meu|minha|nosso|nossa|seu|sua)s?\b)", re.IGNORECASE)
MIN_WORDS = 3  # of what is left


def shorter(text: str, *, language: str) -> list[str]:
    """Shorter ways to say it, from the nearest to the furthest; none where nothing can go."""
    base = language.partition("-")[0]
    steps = [_plain(text, base)]
    steps.append(_without(steps[-1], _FILLERS.get(base, ()), with_comma=True))
    steps.append(_without(steps[-1], _WEAK.get(base, ()), with_comma=False))
    steps.append(_without_aside(steps[-1]))
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
    return _tidy(_OWN.sub("", text)) if language == "pt" else _tidy(text)


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
