"""Sentences with many numbers, dates, prices and addresses, and an independent check that translations keep them.

The check is stricter than the product's own comparison: it counts groups of digits and searches addresses verbatim.
"""

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.engines.recognition.port import Word
from cutroom.products.transcripts.segmentation import TranscriptSegment

SECONDS_EACH = 7.0  # a sentence and the pause after it
PAUSE_SECONDS = 1.0
NAMES = ("Dashwood", "Ferrars", "Middleton", "Jennings", "Palmer", "Willoughby", "Brandon")
TEMPLATES = (
    "The invoice of {month} {day}, {year} comes to ${thousands}.{cents}.",
    "Call 555-0{three} or 1-800-555-0{three} before {hour}:{minute} p.m.",
    "In {year} the town had {thousands} people; by {date} it had {millions}.",
    "Version {few}.{day}.{few} of the program needs {day} GB of memory.",
    "Mister {name} wrote to room{three}@example.org on {day} {month} {year}.",
    "Flight BA{four} leaves gate B{day} at {hour}:{minute} and lands at 21:{minute}.",
    "The score was {few}-{few} after {day} minutes, and {thousands} people watched.",
    "See https://example.com/a/{three}?x={few} for all {day} rules.",
    "It costs {few}.{few} million pounds, {day}.{few} % more than in {year}.",
    "Mister {name} had {thousands} pounds a year, and {few} children.",
    "The address is 192.168.{few}.{day}, port {four}.",
    "Chapter {day}, verse {three}, page {four}.",
    "The {day}th of {month} {year} was the day of {name}'s wedding.",
    "They sold {millions} copies at {few}.{cents} each.",
    "Take the A{few} to exit {day}, then drive {three} m.",
    "From {year} to {year}, {day} ships of {name} sailed {thousands} miles.",
    "Order {four}-{three} has {day} parts, each of {three} g.",
    "A screen of {four} x {four} pixels cost ${three} in {year}.",
    "{name} turned {day} on {date}, at {few} in the morning.",
    "The temperature fell from {day}.{few} to -{day} degrees in {few} hours.",
)
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "October", "December")
_DIGITS = re.compile(r"\d+")
_AFTERNOON = re.compile(r"\b\d{1,2}(?=:\d\d p\.m\.)")
_ADDRESS = re.compile(r"https?://\S+|[\w.]+@[\w.]+\w")


@dataclass(frozen=True, slots=True)
class MissingNumbers:
    """Numbers and addresses of a source line that its translation lacks."""

    line: int
    source: str
    translation: str
    values: tuple[str, ...]


def sentences_with_numbers(count: int, *, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [_filled(TEMPLATES[at % len(TEMPLATES)], rng) for at in range(count)]


def as_segments(sentences: Sequence[str]) -> list[TranscriptSegment]:
    """The sentences as consecutive transcript segments, with word times proportional to length."""
    segments = []
    for number, sentence in enumerate(sentences):
        start = number * SECONDS_EACH
        each = (SECONDS_EACH - PAUSE_SECONDS) / (len(sentence) + 1)
        words, at = [], 0
        for text in sentence.split(" "):
            words.append(Word(text, start + at * each, start + (at + len(text)) * each, 1.0))
            at += len(text) + 1
        segments.append(TranscriptSegment(start, words[-1].end_seconds, "speaker_1", sentence, tuple(words)))
    return segments


def find_missing(sources: Sequence[str], translations: Sequence[str]) -> list[MissingNumbers]:
    """Every line that lacks a group of digits, or a web or email address, of its source."""
    found = []
    for line, (source, translation) in enumerate(zip(sources, translations, strict=True)):
        digits = min((_lacking(each, translation) for each in (source, _by_24_hours(source))), key=Counter.total)
        addresses = [each for each in _ADDRESS.findall(source) if each not in translation]
        if digits or addresses:
            found.append(MissingNumbers(line, source, translation, (*digits.elements(), *addresses)))
    return found


def _lacking(source: str, translation: str) -> Counter[str]:
    return Counter(_DIGITS.findall(source)) - Counter(_DIGITS.findall(translation))


def _by_24_hours(text: str) -> str:
    """Convert to 24-hour time, as most languages write it: 7:45 p.m. is 19:45."""
    return _AFTERNOON.sub(lambda match: str(int(match[0]) + 12), text)


def _filled(template: str, rng: random.Random) -> str:
    def value(match: re.Match[str]) -> str:
        number = rng.randint
        values = {
            "few": str(number(2, 9)),
            "day": str(number(13, 28)),
            "hour": str(number(1, 11)),
            "minute": f"{number(1, 59):02}",
            "cents": f"{number(1, 99):02}",
            "three": str(number(100, 999)),
            "four": str(number(1000, 9999)),
            "year": str(number(1700, 2026)),
            "thousands": f"{number(1_000, 99_999):,}",
            "millions": f"{number(1_000_000, 9_999_999):,}",
            "date": f"{number(1990, 2026)}-{number(1, 12):02}-{number(1, 28):02}",
            "month": rng.choice(MONTHS),
            "name": rng.choice(NAMES),
        }
        return values[match[1]]

    return re.sub(r"\{(\w+)\}", value, template)
