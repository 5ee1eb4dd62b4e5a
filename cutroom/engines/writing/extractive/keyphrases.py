"""What a film is about, in its own words: phrases that come again, stand behind articles, and are no verbs."""

# ruff: noqa: RUF001 (marks of many scripts look alike)

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cutroom.engines.writing.extractive.sentences import Sentence
from cutroom.engines.writing.extractive.speech import SpeechPatterns, speech
from cutroom.text.numbers import read_numbers
from cutroom.text.vocabulary import Vocabulary, stems, vocabulary
from cutroom.text.writing_systems import base_of

MAX_WORDS = 4  # with those that join two nouns
MAX_PHRASES = 40
LONG_WORD = 3  # letters
OPENING_SENTENCES = 3  # who welcomes guests says what for
INSIDE = 0.3  # what an occurrence counts that may be a part of a longer phrase
TWICE = 1.2  # occurrences from which a phrase of several words is one
HEAD_SHARE = 0.12  # of the occurrences of its noun that have the same word with it
_TOKEN = re.compile(r"(?P<word>[^\W_]+(?:['’-][^\W_]+)*)|(?P<mark>[^\s\w])")
# Runs of Chinese characters and katakana are nouns more often than not.
# A noun in hiragana stands between a mark or a particle and a particle.
_SIGNS = re.compile(
    r"[\u3400-\u9fff\u3005]{2,}|[\u30a1-\u30faー]{2,}|[A-Za-z][A-Za-z0-9-]+"
    r"|(?:^|(?<=[、。「はをに]))[\u3041-\u3096]{2,6}?(?=[はをがの])"
)
_SIGN_LANGUAGES = frozenset({"ja", "zh", "yue"})
# French and Italian write small words and the next as one: l'eau, dell'acqua.
_ELIDED = re.compile(r"\b([ldnsjmtc]|qu|un|dell|nell|all|sull|dall)['’](?=[^\W\d_])", re.IGNORECASE)
_ADVERB = re.compile(r"(?:ly|mente|ment)$")
_PAST = re.compile(r"[a-z]{3,}ed$")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase as it was most often said; `article` is what stood before it most often, if anything did."""

    text: str
    key: tuple[str, ...]  # its stems
    score: float
    count: float
    article: str = ""
    is_name: bool = False
    is_sure: bool = True  # that it is a noun

    @property
    def full(self) -> str:
        return (
            f"{self.article}{'' if self.article.endswith(chr(39)) else ' '}{self.text}" if self.article else self.text
        )


@dataclass(slots=True)
class _Seen:
    """What is known of a phrase while a film is read."""

    forms: Counter[str] = field(default_factory=Counter)
    articles: Counter[tuple[str, str]] = field(default_factory=Counter)  # with the form that stood behind
    sentences: set[int] = field(default_factory=set)
    first: int = 0
    count: float = 0.0
    as_noun: int = 0
    as_verb: int = 0
    capitals: int = 0  # where none is due
    surely: int = 0  # as a noun, and not as a part of a longer phrase


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    lower: str
    before: str  # the word before it in the same clause, or nothing
    after: str
    first: bool  # of its sentence


def keyphrases(sentences: Sequence[Sentence], *, language: str, announced: int | None = None) -> list[Phrase]:
    """The best first, without those that say the same as a better one; `announced` says what the film is about."""
    seen: dict[tuple[str, ...], _Seen] = {}
    words: Counter[str] = Counter(stem for sentence in sentences for stem in sentence.stems)
    signs = base_of(language) in _SIGN_LANGUAGES
    verbs = frozenset() if signs else _verbs(sentences, language=language)
    for at, sentence in enumerate(sentences):
        if sentence.serves and at >= OPENING_SENTENCES:
            continue
        found = (
            _sign_runs(sentence.text, speech(language).measures)
            if signs
            else _runs(sentence.text, verbs, language=language)
        )
        for run in found:
            _note(seen, run, at, language=language)
            if at == announced:
                _note(seen, run, at, language=language)
    _promote(seen, head_first=speech(language).head_first)
    ranked = sorted(
        (_phrase(key, each, words, len(sentences), language=language) for key, each in seen.items()),
        key=lambda phrase: (-phrase.score, phrase.text),
    )
    scored = [each for each in ranked if each.score > 0]
    return _different([each for each in scored if each.is_sure] or scored)[:MAX_PHRASES]


def _tokens(text: str) -> Iterator[list[_Token]]:
    """The words of each clause, with their neighbours."""
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


def _verbs(sentences: Sequence[Sentence], *, language: str) -> frozenset[str]:
    """Words that are used as verbs more often than as nouns: told by their neighbours."""
    known, small = speech(language), vocabulary(language)
    as_verb: Counter[str] = Counter()
    as_noun: Counter[str] = Counter()
    for sentence in sentences:
        for clause in _tokens(sentence.text):
            for token in clause:
                if small.says_little(token.lower) or (token.text[0].isupper() and not token.first):
                    continue
                leads = token.after in known.objects and token.before not in known.before_noun
                as_verb[token.lower] += (token.before in known.before_verb) + leads
                as_noun[token.lower] += 2 * (token.before in known.before_noun and token.after not in known.objects)
    return frozenset(word for word, count in as_verb.items() if count > as_noun[word])


def _runs(text: str, verbs: frozenset[str], *, language: str) -> Iterator[list[_Token]]:
    """Neighbouring words that may be a phrase: nothing small in them but what joins two nouns."""
    known, small = speech(language), vocabulary(language)
    for clause in _tokens(text):
        numbers = _number_words(clause, language=language)
        plain = [
            not _may_belong(token, verbs, small_word=_is_small(token, small) or token.lower in numbers)
            for token in clause
        ]
        for start in range(len(clause)):
            for end in range(start + 1, min(len(clause), start + MAX_WORDS) + 1):
                inner = range(start + 1, end - 1)
                if plain[start] or plain[end - 1] or any(plain[at] and not _joins(clause, at, known) for at in inner):
                    continue
                if sum(not plain[at] for at in range(start, end)) > 3 or _is_broken(clause[start:end], language):
                    continue
                yield clause[start:end]


def _is_small(token: _Token, small: Vocabulary) -> bool:
    """A small word with a capital inside a sentence is a part of a name."""
    return small.says_little(token.lower) and (token.first or not token.text[0].isupper())


def _number_words(clause: Sequence[_Token], *, language: str) -> frozenset[str]:
    """Numbers in words, and what they count: no film is about them."""
    spelled = read_numbers(" ".join(token.lower for token in clause), language=base_of(language))
    return speech(language).measures.union(word for mention in spelled for word in re.split(r"[\s-]", mention.text))


def _joins(clause: Sequence[_Token], at: int, known: SpeechPatterns) -> bool:
    return clause[at].lower in known.connectors


def _may_belong(token: _Token, verbs: frozenset[str], *, small_word: bool) -> bool:
    return not (small_word or token.lower in verbs or token.text.isdigit() or len(token.lower) < 2)


def _is_broken(run: Sequence[_Token], language: str) -> bool:
    """Adverbs at the edges, and English verbs in the past behind a noun, make no phrase."""
    if any(_ADVERB.search(token.lower) and len(token.lower) > 5 for token in (run[0], run[-1])):
        return True
    past = base_of(language) == "en" and any(_PAST.fullmatch(token.lower) for token in run[1:])
    # In German a noun has a capital, wherever it stands, and what describes it bends with the case.
    lower = base_of(language) == "de" and not all(token.text[0].isupper() for token in run)
    return past or lower


def _sign_runs(text: str, small: frozenset[str]) -> Iterator[list[_Token]]:
    for match in _SIGNS.finditer(text):
        if match.group() not in small:
            yield [_Token(match.group(), match.group().lower(), "", "", first=False)]


def _note(seen: dict[tuple[str, ...], _Seen], run: Sequence[_Token], at: int, *, language: str) -> None:
    text = " ".join(token.text for token in run)
    key = (text.lower(),) if len(run) == 1 and not text.isascii() else tuple(stems(text, language=language))
    if not key:
        return
    known = speech(language)
    entry = seen.setdefault(key, _Seen(first=at))
    own_capital = run[0].text[0].isupper() and not run[0].first
    own_capital = own_capital or (len(run) > 1 and all(token.text[0].isupper() for token in run))
    keeps = own_capital or not run[0].first or run[0].text[1:2].isupper() or base_of(language) == "de"
    form = text if keeps else text[0].lower() + text[1:]
    entry.forms[form] += 1
    # A word inside a longer phrase is not what is spoken of: a coffee grinder is no coffee.
    beside = run[0].before if known.head_first else run[-1].after
    inside = bool(beside) and not vocabulary(language).says_little(beside) and beside not in known.connectors
    entry.count += INSIDE if inside else 1.0
    entry.sentences.add(at)
    entry.as_noun += run[0].before in known.before_noun
    entry.surely += not inside and (run[0].before in known.before_noun or not known.before_noun)
    entry.as_verb += run[0].before in known.before_verb or run[-1].after in known.objects
    entry.capitals += own_capital and all(t.text[0].isupper() or t.lower in known.connectors for t in run)
    article = dict(known.contracted).get(run[0].before, run[0].before)
    if article in known.articles:
        entry.articles[article, form] += 1
    elif run[0].before in known.connectors or _is_alone(run[0].before, language=language):
        entry.articles["", form] += 1


def _is_alone(before: str, *, language: str) -> bool:
    """Whether nothing describes the phrase from the left, so that it was said without an article."""
    known = speech(language)
    return not before or (before not in known.before_noun and vocabulary(language).says_little(before))


def _promote(seen: dict[tuple[str, ...], _Seen], *, head_first: bool) -> None:
    """Who says "bike chain" and then only "chain" speaks of the bike chain."""
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


def _phrase(key: tuple[str, ...], seen: _Seen, words: Counter[str], total: int, *, language: str) -> Phrase:
    """A phrase weighs what its words weigh, and more if it comes again, is a noun, and comes early."""
    is_name = base_of(language) != "de" and seen.capitals * 2 > seen.count
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
    is_sure = is_name or (seen.surely > 0 and (size == 1 or seen.count >= TWICE))
    if not speech(language).before_noun and base_of(language) not in _SIGN_LANGUAGES:
        # Of a language about which nothing is known, longer words are likelier to mean something.
        is_sure = is_name or (len(text) > LONG_WORD and seen.count >= TWICE)
    return Phrase(text, key, score, seen.count, "" if is_name else article, is_name, is_sure)


def _articles(seen: _Seen, form: str) -> list[str]:
    return [article for article, own in seen.articles if own == form]


def _different(ranked: Sequence[Phrase]) -> list[Phrase]:
    """Without phrases inside others that were taken, and the other way round."""
    taken: list[Phrase] = []
    for phrase in ranked:
        if not any(_same(phrase, other) for other in taken):
            taken.append(phrase)
    return taken


def _same(left: Phrase, right: Phrase) -> bool:
    return set(left.key) <= set(right.key) or set(right.key) <= set(left.key) or left.text in right.text
