"""What rules can follow of a brand voice: words to leave out, hashtags to add, spelling, and emoji or none."""

# ruff: noqa: RUF001 (marks of many scripts look alike)

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.text.placeholders import Kind, find_protected
from cutroom.text.writing_systems import unspaced

MAX_CHARACTERS = 10_000
MAX_RULES = 100
_SENTENCES = re.compile(r"[\n;]+|(?<=[.!?。])\s*")
_BANS = (
    r"\b(?:never|don['’]?t|do not|must not|should not)\s+(?:ever\s+)?(?:say|use|write|mention|call (?:it|us))",
    r"\bavoid(?: the words?| words?)?",
    r"\b(?:nunca|não|jamais)\s+(?:diga|digam|use|usem|escreva|mencione)|\bevit(?:e|em|ar)(?: as? palavras?)?",
    r"\b(?:nunca|no|jamás)\s+(?:digas|diga|uses|use|escribas|menciones)|\bevit(?:a|ad|en)(?: las? palabras?)?",
    r"\bne\s+(?:dis|dites|dire|utilise[rz]?|mentionne[rz]?)\s+(?:jamais|pas)|\bévite[rz]?(?: les? mots?)?",
    r"\b(?:sag|sagt|sagen|verwende|verwendet|benutze|schreib)\s+(?:nie|niemals|nicht)",
    r"\bvermeide[nt]?(?: die wörter| das wort)?",
    r"\b(?:mai|non)\s+(?:dire|usare|scrivere|menzionare)|\bevita(?:re|te)?(?: le? parol[ae])?",
)
_BAN = re.compile(rf"(?:{'|'.join(_BANS)})\s*:?\s*(?P<rest>.+)", re.IGNORECASE)
_BAN_JAPANESE = re.compile(r"(?P<rest>.+?)(?:は|を|という言葉は)(?:使わない|使用しない|言わない|避け|禁止)")
_SPELLING = (
    r"\b(?:spell(?:ed)?|write|written|call(?:ed)?|name is|escreva|escreve-se|escribe|se escribe|écri(?:s|re|vez)"
    r"|schreib(?:t|en)?|scrivi|si scrive)\b"
)
_SPELL = re.compile(rf"{_SPELLING}[^\"“«「']{{0,40}}[\"“«「'](?P<name>[^\"”»」']{{2,40}})[\"”»」']", re.IGNORECASE)
_WITHOUT = (
    r"\b(?:no|without|avoid|never use|don['’]?t use|do not use|sem|sin|ni|sans|pas d['’]|keine|ohne|senza|niente"
    r"|não use|no uses|nunca use)"
)
_NO_EMOJI = re.compile(
    rf"{_WITHOUT}\s*(?:any\s+)?emoji|絵文字(?:は|を)?(?:使わない|使用しない|禁止|なし)", re.IGNORECASE
)
_EMOJI = re.compile(r"\bemojis?\b|絵文字", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“«「‘](?P<word>[^\"”»」’]{1,60})[\"”»」’]")
_LIST = re.compile(r"\s*(?:[,、/]|\b(?:or|and|nor|ou|e|o|y|ni|et|oder|und)\b)\s*", re.IGNORECASE)
_SMALL = re.compile(
    r"^(?:(?:the|an?|any|words?|phrases?|as?|os?|las?|los|el|les?|das|die|der|il|palavras?|palabras?|mots?)\s+)+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Guidelines:
    """The rules that were found; everything else of a brand voice is left to writers that can read."""

    banned: tuple[str, ...] = ()
    hashtags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # as they are to be spelled
    emoji: bool | None = None  # wanted, not wanted, or nothing said

    def allow(self, text: str) -> bool:
        """Whether none of the banned words is in a text."""
        return self.found_in(text) is None

    def found_in(self, text: str) -> str | None:
        lower = text.lower()
        for word in self.banned:
            exact = re.escape(word.lower())
            if re.search(exact if any(map(unspaced, word)) else rf"(?<!\w){exact}(?!\w)", lower):
                return word
        return None

    def spelled(self, text: str) -> str:
        """Names as they are to be spelled, wherever they stand."""
        for name in self.names:
            text = re.sub(rf"(?<![\w#@]){re.escape(name)}(?!\w)", name, text, flags=re.IGNORECASE)
        return text

    def finished(self, text: str) -> str:
        text = self.spelled(text)
        return without_emoji(text) if self.emoji is False else text


def guidelines_of(text: str | None) -> Guidelines:
    banned: list[str] = []
    hashtags: list[str] = []
    names: list[str] = []
    whole = (text or "")[:MAX_CHARACTERS]
    for sentence in filter(None, map(str.strip, _SENTENCES.split(whole))):
        ban = _BAN.search(sentence) or _BAN_JAPANESE.search(sentence)
        if ban is not None and not _NO_EMOJI.search(sentence):
            banned += _words(ban["rest"])
            continue
        hashtags += [each.text for each in find_protected(sentence) if each.kind is Kind.HANDLE and each.text[0] == "#"]
        names += [match["name"].strip() for match in _SPELL.finditer(sentence)]
    emoji = False if _NO_EMOJI.search(whole) else True if _EMOJI.search(whole) else None
    return Guidelines(_unique(banned), _unique(hashtags), _unique(names), emoji)


def without_emoji(text: str) -> str:
    for part in reversed(find_protected(text)):
        if part.kind is Kind.EMOJI:
            text = text[: part.start].rstrip(" ") + text[part.end :]
    return text.strip()


def _words(rest: str) -> list[str]:
    """Words in quotes, or else the parts of a list up to the end of the clause."""
    if quoted := [match["word"].strip() for match in _QUOTED.finditer(rest)]:
        return quoted
    parts = (part.strip(" .!?。\"'") for part in _LIST.split(rest))
    return [_SMALL.sub("", part) for part in parts if part and len(part.split()) <= 4]


def _unique(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in words if each))[:MAX_RULES]
