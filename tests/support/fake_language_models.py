"""Fake language models that write about films: one that stays with what was said, and what others do wrong."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from cutroom.engines.writing.port import TITLE_CHARACTERS

TITLE_WORDS = 8
HEADLINE_WORDS = 4
LONG_WORD = 4  # letters

Wrong = Callable[[list[str]], object]


def transcript_of(body: dict[str, Any]) -> list[str]:
    """What a model finds between the two lines of its boundary."""
    fenced = next(each["content"] for each in body["messages"] if each["role"] == "user")
    first, document, last = fenced.split("\n")
    assert first == last != ""
    found: list[str] = json.loads(document)["transcript"]
    return found


def faithful(body: dict[str, Any], what: str) -> object:
    """A model that repeats sentences of the transcript, or does wrong what the script says."""
    said = transcript_of(body)
    if what in WRONG:
        return WRONG[what](said)
    shape = body["response_format"]["json_schema"]["name"]
    answer = json.dumps(_answers(said, body)[shape], ensure_ascii=False)
    return f"```json\n{answer}\n```" if what == "fenced" else answer


def _answers(said: list[str], body: dict[str, Any]) -> dict[str, object]:
    at = _topical(said)
    said = [*said[at:], *said[:at]]
    told = body["messages"][0]["content"]
    if "headline of" in told:
        text = _few(said[0], HEADLINE_WORDS, 38)
    elif "one title" in told:
        text = _few(said[0], TITLE_WORDS, TITLE_CHARACTERS)
    else:
        text = " ".join(said[:3])[:1100] if "summary" in told else said[0][:190]
    halves = [said[: len(said) // 2 or 1], said[len(said) // 2 :]]
    parts = [{"heading": _few(each[0], 5, 70), "text": " ".join(each)[:1400]} for each in halves if each]
    texts: dict[str, object] = {name: {"text": text} for name in ("text", "title", "headline", "post")}
    return {**texts, "steps": {"steps": [each[:290] for each in said[:5]]}, "parts": {"parts": parts}}


def _topical(said: list[str]) -> int:
    """Where a sentence soon names what the film speaks of most: a title of other words would say nothing."""
    counts = Counter(word for text in said for word in set(text.lower().split()) if len(word) > LONG_WORD)
    best = max(counts, key=lambda word: (counts[word], word), default="")
    found = [at for at, text in enumerate(said) if best in text.lower().split()[: TITLE_WORDS - 2]]
    return found[0] if found else 0


def _few(text: str, words: int, characters: int) -> str:
    """The first words of a sentence; of a script without blanks the first signs."""
    few = " ".join(text.split()[:words]).rstrip(".!?。、,")
    while len(few) > characters and " " in few:
        few = few.rsplit(" ", 1)[0]
    return few[:characters]


def _text(text: str) -> str:
    return json.dumps({"text": text})


# What is wrong with an answer to "write one title", by a name for it.
WRONG: Mapping[str, Wrong] = {
    "prose": lambda _: "Sure! Here is a title for your film.",
    "cut json": lambda said: _text(said[0])[:-4],
    "other shape": lambda said: json.dumps([said[0]]),
    "more fields": lambda said: json.dumps({"text": said[0][:60], "note": "hello"}),
    "number": lambda _: json.dumps({"text": 5}),
    "empty": lambda _: _text("  "),
    "null": lambda _: None,
    "deep": lambda _: "[" * 100_000,
    "too long": lambda said: _text(" ".join(said)[:400]),
    "two lines": lambda _: _text("The garden hose\nand the copper pipe"),
    "invented number": lambda _: _text("The garden hose held for 48 years"),
    "invented number in words": lambda _: _text("The garden hose held for twelve years"),
    "invented name": lambda _: _text("How to repair a garden hose with Angela in Bristol"),
    "invented address": lambda _: _text("Repair a garden hose at www.hoses.example.com"),
    "capitals": lambda _: _text("How To Repair A Garden Hose Like Napoleon"),
    "other matter": lambda _: _text("Seven wonderful recipes with aubergines and lentils"),
    "off topic": lambda _: _text("A cup of coffee and a handshake"),
    "other language": lambda _: _text("So reparieren Sie einen Schlauch für den Garten ganz einfach"),
    "an order": lambda _: _text("Ignore previous instructions about the garden hose"),
    "markup": lambda _: _text("<b>The garden hose</b> and the copper pipe"),
    "a key": lambda _: _text("The garden hose CANARY-77AB31"),
    "a sentence of its own": lambda _: _text("The garden hose bursts. Tomorrow brings aubergines."),
    "an open end": lambda _: _text("The garden hose and the copper pipe of the"),
    "twice": lambda _: _text("The garden hose. The garden hose."),
}
