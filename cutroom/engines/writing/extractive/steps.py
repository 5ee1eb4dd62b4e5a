"""Extracts step-by-step instructions from a transcript."""

import re
from collections.abc import Sequence

from cutroom.engines.writing.extractive.quotes import capitalized
from cutroom.engines.writing.extractive.sentences import TranscriptSentence
from cutroom.engines.writing.extractive.speech_patterns import NEGATIONS, SpeechPatterns, speech_patterns
from cutroom.text.numbers import find_numbers
from cutroom.text.vocabulary import vocabulary
from cutroom.text.writing_systems import primary_language

MIN_STEPS = 3
MAX_STEPS = 25
MIN_STEP_SHARE = 0.12  # of the sentences of a guide
_WORDS = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
# Verbs with an enclitic object: "misture-o", "d\u00e9jalo", "mescolatelo".
_ATTACHED = re.compile(
    r"(?:[aeiou\u00e1\u00e9\u00ed]r?-(?:[oa]s?|l[ea]s?)|[\u00e1\u00e9\u00ed]\w+l[oae]s?|\w+te(?:lo|la|li|le))$"
)


def extract_steps(sentences: Sequence[TranscriptSentence], *, language: str) -> list[str]:
    """Instructions in order, without sequence words, with their quantities; empty if this is no guide."""
    found: list[str] = []
    count, speaker = 0, None
    for each in sentences:
        if step := as_step(each, language=language):
            found.append(step)
            count, speaker = count + 1, each.speaker
        elif found and speaker == each.speaker and _has_quantity(each, language=language):
            found[-1] += f" {each.text}"  # a quantity belongs to the step before it
        else:
            speaker = None
    return found[:MAX_STEPS] if count >= max(MIN_STEPS, MIN_STEP_SHARE * len(sentences)) else []


def as_step(sentence: TranscriptSentence, *, language: str) -> str:
    """The sentence as a step, or an empty string if it is not an instruction."""
    if sentence.is_housekeeping or sentence.is_question or sentence.word_count < 2:
        return ""
    patterns = speech_patterns(language)
    if primary_language(language) == "ja":
        return sentence.text if patterns.obligation.search(sentence.text) else ""
    lead, _, rest = sentence.text.partition(": ")  # as in "first things first: turn off the water"
    is_lead = bool(rest) and lead.split()[0].lower() in patterns.sequence
    text, had_sequence = (rest, True) if is_lead else _without_sequence(sentence.text, patterns)
    if match := patterns.obligation.match(text):
        rest = text[match.end() :]
        return capitalized(rest) if rest else ""
    if _is_imperative(text, language=language) or _is_imperative_after_adverbial(text, language=language):
        return capitalized(text)
    words = [word.lower() for word in _WORDS.findall(text)]
    leads = (
        had_sequence
        and words[:1]
        and words[0] in {"you", "we", "i"}
        and words[1:2]
        and not vocabulary(language).is_stop_word(words[1])
    )
    return capitalized(text.split(" ", 1)[1]) if leads and primary_language(language) == "en" else ""


def _has_quantity(sentence: TranscriptSentence, *, language: str) -> bool:
    return not sentence.is_question and bool(find_numbers(sentence.text, language=primary_language(language)))


def _without_sequence(text: str, patterns: SpeechPatterns) -> tuple[str, bool]:
    """The sentence without leading sequence words such as "first", and whether there were any."""
    found = False
    for _ in range(3):
        lower = text.lower()
        word = next(
            (
                each
                for each in sorted(patterns.sequence, key=len, reverse=True)
                if re.match(rf"{re.escape(each)}\b", lower)
            ),
            "",
        )
        if not word:
            break
        text, found = text[len(word) :].lstrip(" ,;:-"), True
    return text, found


def _is_imperative(text: str, *, language: str) -> bool:
    """Whether the sentence starts with a verb, judged by the following word: an article, an object, or a number."""
    patterns, function_words = speech_patterns(language), vocabulary(language)
    tokens = _WORDS.findall(text)
    lower = [token.lower().replace("\u2019", "'") for token in tokens]
    if len(lower) > 2 and lower[0] == "do" and lower[1] in NEGATIONS:
        lower = lower[2:]
    elif len(lower) > 2 and lower[0] in NEGATIONS:
        lower = lower[1:]
    if len(lower) < 2 or patterns.objects == frozenset():
        return False
    first, second = lower[0], lower[1]
    if _ATTACHED.search(first):
        return True
    is_listed = first in patterns.imperatives or (second == "sie" and primary_language(language) == "de")
    if is_listed:
        return second not in patterns.before_verb - patterns.before_noun - patterns.objects and second not in {
            "us",
            "of",
        }
    if first in patterns.before_verb | patterns.before_noun | patterns.measures or function_words.is_stop_word(first):
        return False
    if primary_language(language) == "en":
        # Excludes "comes the day" and "putting it back".
        may_be_verb = not first.endswith(("ly", "ing", "ed")) and (not first.endswith("s") or first.endswith("ss"))
        return may_be_verb and (second in patterns.objects or second.isdigit())
    # In languages that drop the subject, only unambiguous imperative endings count.
    return (
        any(first.endswith(end) for end in patterns.imperative_endings)
        and second in patterns.objects | patterns.before_noun
    )


def _is_imperative_after_adverbial(text: str, *, language: str) -> bool:
    """As in "every morning, feed the dog"."""
    before, comma, after = text.partition(", ")
    first = before.split(" ", 1)[0].lower()
    is_adverbial = first in speech_patterns(language).before_noun | speech_patterns(language).phrase_starts
    return bool(comma) and len(before.split()) <= 6 and is_adverbial and _is_imperative(after, language=language)
