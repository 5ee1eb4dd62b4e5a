"""What a film tells its viewers to do, in order."""

import re
from collections.abc import Sequence

from cutroom.engines.writing.extractive.quotes import capitalised
from cutroom.engines.writing.extractive.sentences import Sentence
from cutroom.engines.writing.extractive.speech import DENIALS, SpeechPatterns, speech
from cutroom.text.vocabulary import vocabulary
from cutroom.text.writing_systems import base_of

MIN_STEPS = 3
MAX_STEPS = 25
_WORDS = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
# Verbs with an object in one word: "misture-o", "d\u00e9jalo", "mescolatelo".
_ATTACHED = re.compile(
    r"(?:[aeiou\u00e1\u00e9\u00ed]r?-(?:[oa]s?|l[ea]s?)|[\u00e1\u00e9\u00ed]\w+l[oae]s?|\w+te(?:lo|la|li|le))$"
)


def steps_of(sentences: Sequence[Sentence], *, language: str) -> list[str]:
    """Sentences in which somebody is told to do something, without the words that only count them; or none."""
    found = [step for each in sentences if (step := step_in(each, language=language))]
    return found[:MAX_STEPS] if len(found) >= MIN_STEPS else []


def step_in(sentence: Sentence, *, language: str) -> str:
    """The sentence as a step, or nothing where it is none."""
    if sentence.serves or sentence.asks or sentence.words < 2:
        return ""
    known = speech(language)
    if base_of(language) == "ja":
        return sentence.text if known.duty.search(sentence.text) else ""
    text, counted = _without_sequence(sentence.text, known)
    if match := known.duty.match(text):
        rest = text[match.end() :]
        return capitalised(rest) if rest else ""
    if _commands(text, language=language) or _commands_later(text, language=language):
        return capitalised(text)
    words = [word.lower() for word in _WORDS.findall(text)]
    leads = (
        counted
        and words[:1]
        and words[0] in {"you", "we", "i"}
        and words[1:2]
        and not vocabulary(language).says_little(words[1])
    )
    return capitalised(text.split(" ", 1)[1]) if leads and base_of(language) == "en" else ""


def _without_sequence(text: str, known: SpeechPatterns) -> tuple[str, bool]:
    """The sentence without "first" or "then" before it, and whether there was any."""
    counted = False
    for _ in range(3):
        lower = text.lower()
        word = next(
            (
                each
                for each in sorted(known.sequence, key=len, reverse=True)
                if re.match(rf"{re.escape(each)}\b", lower)
            ),
            "",
        )
        if not word:
            break
        text, counted = text[len(word) :].lstrip(" ,;:-"), True
    return text, counted


def _commands(text: str, *, language: str) -> bool:
    """A verb at the start, told by what follows it: an article, an object, or a number."""
    known, small = speech(language), vocabulary(language)
    tokens = _WORDS.findall(text)
    lower = [token.lower().replace("\u2019", "'") for token in tokens]
    if len(lower) > 2 and lower[0] == "do" and lower[1] in DENIALS:
        lower = lower[2:]
    elif len(lower) > 2 and lower[0] in DENIALS:
        lower = lower[1:]
    if len(lower) < 2 or known.objects == frozenset():
        return False
    first, second = lower[0], lower[1]
    if _ATTACHED.search(first):
        return True
    listed = first in known.commands or (second == "sie" and base_of(language) == "de")
    if listed:
        return second not in known.before_verb - known.before_noun - known.objects and second not in {"us", "of"}
    if first in known.before_verb | known.before_noun | known.measures or small.says_little(first):
        return False
    if base_of(language) == "en":
        # "Comes the day" and "putting it back" tell nobody to do anything.
        told = not first.endswith(("ly", "ing", "ed")) and (not first.endswith("s") or first.endswith("ss"))
        return told and (second in known.objects or second.isdigit())
    # Elsewhere a verb without a subject may be a story, so only forms that are surely commands count.
    return any(first.endswith(end) for end in known.command_ends) and second in known.objects | known.before_noun


def _commands_later(text: str, *, language: str) -> bool:
    """As in "every morning, feed the dog": a few words of when and where come first."""
    before, comma, behind = text.partition(", ")
    first = before.split(" ", 1)[0].lower()
    small = first in speech(language).before_noun or vocabulary(language).says_little(first)
    return bool(comma) and len(before.split()) <= 6 and small and _commands(behind, language=language)
