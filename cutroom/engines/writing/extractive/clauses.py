"""Finds the parts of a spoken sentence that can stand alone, and cuts long ones where a phrase begins."""

import re
from itertools import pairwise

from cutroom.engines.writing.extractive.quotes import capitalized, drop_trailing_function_words, without_final_stop
from cutroom.engines.writing.extractive.speech_patterns import speech_patterns
from cutroom.text.vocabulary import starts_with_back_reference, stems, vocabulary, words_of
from cutroom.text.writing_systems import primary_language

MIN_STEMS = 2  # content words of a text that says something
MIN_CUT_WORDS = 3
_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_CLAUSE_END = re.compile(r"(?P<mark>[,;:])\s+(?=(?P<next>\S+)\s)|\s+[\u2013\u2014]\s+|[。、]")
_STAND_INS = frozenset({"one", "ones"})  # for a noun that was said before
_QUANTIFIERS = frozenset({"no", "any", "some", "every", "each"})
_UNSPACED = frozenset({"ja", "zh", "yue"})


def stands_alone(text: str, *, language: str) -> bool:
    """Whether the text needs no context: it does not refer back, and every pronoun follows a noun of its own."""
    if starts_with_back_reference(text, language=language):
        return False
    if primary_language(language) in _UNSPACED:
        return True
    patterns, function_words = speech_patterns(language), vocabulary(language)
    has_noun, before = False, ""
    opening = _opening_phrase(text, language=language)
    for number, match in enumerate(_WORD.finditer(text.replace("\u2019", "'"))):
        token = match.group()
        word = token.lower()
        if token in _STAND_INS and before not in _QUANTIFIERS and not _precedes_noun(text, token, language=language):
            return False
        is_pronoun = (word.partition("'")[0] if "'" in word else word) in patterns.pronouns
        if is_pronoun and not has_noun and not _is_determiner(word, text, token, language=language):
            return False
        is_content = not function_words.is_stop_word(word) and not is_pronoun and word not in patterns.measures
        is_noun = is_content and (before in patterns.before_noun or (number > 0 and token[0].isupper()))
        has_noun = has_noun or (is_noun and match.start() >= opening)
        before = word
    return True


def has_pronoun(text: str, *, language: str) -> bool:
    """Whether the text has a pronoun of the third person; a title must not make its reader look for a noun."""
    words = {word.partition("'")[0] for word in words_of(text)}
    return bool(words & speech_patterns(language).pronouns)


def is_personal(text: str, *, language: str) -> bool:
    """Whether the text speaks of its speaker or to another person, and so names no topic."""
    first_person = speech_patterns(language).first_person
    return speaks_to_person(text, language=language) or not first_person.isdisjoint(words_of(text))


def speaks_to_person(text: str, *, language: str) -> bool:
    return not speech_patterns(language).second_person.isdisjoint(words_of(text))


def _opening_phrase(text: str, *, language: str) -> int:
    """Length of an adverbial at the start, whose noun is no antecedent: "In my flat, it is behind the door"."""
    patterns = speech_patterns(language)
    first = (text.split() or [""])[0].lower()
    return text.find(",") if first in patterns.before_noun & patterns.phrase_starts else 0


def _is_determiner(word: str, text: str, token: str, *, language: str) -> bool:
    """As in "this bridge", where the noun follows."""
    return word in speech_patterns(language).before_noun and _precedes_noun(text, token, language=language)


def _precedes_noun(text: str, token: str, *, language: str) -> bool:
    after = text.partition(token)[2].split()
    following = _WORD.match(after[0]) if after else None
    return following is not None and not vocabulary(language).is_stop_word(following.group().lower())


def main_clause(text: str, *, language: str) -> str:
    """The sentence up to its first clause boundary, without a final full stop."""
    for end in _clause_ends(text, language=language):
        words = text[:end].split()
        is_whole = drop_trailing_function_words(words, language=language) == words
        if is_whole and says_something(text[:end], language=language):
            return without_final_stop(text[:end])
    return without_final_stop(text)


def _clause_ends(text: str, *, language: str) -> list[int]:
    """Positions after which a new clause begins: at a mark, or at a conjunction after a comma or before a new subject.

    Before another comma stands as often a dependent clause: "Three years ago, I sat at my kitchen table".
    """
    patterns = speech_patterns(language)
    conjunctions = patterns.openers | patterns.phrase_starts
    ends = [
        match.start()
        for match in _CLAUSE_END.finditer(text)
        if match["mark"] != "," or match["next"].lower() in conjunctions
    ]
    found = list(_WORD.finditer(text))
    for word, after in pairwise(found):
        begins = after.group().lower() in patterns.articles | patterns.before_verb - patterns.before_noun
        if word.group().lower() in patterns.openers and begins:
            ends.append(word.start())
    return sorted(ends)


def says_something(text: str, *, language: str, min_stems: int = MIN_STEMS) -> bool:
    if primary_language(language) in _UNSPACED:
        return len(text) >= 4
    return len(text.split()) >= MIN_CUT_WORDS and len(stems(text, language=language)) >= min_stems


def is_clause(text: str, *, language: str) -> bool:
    """Whether the text is more than a phrase or a dependent clause, says something, and needs no context."""
    first = (text.split() or [""])[0].lower()
    if first in speech_patterns(language).phrase_starts and "," not in text:
        return False
    return says_something(text, language=language) and stands_alone(text, language=language)


def starts_with_noun(text: str, *, language: str) -> bool:
    """Whether the text begins with a determiner or a name; true in a language without a list of determiners."""
    patterns = speech_patterns(language)
    determiners = patterns.before_noun - patterns.phrase_starts | patterns.articles
    first, second, *_ = [*_WORD.findall(text), ".", "."]
    is_name = (second[0].isupper() or second[0].isdigit()) and not vocabulary(language).is_stop_word(first.lower())
    is_noun = not vocabulary(language).is_stop_word(second.lower()) and second.lower() not in patterns.measures
    return not determiners or is_name or (first.lower() in determiners and is_noun)


def cut_before_phrase(text: str, limit: int, *, language: str, min_stems: int = MIN_STEMS) -> str:
    """As much as fits, up to a clause boundary or a word that begins a phrase; empty if too little is left."""
    if len(text) <= limit:
        return text
    starts = speech_patterns(language).phrase_starts
    ends = _clause_ends(text, language=language)
    ends += [match.start() for match in _WORD.finditer(text) if match.group().lower() in starts]
    for end in sorted((each for each in ends if 0 < each <= limit + 1), reverse=True):
        words = text[:end].rstrip(" ,;:\u2013\u2014").split()
        # A number belongs to the word after it, and an adverb to the phrase.
        if words and (words[-1][0].isdigit() or words[-1].endswith(("ly", "mente"))):
            continue
        if drop_trailing_function_words(words, language=language) != words:
            continue
        kept = " ".join(words)
        if says_something(kept, language=language, min_stems=min_stems):
            return kept
    return ""


def shorten(text: str, limit: int, *, language: str) -> str:
    """Cut before a phrase, else after the last word that fits and needs no continuation."""
    if (cut := cut_before_phrase(text, limit, language=language)) or len(text) <= limit:
        return cut
    kept = text[: limit + 1]
    words = (kept.rsplit(" ", 1)[0] if " " in kept else kept[:-1]).split(" ")
    return " ".join(drop_trailing_function_words(words, language=language)).rstrip(" ,;:.-\u2013\u2014、\uff0c。…¿¡(«“")


def as_heading(text: str) -> str:
    return capitalized(without_final_stop(text.strip()))
