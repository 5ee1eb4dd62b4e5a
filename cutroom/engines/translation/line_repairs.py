"""Repairs of a translated line that follow from its source: amounts, units, names, titles and punctuation.

Each repair is certain from the source alone, such as a unit that was exchanged for another; everything else is left to
the checks and to the reader.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from cutroom.engines.translation.document import DocumentLine
from cutroom.engines.translation.fidelity import MIN_NAME_SIMILARITY
from cutroom.text.inverted_marks import add_opening_marks
from cutroom.text.language_tags import language_of
from cutroom.text.names import COMMON_CAPITALS, EXONYMS, PERSON_NAMES, word_set
from cutroom.text.numbers import fold_accents
from cutroom.text.vocabulary import vocabulary

FEMALE = "female"
MIN_LEFTOVER_LETTERS = 3

_NOTE = re.compile(r"\s*\((?:em inglês|in English|en inglés|em português|em espanhol|en portugués)\)", re.IGNORECASE)
_LOOSE_HYPHEN = re.compile(r"(?<=[^\W\d_])- (?=l[oa]s?\b|n[oa]s?\b|me\b|te\b|se\b|lhes?\b)")
_LOOSE_MARK = re.compile(r"\s+([,;:!?](?:\s|$)|\.(?:\s|$))")
_DOLLARS = re.compile(r"(?:\bUS|\bU\.S\.)? ?(?<!R)\$ ?(?=\d)")
_DOLLAR_GAP = re.compile(r"\bUS \$ ?")
_ONE_MILLION = re.compile(r"\b([01],\d+) milhões\b")
# A number in English format that the engine copied.
_ENGLISH_DECIMAL = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})*)\.(\d{1,2})(?![\w.,]*\d)")
_ENGLISH_GROUPS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,]*\d)")
# A time that the engine copied, with its half of the day.
_ENGLISH_TIME = re.compile(r"(?<!\d)(1[0-2]|[1-9])(?:[:h](\d\d))? ?([ap])\.? ?m\b\.?", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_CAPITALIZED_RUN = re.compile(r"(?<![\w'\u2019])[A-ZÀ-Ý][^\W\d_]*(?: [A-ZÀ-Ý][^\W\d_]*)*(?!\w)")
_SENTENCE_START = re.compile(r"(?:^|[.!?…:]\s+|[\"“¿¡(]\s*)$")
_NAMED = re.compile(r"\b(?:named|called|name is|name's|chamad[oa]|se chama)\s+([A-Z][^\W\d_]+)")
_TITLE_WORDS = word_set(
    """
    first second third fourth fifth sixth seventh eighth ninth tenth one light house company bank sun moon earth nature
    world web part book our my
    """
)
_DEMONYM = re.compile(r"(?:ish|ese|ian|ean|ans?|ench|utch|eek|erman|ews?)$")

# Singular and plural of each unit by language. Pounds are left out where the source means money.
_UNITS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "pound": {"pt": ("libra", "libras"), "es": ("libra", "libras")},
    "ounce": {"pt": ("onça", "onças"), "es": ("onza", "onzas")},
    "mile": {"pt": ("milha", "milhas"), "es": ("milla", "millas")},
    "inch": {"pt": ("polegada", "polegadas"), "es": ("pulgada", "pulgadas")},
    "yard": {"pt": ("jarda", "jardas"), "es": ("yarda", "yardas")},
    "gallon": {"pt": ("galão", "galões"), "es": ("galón", "galones")},
}
_METRIC = {
    "pt": r"quilos?|quilogramas?|kg|gramas?|quilômetros?|km|metros?|centímetros?|cm|litros?",
    "es": r"kilos?|kilogramos?|kg|gramos?|kilómetros?|km|metros?|centímetros?|cm|litros?",
}
_SAID_UNIT = re.compile(r"(\d[\d.,]*)[- ](pound|ounce|mile|inch|yard|gallon)(?:e?s)?\b", re.IGNORECASE)
# English words that the engines leave in, by target language.
_LEFTOVERS: Mapping[str, Sequence[tuple[str, str]]] = {
    "pt": ((r"ma'am", "senhora"), (r"huh(?=\?)", "hein"), (r"hey(?=[,!])", "ei"), (r"wow(?=[,!.])", "uau")),
    "es": ((r"ma'am", "señora"), (r"(?:huh|hein)(?=\?)", "eh"), (r"hey(?=[,!])", "oye"), (r"wow(?=[,!.])", "vaya")),
}


def repair_line(line: DocumentLine, text: str, *, source: str, target: str, gender: str | None = None) -> str:
    """The text with repairs; `gender` is that of the speaker, if it is known."""
    if not text.strip():
        return text
    target = language_of(target).partition("-")[0]
    if "(" not in line.text:
        text = _NOTE.sub("", text)
    text = _LOOSE_MARK.sub(r"\1", _LOOSE_HYPHEN.sub("-", text))
    if language_of(source) == "en":
        text = _repair_from_english(line.text, text, target)
    text = _restore_person_names(line.text, text)
    if target == "pt" and gender == FEMALE:
        text = _feminine_thanks(text)
    if line.text[:1].isupper() and text[:1].islower():
        text = text[0].upper() + text[1:]
    if target == "es":
        text = add_opening_marks(text)
    return text


def document_names(texts: Sequence[str]) -> frozenset[str]:
    """Names said in at least one line: capitalized within a sentence, or introduced as a name."""
    found = {match[1] for text in texts for match in _NAMED.finditer(text)}
    for text in texts:
        for words, before in _capitalized(text):
            kept = [word for at, word in enumerate(words) if not _is_common(word, words[at - 1] if at else before)]
            found |= set(kept)
            if kept and len(words) > 1 and all(word in kept or _is_title_word(word) for word in words):
                found.add(" ".join(words))
    return frozenset(found)


def lost_names(source: str, text: str, names: frozenset[str]) -> list[str]:
    """Names of the source line that the translation lacks, longest first, even in a translated form with a capital."""
    said = [name for name in sorted(names, key=lambda each: (-len(each), each)) if _has_phrase(source, name)]
    capitals = [fold_accents(word).casefold() for word in _WORD.findall(text) if word[:1].isupper()]
    lost: list[str] = []
    for name in said:
        is_covered = any(_has_phrase(each, name) for each in lost)
        # A part of a longer name, such as a surname, has no translated form.
        is_part = any(_has_phrase(each, name) for each in said if each != name)
        has_form = not is_part and " " not in name and any(_is_form_of(name, each) for each in capitals)
        if not (is_covered or has_form or _has_phrase(fold_accents(text).casefold(), fold_accents(name).casefold())):
            lost.append(name)
    return lost


def with_kept_names(source: str, names: Sequence[str]) -> str:
    """The source with names as placeholders, which engines preserve."""
    for name in names:
        source = re.sub(rf"(?<![\w{{]){re.escape(name)}(?![\w}}])", f"{{{name}}}", source)
    return source


def without_placeholders(text: str, names: Sequence[str]) -> str:
    for name in names:
        text = text.replace(f"{{{name}}}", name)
    return text


def leftover_words(source: str, text: str, *, target: str, names: frozenset[str]) -> list[str]:
    """Lower-case words of the source that are in the translation as they are; some are the same in both languages."""
    stop_words = vocabulary(target)
    said = {word for word in _WORD.findall(source) if word.islower() and len(word) >= MIN_LEFTOVER_LETTERS}
    found = dict.fromkeys(word for word in _WORD.findall(text) if word in said or word.lower() in said)
    return [word for word in found if not stop_words.is_stop_word(word.lower()) and word not in names]


def _repair_from_english(source: str, text: str, target: str) -> str:
    for pattern, word in _LEFTOVERS.get(target, ()):
        found = re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE)
        text = found.sub(partial(_in_case, word), text)
    text = _exchange_units(source, text, target)
    if target != "pt":
        return _DOLLAR_GAP.sub("US$ ", text)
    text = _ENGLISH_TIME.sub(_portuguese_time, text)
    text = _ENGLISH_DECIMAL.sub(lambda match: f"{match[1].replace(',', '.')},{match[2]}", text)
    for number in set(_ENGLISH_GROUPS.findall(source)):
        text = re.sub(rf"(?<![\w.,]){number}(?!\w)", number.replace(",", "."), text)
    return _with_dollars(source, text)


def _portuguese_time(match: re.Match[str]) -> str:
    """3:30 p.m. as 15h30; keeps the full stop of the sentence."""
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    rest = match.string[match.end() :]
    ends = match.group().endswith(".") and (not rest.strip() or rest.lstrip()[:1].isupper())
    return f"{hour}h{match[2] or ''}{'.' if ends else ''}"


def _with_dollars(source: str, text: str) -> str:
    if "$" in source:
        text = " ".join(_DOLLARS.sub(" US$ ", text).split())
    return _ONE_MILLION.sub(r"\1 milhão", text)


def _exchange_units(source: str, text: str, target: str) -> str:
    """Restores a unit that the engine exchanged for a metric one without converting the number."""
    for match in _SAID_UNIT.finditer(source):
        forms = _UNITS[match[2].lower()].get(target)
        if forms is None:
            continue
        number = match[1].rstrip(".,")
        local = number.replace(",", "\0").replace(".", ",").replace("\0", ".")
        plural = forms[0] if number in {"1", "1.0"} else forms[1]
        text = re.sub(
            rf"(?<![\d.,])({re.escape(number)}|{re.escape(local)}) (?:{_METRIC[target]})(?!\w)", rf"\1 {plural}", text
        )
    return text


def _restore_person_names(source: str, text: str) -> str:
    """First names stay as they are: Peter is not Pedro."""
    said = set(_WORD.findall(source))
    for name, forms in PERSON_NAMES.items():
        original = name.capitalize()
        if original not in said or re.search(rf"(?<!\w){original}(?!\w)", text):
            continue
        for word in _WORD.findall(text):
            if word[:1].isupper() and fold_accents(word).casefold() in forms and word not in said:
                text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", original, text, count=1)
                break
    return text


def _feminine_thanks(text: str) -> str:
    return re.sub(r"\b([Oo])brigado\b(?! a (?:fazer|ser|ir|ter))", r"\1brigada", text)


def _in_case(word: str, match: re.Match[str]) -> str:
    return word.capitalize() if match.group()[:1].isupper() else word


def _capitalized(text: str) -> Iterator[tuple[list[str], str]]:
    """Runs of capitalized words within sentences, each with the word before it."""
    for match in _CAPITALIZED_RUN.finditer(text):
        if not _SENTENCE_START.search(text[: match.start()]):
            before = _WORD.findall(text[: match.start()])
            yield match.group().split(), before[-1] if before else ""


def _is_common(word: str, before: str) -> bool:
    folded = fold_accents(word).casefold()
    is_common = folded in COMMON_CAPITALS or folded.removesuffix("s") in COMMON_CAPITALS or folded in _TITLE_WORDS
    has_article = before.casefold() in {"a", "an"}
    return len(word) == 1 or word.isupper() or is_common or has_article or bool(_DEMONYM.search(word))


def _is_title_word(word: str) -> bool:
    """Whether a common word can be a part of the name of a program or a company, rather than a place or a title."""
    return word.casefold() in _TITLE_WORDS


def _has_phrase(text: str, phrase: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None


def _is_form_of(name: str, word: str) -> bool:
    """Whether a capitalized word is the name in another language: Lisbon and Lisboa."""
    folded = fold_accents(name).casefold()
    if word in EXONYMS.get(folded, ()):
        return True
    return difflib.SequenceMatcher(None, folded, word).ratio() >= MIN_NAME_SIMILARITY
