"""Finds the nouns and names that a transcript mentions more than once."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cutroom.engines.writing.extractive.sentences import INTRODUCTION, TranscriptSentence
from cutroom.engines.writing.extractive.speech_patterns import speech_patterns
from cutroom.text.numbers import find_numbers
from cutroom.text.vocabulary import stems, vocabulary
from cutroom.text.writing_systems import primary_language

MIN_MENTIONS = 2
MAX_TERMS = 20
MIN_CHARACTERS = 3
MIN_NOUN_SHARE = 0.5  # of the mentions, in the place of a noun
_TOKEN = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*|[^\s\w]")
_ELIDED = re.compile(r"\b([ldnsjmtc]|qu|un|dell|nell|all|sull|dall)['\u2019](?=[^\W\d_])", re.IGNORECASE)
# Runs of kanji or katakana are mostly nouns; a noun in hiragana is delimited by punctuation or particles.
_UNSPACED_NOUNS = re.compile(
    r"[\u3400-\u9fff\u3005]{2,}|[\u30a1-\u30fa\u30fc]{2,}|[A-Za-z][A-Za-z0-9-]+"
    r"|(?:^|(?<=[、。「はをに]))[\u3041-\u3096]{2,6}?(?=[はをがの])"
)
_UNSPACED_LANGUAGES = frozenset({"ja", "zh", "yue"})
_NOUN_FIRST = frozenset({"pt", "es", "fr", "it"})  # languages whose adjectives follow the noun


@dataclass(frozen=True, slots=True)
class Term:
    """A recurring noun or name in its most frequent form."""

    text: str
    key: tuple[str, ...]  # stems
    count: int
    is_name: bool = False


def recurring_terms(sentences: Sequence[TranscriptSentence], *, language: str) -> list[Term]:
    """Most frequent first; the people who speak are not what they speak about."""
    content = [each.text.replace("\u2019", "'") for each in sentences if not each.is_housekeeping]
    if primary_language(language) in _UNSPACED_LANGUAGES:
        ignored = speech_patterns(language).measures
        runs = Counter(run for text in content for run in _UNSPACED_NOUNS.findall(text) if run not in ignored)
        return [Term(run, tuple(stems(run, language=language)), count) for run, count in _recurring(runs)]
    names = _names(content, language=language)
    speakers = _speakers([each.text.replace("\u2019", "'") for each in sentences], names)
    found = [
        Term(name, tuple(stems(name, language=language)), count, is_name=True)
        for name, count in _recurring(names)
        if not speakers & set(name.split()) and len(name) >= MIN_CHARACTERS
    ]
    taken = {stem for name in names for stem in stems(name, language=language)}
    found += [each for each in _nouns(content, language=language) if not taken & set(each.key)]
    return sorted(found, key=lambda term: -term.count)[:MAX_TERMS]


def _recurring(counts: Counter[str]) -> list[tuple[str, int]]:
    return [(text, count) for text, count in counts.most_common() if count >= MIN_MENTIONS]


def _names(texts: Sequence[str], *, language: str) -> Counter[str]:
    """Runs of capitalized words inside a sentence; German capitalizes every noun."""
    found: Counter[str] = Counter()
    opening: Counter[str] = Counter()  # single words at the start of a sentence, which may be no names
    if primary_language(language) == "de":
        return found
    for text in texts:
        run: list[str] = []
        for number, token in enumerate([*_TOKEN.findall(text), "."]):
            is_function_word = vocabulary(language).is_stop_word(token.lower())
            if token[0].isupper() and len(token) > 1 and not (number == 0 and is_function_word) and token[:2] != "I'":
                run.append(token.removesuffix("'s"))
                continue
            name = " ".join(run)
            if run and not vocabulary(language).is_stop_word(name.lower()):
                counted = opening if len(run) == number == 1 else found
                counted[name] += 1
            run = []
    return found + Counter({word: count for word, count in opening.items() if word in found})


def _speakers(texts: Sequence[str], names: Counter[str]) -> set[str]:
    """Words of names by which people introduce themselves or address each other."""
    found = {
        word
        for text in texts
        for match in INTRODUCTION.finditer(text)
        for word in (match["name"] or match["here"]).split()
    }
    whole = "\n".join(texts)
    for name in names:
        escaped = re.escape(name)
        addressed = len(re.findall(rf", {escaped}[.,?!]|^{escaped}, ", whole, re.MULTILINE))
        if 2 * addressed >= names[name]:
            found |= set(name.split())
    return found


def _nouns(texts: Sequence[str], *, language: str) -> Iterator[Term]:
    mentions: Counter[str] = Counter()
    as_noun: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    compounds: dict[str, Counter[str]] = {}  # with the word before: "copper pipe"
    for text in texts:
        numbers = {word for each in find_numbers(text.lower(), language=language) for word in each.text.split()}
        tokens = _TOKEN.findall(_ELIDED.sub(r"\1' ", text))
        lower = ["", *(token.lower() for token in tokens), ""]
        is_content = [_may_be_noun(word, numbers, language=language) for word in lower]
        for at in range(1, len(lower) - 1):
            if not is_content[at] or not (key := stems(lower[at], language=language)):
                continue
            mentions[key[0]] += 1
            if not _is_in_noun_position(lower, is_content, at, language=language):
                continue
            as_noun[key[0]] += 1
            form = tokens[at - 1] if primary_language(language) == "de" else lower[at]
            forms.setdefault(key[0], Counter())[form] += 1
            if is_content[at - 1] and primary_language(language) not in _NOUN_FIRST:
                compounds.setdefault(key[0], Counter())[f"{lower[at - 1]} {form}"] += 1
    for stem, count in _recurring(mentions):
        if as_noun[stem] >= MIN_NOUN_SHARE * count:
            text = forms[stem].most_common(1)[0][0]
            compound, times = compounds.get(stem, Counter({"": 0})).most_common(1)[0]
            text = compound if times >= MIN_MENTIONS and 2 * times > as_noun[stem] else text
            if len(text) >= MIN_CHARACTERS:
                yield Term(text, tuple(stems(text, language=language)), count)


def _may_be_noun(word: str, numbers: set[str], *, language: str) -> bool:
    is_word = word[:1].isalpha() and word not in numbers and word not in speech_patterns(language).measures
    return is_word and not vocabulary(language).is_stop_word(word) and not word.endswith(("ly", "mente"))


def _is_in_noun_position(words: Sequence[str], is_content: Sequence[bool], at: int, *, language: str) -> bool:
    """After a determiner, or after an adjective that follows one; without lists for the language, a long word."""
    determiners = speech_patterns(language).before_noun
    if not determiners:
        return len(words[at]) > MIN_CHARACTERS
    if primary_language(language) in _NOUN_FIRST:
        return words[at - 1] in determiners
    before = at - 1
    while before > 0 and is_content[before]:
        before -= 1
    return words[before] in determiners and not is_content[at + 1] and words[at + 1] not in {"one", "ones"}
