"""Extracts key phrases by part-of-speech heuristics, frequency and position."""

# ruff: noqa: RUF001 - punctuation of many scripts

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cutroom.engines.writing.extractive.sentences import TranscriptSentence
from cutroom.engines.writing.extractive.speech_patterns import SpeechPatterns, speech_patterns
from cutroom.text.numbers import find_numbers
from cutroom.text.vocabulary import Vocabulary, stems, vocabulary
from cutroom.text.writing_systems import primary_language

MAX_WORDS = 4  # including connectors
MAX_PHRASES = 40
LONG_WORD = 3  # characters
OPENING_SENTENCES = 3  # greetings at the start often name the topic
INSIDE = 0.3  # weight of an occurrence inside a longer phrase
TWICE = 1.2  # weighted occurrences from which a multi-word phrase counts as established
HEAD_SHARE = 0.12  # minimum share of the head noun's occurrences that have the same modifier
_TOKEN = re.compile(r"(?P<word>[^\W_]+(?:['’-][^\W_]+)*)|(?P<mark>[^\s\w])")
# Runs of kanji or katakana are mostly nouns; a noun in hiragana is delimited by punctuation or particles.
_UNSPACED_NOUNS = re.compile(
    r"[\u3400-\u9fff\u3005]{2,}|[\u30a1-\u30faー]{2,}|[A-Za-z][A-Za-z0-9-]+"
    r"|(?:^|(?<=[、。「はをに]))[\u3041-\u3096]{2,6}?(?=[はをがの])"
)
_UNSPACED_LANGUAGES = frozenset({"ja", "zh", "yue"})
# Elisions in French and Italian: l'eau, dell'acqua.
_ELIDED = re.compile(r"\b([ldnsjmtc]|qu|un|dell|nell|all|sull|dall)['’](?=[^\W\d_])", re.IGNORECASE)
_ADVERB = re.compile(r"(?:ly|mente|ment)$")
_PAST = re.compile(r"[a-z]{3,}ed$")


@dataclass(frozen=True, slots=True)
class Keyphrase:
    """A phrase in its most frequent form, with its most frequent article."""

    text: str
    key: tuple[str, ...]  # stems
    score: float
    count: float
    article: str = ""
    is_name: bool = False
    is_noun: bool = True  # whether it is a noun phrase with high confidence

    @property
    def with_article(self) -> str:
        return (
            f"{self.article}{'' if self.article.endswith(chr(39)) else ' '}{self.text}" if self.article else self.text
        )


@dataclass(slots=True)
class _Occurrences:
    """Statistics of a phrase candidate."""

    forms: Counter[str] = field(default_factory=Counter)
    articles: Counter[tuple[str, str]] = field(default_factory=Counter)  # article and following form
    sentences: set[int] = field(default_factory=set)
    first: int = 0
    count: float = 0.0
    as_noun: int = 0
    as_verb: int = 0
    capitals: int = 0  # inside a sentence
    as_whole_noun: int = 0  # as a noun, outside of longer phrases


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    lower: str
    before: str  # the previous word of the clause, or empty
    after: str
    first: bool  # in its sentence


def extract_keyphrases(
    sentences: Sequence[TranscriptSentence], *, language: str, announced: int | None = None
) -> list[Keyphrase]:
    """Best first, without overlapping phrases; `announced` is the index of the sentence that announces the topic."""
    seen: dict[tuple[str, ...], _Occurrences] = {}
    words: Counter[str] = Counter(stem for sentence in sentences for stem in sentence.stems)
    unspaced = primary_language(language) in _UNSPACED_LANGUAGES
    verbs = frozenset() if unspaced else _verbs(sentences, language=language)
    for at, sentence in enumerate(sentences):
        if sentence.is_housekeeping and at >= OPENING_SENTENCES:
            continue
        found = (
            _unspaced_runs(sentence.text, speech_patterns(language).measures)
            if unspaced
            else _runs(sentence.text, verbs, language=language)
        )
        for run in found:
            _count(seen, run, at, language=language)
            if at == announced:
                _count(seen, run, at, language=language)
    _merge_into_compounds(seen, head_first=speech_patterns(language).head_first)
    ranked = sorted(
        (_phrase(key, each, words, len(sentences), language=language) for key, each in seen.items()),
        key=lambda phrase: (-phrase.score, phrase.text),
    )
    scored = [each for each in ranked if each.score > 0]
    return _without_overlaps([each for each in scored if each.is_noun] or scored)[:MAX_PHRASES]


def _tokens(text: str) -> Iterator[list[_Token]]:
    """The words of each clause, with their neighbors."""
    clause: list[str] = []
    first = True
    for match in [*_TOKEN.finditer(_ELIDED.sub(r"\1' ", text)), None]:
        if match is not None and match["word"]:
            clause.append(match["word"].replace("’", "'"))
            continue
        if match is None or match["mark"] not in "'\"“”«»":
            padded = ["", *clause, ""]
            yield [
                _Token(word, word.lower(), padded[at].lower(), padded[at + 2].lower(), first and at == 0)
                for at, word in enumerate(clause)
            ]
            first = first and not clause
            clause = []


def _verbs(sentences: Sequence[TranscriptSentence], *, language: str) -> frozenset[str]:
    """Words used more often as verbs than as nouns, judged by their neighbors."""
    patterns, function_words = speech_patterns(language), vocabulary(language)
    as_verb: Counter[str] = Counter()
    as_noun: Counter[str] = Counter()
    for sentence in sentences:
        for clause in _tokens(sentence.text):
            for token in clause:
                if function_words.is_stop_word(token.lower) or (token.text[0].isupper() and not token.first):
                    continue
                leads = token.after in patterns.objects and token.before not in patterns.before_noun
                as_verb[token.lower] += (token.before in patterns.before_verb) + leads
                as_noun[token.lower] += 2 * (
                    token.before in patterns.before_noun and token.after not in patterns.objects
                )
    return frozenset(word for word, count in as_verb.items() if count > as_noun[word])


def _runs(text: str, verbs: frozenset[str], *, language: str) -> Iterator[list[_Token]]:
    """Adjacent words that may form a phrase: content words, and connectors between two nouns."""
    patterns, function_words = speech_patterns(language), vocabulary(language)
    for clause in _tokens(text):
        numbers = _number_words(clause, language=language)
        plain = [
            not _may_belong(
                token, verbs, is_function_word=_is_function_word(token, function_words) or token.lower in numbers
            )
            for token in clause
        ]
        for start in range(len(clause)):
            for end in range(start + 1, min(len(clause), start + MAX_WORDS) + 1):
                inner = range(start + 1, end - 1)
                if (
                    plain[start]
                    or plain[end - 1]
                    or any(plain[at] and not _joins(clause, at, patterns) for at in inner)
                ):
                    continue
                if sum(not plain[at] for at in range(start, end)) > 3 or _is_broken(clause[start:end], language):
                    continue
                yield clause[start:end]


def _is_function_word(token: _Token, function_words: Vocabulary) -> bool:
    """Whether the token is a function word; capitalized inside a sentence it is part of a name."""
    return function_words.is_stop_word(token.lower) and (token.first or not token.text[0].isupper())


def _number_words(clause: Sequence[_Token], *, language: str) -> frozenset[str]:
    """Spelled-out numbers and their units, which are never topics."""
    spelled = find_numbers(" ".join(token.lower for token in clause), language=primary_language(language))
    return speech_patterns(language).measures.union(
        word for mention in spelled for word in re.split(r"[\s-]", mention.text)
    )


def _joins(clause: Sequence[_Token], at: int, patterns: SpeechPatterns) -> bool:
    return clause[at].lower in patterns.connectors


def _may_belong(token: _Token, verbs: frozenset[str], *, is_function_word: bool) -> bool:
    return not (is_function_word or token.lower in verbs or token.text.isdigit() or len(token.lower) < 2)


def _is_broken(run: Sequence[_Token], language: str) -> bool:
    """Whether the run is not a noun phrase: adverbs at its edges, or an English past tense after a noun."""
    if any(_ADVERB.search(token.lower) and len(token.lower) > 5 for token in (run[0], run[-1])):
        return True
    past = primary_language(language) == "en" and any(_PAST.fullmatch(token.lower) for token in run[1:])
    # German capitalizes every noun, and inflected adjectives do not suit a title.
    lower = primary_language(language) == "de" and not all(token.text[0].isupper() for token in run)
    return past or lower


def _unspaced_runs(text: str, ignored: frozenset[str]) -> Iterator[list[_Token]]:
    for match in _UNSPACED_NOUNS.finditer(text):
        if match.group() not in ignored:
            yield [_Token(match.group(), match.group().lower(), "", "", first=False)]


def _count(seen: dict[tuple[str, ...], _Occurrences], run: Sequence[_Token], at: int, *, language: str) -> None:
    text = " ".join(token.text for token in run)
    key = (text.lower(),) if len(run) == 1 and not text.isascii() else tuple(stems(text, language=language))
    if not key:
        return
    patterns = speech_patterns(language)
    entry = seen.setdefault(key, _Occurrences(first=at))
    own_capital = run[0].text[0].isupper() and not run[0].first
    own_capital = own_capital or (len(run) > 1 and all(token.text[0].isupper() for token in run))
    keeps = own_capital or not run[0].first or run[0].text[1:2].isupper() or primary_language(language) == "de"
    form = text if keeps else text[0].lower() + text[1:]
    entry.forms[form] += 1
    # Inside a longer phrase, a word names something else: a coffee grinder is not coffee.
    modifier = run[0].before if patterns.head_first else run[-1].after
    inside = bool(modifier) and not vocabulary(language).is_stop_word(modifier) and modifier not in patterns.connectors
    entry.count += INSIDE if inside else 1.0
    entry.sentences.add(at)
    entry.as_noun += run[0].before in patterns.before_noun
    entry.as_whole_noun += not inside and (run[0].before in patterns.before_noun or not patterns.before_noun)
    entry.as_verb += run[0].before in patterns.before_verb or run[-1].after in patterns.objects
    entry.capitals += own_capital and all(t.text[0].isupper() or t.lower in patterns.connectors for t in run)
    article = dict(patterns.contractions).get(run[0].before, run[0].before)
    if article in patterns.articles:
        entry.articles[article, form] += 1
    elif run[0].before in patterns.connectors or _is_alone(run[0].before, language=language):
        entry.articles["", form] += 1


def _is_alone(before: str, *, language: str) -> bool:
    """Whether the phrase was said without an article or modifier before it."""
    patterns = speech_patterns(language)
    return not before or (before not in patterns.before_noun and vocabulary(language).is_stop_word(before))


def _merge_into_compounds(seen: dict[tuple[str, ...], _Occurrences], *, head_first: bool) -> None:
    """Later mentions of "chain" after "bike chain" count as mentions of "bike chain"."""
    for key, entry in seen.items():
        alone = seen.get(key[:1] if head_first else key[-1:])
        if len(key) < 2 or entry.count < TWICE or alone is None or entry.first > alone.first:
            continue
        if not alone.count > entry.count >= HEAD_SHARE * alone.count:
            continue
        entry.count, entry.sentences = alone.count, alone.sentences
        for (article, form), count in alone.articles.items():
            for own in entry.forms:
                if form == own.split()[0 if head_first else -1]:
                    entry.articles[article, own] += count


def _phrase(key: tuple[str, ...], seen: _Occurrences, words: Counter[str], total: int, *, language: str) -> Keyphrase:
    """Scores a phrase by its words, frequency, noun confidence, position and spread."""
    is_name = primary_language(language) != "de" and seen.capitals * 2 > seen.count
    size = len(key)
    weight = sum(math.log(1 + words.get(stem, 1)) for stem in key) / math.sqrt(size)
    again = math.log(1 + seen.count) * (1.0 + len(seen.sentences) / max(total, 1))
    noun = (1 + seen.as_noun) / (1 + seen.as_noun + 2 * seen.as_verb)
    early = 1.0 + 0.3 * (1 - seen.first / max(total, 1))
    everywhere = 1.0 + 0.25 * len({4 * at // max(total, 1) for at in seen.sentences})
    longer = {1: 1.0, 2: 1.5, 3: 1.4}.get(size, 1.2)
    once = (0.6 if is_name else 0.35) if size > 1 and seen.count < TWICE else 1.0
    text = max(seen.forms, key=lambda form: (seen.forms[form], form.islower(), form))
    article = max(_articles(seen, text), key=lambda each: (seen.articles[each, text], each), default="")
    score = weight * again * noun * early * everywhere * longer * once * (1.15 if is_name else 1.0)
    score = 0.0 if len(text) < 3 and text.isascii() else score
    is_noun = is_name or (seen.as_whole_noun > 0 and (size == 1 or seen.count >= TWICE))
    if not speech_patterns(language).before_noun and primary_language(language) not in _UNSPACED_LANGUAGES:
        # Without patterns for the language, longer words are more likely to be content words.
        is_noun = is_name or (len(text) > LONG_WORD and seen.count >= TWICE)
    return Keyphrase(text, key, score, seen.count, "" if is_name else article, is_name, is_noun)


def _articles(seen: _Occurrences, form: str) -> list[str]:
    return [article for article, own in seen.articles if own == form]


def _without_overlaps(ranked: Sequence[Keyphrase]) -> list[Keyphrase]:
    """Drops phrases contained in, or containing, a better one."""
    kept: list[Keyphrase] = []
    for phrase in ranked:
        if not any(_overlaps(phrase, other) for other in kept):
            kept.append(phrase)
    return kept


def _overlaps(left: Keyphrase, right: Keyphrase) -> bool:
    return set(left.key) <= set(right.key) or set(right.key) <= set(left.key) or left.text in right.text
