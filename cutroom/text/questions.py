"""Recognizes questions by word order and question words, where a recognizer wrote a period.

Precision comes first: a statement with a question mark reads worse than a question without one. Questions that only
the intonation shows are left alone.
"""

import re
from collections.abc import Callable

from cutroom.text.writing_systems import primary_language, strip_closing_marks

MAX_WORDS = 30  # a longer sentence that starts like a question is usually a statement
MAX_FRAGMENT_WORDS = 8  # of a question without a main clause: "And if you can't find it"

_APOSTROPHES = re.compile("[\u2019\u02bc`]")  # as in "don't"
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|,")


def restore_question_mark(sentence: str, language: str) -> str:
    """The sentence with a question mark instead of its final period, if it is a question."""
    return end_as_question(sentence) if is_unmarked_question(sentence, language) else sentence


def is_unmarked_question(sentence: str, language: str) -> bool:
    """Whether a sentence without a question or exclamation mark is a question."""
    detect = _DETECTORS.get(primary_language(language))
    end = strip_closing_marks(sentence.strip())[-1:]
    if detect is None or not (end == "." or end.isalnum()):
        return False
    words = _WORD.findall(_APOSTROPHES.sub("'", sentence).casefold())
    return 1 < len(words) <= MAX_WORDS and detect(words)


def end_as_question(text: str) -> str:
    """Replaces the final period of a sentence or word, before any closing quotes; appends a mark without one."""
    core = strip_closing_marks(text)
    return f"{core.rstrip('.')}?{text[len(core) :]}"


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# English: the auxiliary stands before the subject.
_BE = _word_set("is are was were isn't aren't wasn't weren't")
_MODAL = _word_set("can could will would should shall can't couldn't won't wouldn't shouldn't")
_DO = _word_set("do does did don't doesn't didn't")
_HAVE = _word_set("have has had haven't hasn't hadn't")
_AUXILIARY = _BE | _MODAL | _DO | _HAVE | {"am", "might", "may", "must"}
_PRONOUN = _word_set("i you he she it we they")
_SUBJECT = _PRONOUN | _word_set(
    "this that these those there the a an my your his her its our their anyone anybody anything someone somebody "
    "something everyone everybody everything nobody no"
)
_CONTRACTED = _word_set(
    "what's where's who's how's when's why's what're where're who're what'd how'd where'd who'd what'll who'll"
)
_FIXED_STARTS = {("what", "about"), ("how", "about"), ("how", "come"), ("what", "if"), ("why", "not")}
_MEASURES = _word_set("much many long far old often big tall heavy fast soon well bad")
_OPENERS = _word_set(
    "so and but or well okay ok now oh hey yeah yes no right alright hm ah then because wait look listen sorry please "
    "actually anyway"
)
_SUBORDINATORS = _word_set("if when after before once while since")
_TAG_WORDS = _word_set("right huh eh correct")


def _is_english_question(words: list[str]) -> bool:
    if _has_english_tag(words):
        return True
    if words[:2] == ["and", "if"] and "," not in words:
        return len(words) <= MAX_FRAGMENT_WORDS
    clause = _without_openers(words)
    last = clause[len(clause) - clause[::-1].index(",") :] if "," in clause else []
    if clause and clause[0] in _SUBORDINATORS and last:
        clause = last  # "If it leaks, what do we do"
    elif len(last) > 2 and last[1] == "you" and _is_yes_no(last):
        return True  # "And you there, have you subscribed yet"
    return len(clause) > 1 and (_is_yes_no(clause) or _is_wh_question(clause))


def _without_openers(words: list[str]) -> list[str]:
    """Drops discourse markers, and a name or short phrase of address: "So, Owen, can you"."""
    at = 0
    while at < len(words) and (words[at] in _OPENERS or words[at] == ","):
        at += 1
    rest = words[at:]
    if len(rest) > 2 and rest[1] == "," and rest[0] not in _AUXILIARY:
        return _without_openers(rest[2:])
    return rest


def _is_yes_no(clause: list[str]) -> bool:
    first, second = clause[0], clause[1]
    if first in _DO | {"have", "haven't", "may"}:
        # "Do the dishes", "Have a seat", "Don't you dare" and "May the best one win" are no questions.
        asks = second in _PRONOUN - {"it"} or (first in {"does", "did", "didn't", "doesn't"} and second in _SUBJECT)
        return asks and clause[2:3] != ["dare"] and clause[2:3] != ["worry"]
    if first not in _BE | _MODAL | {"am", "has", "hasn't", "had", "hadn't"} or second not in _SUBJECT:
        return False
    # "Had I known, I would have stayed", "Were it not for her, ..."
    return not (first in {"had", "hadn't", "were", "should"} and "," in clause)


def _is_wh_question(clause: list[str]) -> bool:
    first, second, rest = clause[0], clause[1], clause[2:]
    if (first, second) in _FIXED_STARTS:
        return True
    if first in _CONTRACTED:
        return not _has_second_verb(clause[1:])
    if first == "how" and second in _MEASURES:
        return any(word in _AUXILIARY for word in rest[:3])
    if first in {"which", "whose", "what"} and second not in _AUXILIARY:
        return len(rest) > 1 and second not in _SUBJECT and rest[0] in _AUXILIARY and rest[1] in _SUBJECT
    inverted = first in {"what", "where", "who", "how", "when", "why"} and second in _AUXILIARY
    return inverted and not (second in _BE and _has_second_verb(rest))


def _has_second_verb(words: list[str]) -> bool:
    """As in "what's important is that we know"."""
    return any(word in {"is", "was"} for word in words)


def _has_english_tag(words: list[str]) -> bool:
    """As in "it leaks, doesn't it" and "it leaks, right"."""
    if len(words) < 4:
        return False
    if words[-3] == "," and words[-2] in _AUXILIARY and words[-1] in _PRONOUN | {"that", "there"}:
        return words[-2] not in {"will", "can", "must", "may"}
    return words[-2] == "," and words[-1] in _TAG_WORDS


# Portuguese has the order of a statement, so that only question words and tags show a question.
_PT_OPENERS = _word_set("e mas então bom ah olha ué aí agora ou pois escuta gente oi ei desculpa moça moço")
_PT_TAG = re.compile(r", (?:né|certo|hein|entendeu|sabia|sabe|viu|combinado|tá|é|não é)$")
_PT_IS = r"(?:é|foi|são|era|está|tá|estão|fica|ficam|vai|vão|tem|seria)\b"
_PT_START = re.compile(
    r"(?:será que|por qu[eê]|quer que|cadê|poderia|(?:quem|onde|aonde|quando|como) (?:é|foi) que)\b"
    rf"|(?:qual|quais) {_PT_IS}"
)
# Without a comma: "Como eu disse, ..." is a statement. Without a second verb: "O que você precisa é de tempo".
_PT_SHORT_START = re.compile(
    r"(?:de|do|da|com|em|para|pra|por|a) (?:quem|quantos|quantas|quanto|qual|onde)\b"
    r"|(?:qual|quais) (?!nada)"
    r"|quant[oa]s? (?!(?:mais|menos|ao?|à)\b)"
    r"|(?:quando|como) (?:vai|vão|está|tá|foi|fica|assim|posso|podemos)\b|como é\b"
    rf"|(?:quem|onde|aonde) {_PT_IS}(?!.* (?:é|foi|era)\b)"
    rf"|o que (?:{_PT_IS}|(?:você|vocês|eu|eles?|elas?|nós|o|a|os|as|isso|aconteceu|houve)\b)(?!.* (?:é|foi|era)\b)"
)


def _is_portuguese_question(words: list[str]) -> bool:
    if _PT_TAG.search(" ".join(words)):
        return True
    if words[:2] == ["e", "se"] and "," not in words:
        return len(words) <= MAX_FRAGMENT_WORDS
    at = 0
    while at < len(words) and (words[at] in _PT_OPENERS or words[at] == ","):
        at += 1
    clause = words[at:]
    if len(clause) > 2 and clause[1] == ",":  # a name
        clause = clause[2:]
    text = " ".join(clause)
    return bool(_PT_START.match(text) or ("," not in clause and _PT_SHORT_START.match(text)))


_DETECTORS: dict[str, Callable[[list[str]], bool]] = {"en": _is_english_question, "pt": _is_portuguese_question}
