"""Parses the machine-checkable rules of a brand voice: banned words, hashtags, spelling and emoji."""

# ruff: noqa: RUF001 - punctuation of many scripts

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cutroom.text.placeholders import PlaceholderKind, find_protected_spans
from cutroom.text.writing_systems import is_unspaced

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
_NO = (
    r"\b(?:no|without|avoid|never use|don['’]?t use|do not use|sem|sin|ni|sans|pas d['’]|keine|ohne|senza|niente"
    r"|não use|no uses|nunca use)"
)
_NO_EMOJI = re.compile(rf"{_NO}\s*(?:any\s+)?emoji|絵文字(?:は|を)?(?:使わない|使用しない|禁止|なし)", re.IGNORECASE)
_EMOJI = re.compile(r"\bemojis?\b|絵文字", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“«「‘](?P<word>[^\"”»」’]{1,60})[\"”»」’]")
_LIST = re.compile(r"\s*(?:[,、/]|\b(?:or|and|nor|ou|e|o|y|ni|et|oder|und)\b)\s*", re.IGNORECASE)
_ARTICLES = re.compile(
    r"^(?:(?:the|an?|any|words?|phrases?|as?|os?|las?|los|el|les?|das|die|der|il|palavras?|palabras?|mots?)\s+)+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Guidelines:
    """Recognized rules; the rest of a brand voice is only understood by language models."""

    banned: tuple[str, ...] = ()
    hashtags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # with their required spelling
    emoji: bool | None = None  # requested, banned, or not mentioned

    def with_names(self, names: Sequence[str]) -> "Guidelines":
        """With more names; the spelling of the brand voice counts if it has the same."""
        known = {each.casefold() for each in self.names}
        return replace(self, names=(*self.names, *(each for each in names if each.casefold() not in known)))

    def allows(self, text: str) -> bool:
        """Whether the text contains no banned word."""
        return self.find_banned(text) is None

    def find_banned(self, text: str) -> str | None:
        lower = text.lower()
        for word in self.banned:
            exact = re.escape(word.lower())
            if re.search(exact if any(map(is_unspaced, word)) else rf"(?<!\w){exact}(?!\w)", lower):
                return word
        return None

    def with_spelling(self, text: str) -> str:
        """Replaces names with their required spelling."""
        for name in self.names:
            text = re.sub(rf"(?<![\w#@]){re.escape(name)}(?!\w)", name, text, flags=re.IGNORECASE)
        return text

    def apply(self, text: str) -> str:
        text = self.with_spelling(text)
        return without_emoji(text) if self.emoji is False else text


def parse_guidelines(text: str | None) -> Guidelines:
    banned: list[str] = []
    hashtags: list[str] = []
    names: list[str] = []
    whole = (text or "")[:MAX_CHARACTERS]
    for sentence in filter(None, map(str.strip, _SENTENCES.split(whole))):
        ban = _BAN.search(sentence) or _BAN_JAPANESE.search(sentence)
        if ban is not None and not _NO_EMOJI.search(sentence):
            banned += _banned_words(ban["rest"])
            continue
        protected = find_protected_spans(sentence)
        hashtags += [each.text for each in protected if each.kind is PlaceholderKind.HANDLE and each.text[0] == "#"]
        names += [match["name"].strip() for match in _SPELL.finditer(sentence)]
    emoji = False if _NO_EMOJI.search(whole) else True if _EMOJI.search(whole) else None
    return Guidelines(_unique(banned), _unique(hashtags), _unique(names), emoji)


def without_emoji(text: str) -> str:
    for part in reversed(find_protected_spans(text)):
        if part.kind is PlaceholderKind.EMOJI:
            text = text[: part.start].rstrip(" ") + text[part.end :]
    return text.strip()


def _banned_words(rest: str) -> list[str]:
    """Quoted words, else the items of a list up to the end of the clause."""
    if quoted := [match["word"].strip() for match in _QUOTED.finditer(rest)]:
        return quoted
    items = (item.strip(" .!?。\"'") for item in _LIST.split(rest))
    return [_ARTICLES.sub("", item) for item in items if item and len(item.split()) <= 4]


def _unique(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in words if each))[:MAX_RULES]
