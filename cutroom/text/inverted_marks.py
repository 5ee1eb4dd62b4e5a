"""Opening question and exclamation marks of Spanish."""

import re

_OPENING = {"?": "¿", "!": "¡"}
_SENTENCE = re.compile(r"[^.!?…]*(?:\.(?=\w)[^.!?…]*)*[.!?…]+[\"'”\u2019)»]*|[^.!?…]+$")
# An introduction before the question proper stays outside: "Lucía, ¿qué perdiste?", "Si no, ¿qué hago?".
_QUESTION_WORD = re.compile(
    r"[,;:]\s+(?=(?:y |o |pero |entonces |a |de |con |por |para |en )?"
    r"(?:qué|quién(?:es)?|cómo|cuándo|cuánt[oa]s?|cuál(?:es)?|dónde|verdad|no|sí|eh)(?!\w))",
    re.IGNORECASE,
)
_LEADING = re.compile(r"[\s\"'“\u2018(«—\u2013-]*")


def add_opening_marks(text: str) -> str:
    """Adds ¿ and ¡ to sentences that end with a question or exclamation mark and have none."""
    return "".join(_with_opening(match.group()) for match in _SENTENCE.finditer(text)) or text


def _with_opening(sentence: str) -> str:
    closing = sentence.rstrip("\"'”\u2019)» ")[-1:]
    opening = _OPENING.get(closing)
    if opening is None or opening in sentence:
        return sentence
    starts = [match.end() for match in _QUESTION_WORD.finditer(sentence)] if closing == "?" else []
    leading = _LEADING.match(sentence)
    at = starts[-1] if starts else leading.end() if leading else 0
    return f"{sentence[:at]}{opening}{sentence[at:]}"
