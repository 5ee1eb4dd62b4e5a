"""Turns a run into a moment: with its title, its description, and why it was chosen."""

from collections.abc import Sequence

from cutroom.products.shorts.moments.keywords import key_stems
from cutroom.products.shorts.moments.runs import SHARES, Asked, Run, features
from cutroom.products.shorts.moments.study import TalkAnalysis
from cutroom.products.shorts.moments.talk import Moment
from cutroom.products.shorts.moments.titles import clock_text, description_of, reason_of, title_of
from cutroom.products.transcripts.scripts import joined
from cutroom.text.vocabulary import stems, words_of

KEY_WORDS = 2
WISH_WORTH = 3.0  # beside the other features, when the reason is build_moment
LOUD = 0.6
# What few moments have says more about one than what most have.
_NOTABLE = {"central": 1.0, "energy": 2.0, "laughs": 4.0, "cuts": 1.0}
_SIMPLE = {
    "central": "keeps to one topic",
    "energy": "is spoken with energy",
    "laughs": "has laughter",
    "cuts": "has lively pictures",
}


def build_moment(studied: TalkAnalysis, run: Run, asked: Asked) -> Moment:
    texts = _texts(studied, run)
    worths = [_worth(studied, run.first + at) for at in range(len(texts))]
    title = title_of(
        texts, worths, language=studied.film.language, fallback=f"Moment at {clock_text(run.start_seconds)}"
    )
    return Moment(
        run.start_seconds,
        run.end_seconds,
        round(run.score, 4),
        title,
        description_of(texts, worths),
        _reason(studied, run, asked, texts),
        (run.first, run.last + 1),
    )


def _texts(studied: TalkAnalysis, run: Run) -> list[str]:
    """What is said in it; of a sentence that it cuts off, the words that are still heard."""
    texts = [sentence.text for sentence in studied.sentences[run.first : run.last + 1]]
    if run.is_cut:
        begin = max(studied.places.first[run.last], run.utterances[0])
        heard = [each.text for each in studied.spoken[begin : run.utterances[1] + 1]]
        texts[-1] = joined(heard, language=studied.film.language)
    return texts


def _worth(studied: TalkAnalysis, sentence: int) -> float:
    worth = studied.worth[sentence] + 0.5 * studied.central[sentence] + 0.3 * studied.opening[sentence]
    return worth + (2 * studied.relevance[sentence] if studied.relevance is not None else 0.0)


def _reason(studied: TalkAnalysis, run: Run, asked: Asked, texts: Sequence[str]) -> str:
    parts = features(studied, run, asked)
    told_parts = [(_NOTABLE[name] * SHARES[name] * parts[name], text) for name, text in _SIMPLE.items()]
    if parts["energy"] < LOUD:
        told_parts = [each for each in told_parts if each[1] != _SIMPLE["energy"]]
    if studied.asks[run.first]:
        told_parts.append((SHARES["opening"], "opens with a question"))
    elif studied.opening[run.first] >= 0.5:
        told_parts.append((SHARES["opening"] / 2, "opens with a clear statement"))
    if studied.relevance is not None:
        told_parts.append((WISH_WORTH * parts["wish"], "is close to what was asked for"))
    if words := _key_words(studied, run, texts):
        told_parts.append((SHARES["content"] * max(0.3, parts["content"]), f"says much about {words}"))
    return reason_of(told_parts, otherwise="stands on its own")


def _key_words(studied: TalkAnalysis, run: Run, texts: Sequence[str]) -> str:
    """The words that stand out, in a form in which they were said."""
    keys = key_stems(studied.stems[run.first : run.last + 1], rarity=studied.rarity, count=KEY_WORDS)
    language = studied.film.language
    forms: dict[str, str] = {}
    for word in words_of(" ".join(texts)):
        for stem in stems(word, language=language):
            forms.setdefault(stem, word)
    return " and ".join(f"“{forms[stem]}”" for stem in keys if stem in forms)
