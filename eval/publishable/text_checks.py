"""What a reader checks in a written text; shares no code with the writer."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\u00c0-\u00dc\"\u201c])")
_STEP = re.compile(r"^\d+\. (.+)$")
_TIME = re.compile(r"^\d+:\d\d(?::\d\d)? (.+)$")
_QUOTE = re.compile(r"\u201c(.+?)\u201d")
_HEADINGS = frozenset(
    {
        "Chapters",
        "Steps",
        "This video gives no step-by-step instructions. What it covers:",
        "Capítulos",
        "Passos",
        "Este vídeo não traz instruções passo a passo. O que ele diz:",
    }
)
# Words that need another word after them.
_UNFINISHED = frozenset(
    {"a", "an", "the", "of", "to", "and", "or", "but", "with", "from", "by", "for", "in", "at", "on", "into", "my"}
    | {"your", "his", "her", "its", "our", "their", "because", "that", "which", "who", "is", "are", "was", "were", "be"}
    | {"o", "um", "uma", "de", "do", "da", "dos", "das", "e", "ou", "mas", "com", "por", "para", "em", "no", "na"}
    | {"que", "se"}
)
_REPLIES = frozenset(
    {"and", "but", "or", "because", "so", "then", "yes", "no", "well", "also"}
    | {"e", "mas", "ou", "porque", "então", "sim", "não"}
)
PHRASE_WORDS = 4


def lines_of(text: str) -> list[str]:
    """The written lines, without headings, numbering, times, hashtags and Markdown."""
    found = []
    for line in text.splitlines():
        rest = line.strip().lstrip("#").strip() if line.startswith(("# ", "## ")) else line.strip()
        if not rest or rest in _HEADINGS or rest.startswith("#"):
            continue
        for pattern in (_STEP, _TIME):
            rest = match[1] if (match := pattern.match(rest)) else rest
        found.append(rest)
    return found


def ungrounded(text: str, said: Sequence[str]) -> list[str]:
    """Words and numbers that were not said."""
    known = {word for line in said for word in words(line)}
    return [word for line in lines_of(text) for word in words(line) if word not in known]


def fragments(text: str, said: Sequence[str]) -> list[str]:
    """Sentences that were not said like this, begin as a reply, or stop before a word that they need."""
    found = []
    for line in lines_of(text):
        for part in _QUOTE.findall(line) or [line]:
            found += [each for each in _SENTENCE.split(part) if not _is_whole(each, said)]
    return found


def _is_whole(text: str, said: Sequence[str]) -> bool:
    own = words(text)
    if not own or own[0] in _REPLIES:
        return False
    pattern = re.compile(r"(?<!\w)" + r"\W+".join(map(re.escape, own)) + r"(?!\w)", re.IGNORECASE)
    for line in said:
        if match := pattern.search(line.replace("\u2019", "'")):
            after = line[match.end() :].strip()
            return not after[:1].isalnum() or own[-1] not in _UNFINISHED
    return False


def template_phrases(texts: Mapping[str, Sequence[str]], said: Mapping[str, Sequence[str]]) -> list[str]:
    """Phrases that are written about several talks although they are not said in one of these."""
    places: dict[str, set[str]] = defaultdict(set)
    for talk, written in texts.items():
        for line in (line for text in written for line in lines_of(text)):
            own = words(line)
            for at in range(len(own) - PHRASE_WORDS + 1):
                places[" ".join(own[at : at + PHRASE_WORDS])].add(talk)
    spoken = {talk: " ".join(word for line in lines for word in words(line)) for talk, lines in said.items()}
    return [
        phrase
        for phrase, talks in places.items()
        if len(talks) > 1 and any(f" {phrase} " not in f" {spoken[talk]} " for talk in talks)
    ]


def steps_out_of_order(text: str, said: Sequence[str]) -> list[str]:
    """Steps that stand before one that was said earlier."""
    whole = " ".join(" ".join(words(line)) for line in said)
    steps = [" ".join(words(match[1])) for line in text.splitlines() if (match := _STEP.match(line))]
    places = [whole.find(step) for step in steps]
    return [step for step, (before, after) in zip(steps[1:], pairwise(places), strict=True) if after < before]


def quantities_lost(text: str, said: Sequence[str]) -> list[str]:
    """Numbers of an instruction that its step does not have."""
    steps = [match[1] for line in text.splitlines() if (match := _STEP.match(line))]
    sentences = [sentence for line in said for sentence in _SENTENCE.split(line)]
    found = []
    for sentence in sentences:
        numbers = [word for word in words(sentence) if word[0].isdigit()]
        own = " ".join(words(sentence))
        for step in steps:
            key = " ".join(words(step)[:PHRASE_WORDS])
            if key and key in own:
                found += [number for number in numbers if number not in words(step)]
    return found


def words(text: str) -> list[str]:
    return [word.lower().replace("\u2019", "'") for word in _WORD.findall(text)]
