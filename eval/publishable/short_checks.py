"""What a viewer checks in a short: that it starts and ends with its thought; shares no code with the selection."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.engines.types import Box
from cutroom.media.crop_plan import CropPlan, SceneFit

_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_REPLIES = frozenset(
    {"yes", "yeah", "no", "nope", "exactly", "right", "okay", "ok", "sure", "true", "indeed", "oh", "ah", "agreed"}
    | {"and", "but", "or", "so", "because", "which", "also", "too", "anyway", "however", "otherwise", "instead"}
    | {"sim", "não", "exato", "claro", "certo", "verdade", "e", "mas", "ou", "então", "porque", "também", "aliás"}
)
_PRONOUNS = frozenset(
    {"he", "she", "it", "they", "him", "them", "his", "hers", "theirs", "its"}
    | {"ele", "ela", "eles", "elas", "isso", "aquilo", "lo", "la", "dele", "dela"}
)
_POINTING = frozenset({"this", "that", "these", "those", "esse", "essa", "este", "esta", "aquele", "aquela"})
_VERBS = frozenset(
    {"is", "was", "are", "were", "will", "would", "can", "could", "has", "had", "means", "é", "era", "foi"}
)
_LATER_ITEMS = frozenset(
    {"second", "secondly", "third", "thirdly", "finally", "lastly", "next", "then", "another", "afterwards"}
    | {"segundo", "terceiro", "finalmente", "depois", "outro", "outra"}
)
_CONTINUATIONS = frozenset({"because", "which", "but", "until", "unless", "porque", "mas", "até"})
_ANNOUNCEMENT = re.compile(
    r":\s*$|\b(?:let me (?:show|tell) you|here's (?:how|why|what)|guess what|olha só)\W*$", re.IGNORECASE
)
_STOPS = (".", "!", "?", "\u2026", '"', "\u201d")
_ONE = re.compile(
    r"(?<!number )(?<!no )(?<!the )(?<!this )(?<!that )\bone\b(?: (?:yourself|myself|too|then)\b|(?=[.!?]))"
)
_THANKS = frozenset({"thanks", "thank", "obrigado", "obrigada"})
MAX_REPLY_WORDS = 6
_QUOTE = ('"', "\u201c", "\u00ab")


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A sentence and who says it."""

    speaker: str
    text: str


def starts_on_reply(before: SpokenLine | None, first: SpokenLine) -> str | None:
    """The fault of a first sentence: a reply, a pronoun without its noun, or a later item of a list."""
    words = _words(first.text)
    stem = words[0].partition("'")[0]
    points = stem in _POINTING and ("'" in words[0] or bool(_VERBS & set(words[1:2])))
    faults = {
        "a reply": words[0] in _REPLIES,
        "a pronoun": (stem in _PRONOUNS and not _is_expletive(words)) or points,
        "a later item of a list": words[0] in _LATER_ITEMS,
        "a stand-in for a noun": bool(_ONE.search(first.text)),
        "an answer": before is not None and before.text.endswith("?") and before.speaker != first.speaker,
        "a reply after thanks": before is not None
        and before.speaker == first.speaker
        and _words(before.text)[0] in _THANKS
        and len(words) <= MAX_REPLY_WORDS,
    }
    return next((name for name, applies in faults.items() if applies), None)


def _words(text: str) -> list[str]:
    return [word.lower().replace("\u2019", "'") for word in _WORD.findall(text)] or [""]


def _is_expletive(words: Sequence[str]) -> bool:
    """Whether "it" stands for nothing: "It is a quiet place", "It takes a year"."""
    return words[0] in {"it", "it's"} and bool({"a", "an", "the", "that", "to", "time"} & set(words[1:4]))


def ends_before_point(last: SpokenLine, after: SpokenLine | None) -> str | None:
    """The fault of a last sentence: unfinished, a question whose answer follows, or a clause that continues."""
    text = last.text.rstrip()
    following = after or SpokenLine("", "")
    same_speaker = following.speaker == last.speaker
    faults = {
        "unfinished": not text.endswith(_STOPS),
        "an announcement": bool(_ANNOUNCEMENT.search(text)),
        "a question without its answer": after is not None
        and text.endswith("?")
        and not same_speaker
        and not following.text.endswith("?"),
        "a clause that continues": same_speaker and _words(following.text)[0] in _CONTINUATIONS,
        "a quoted exchange that continues": same_speaker
        and any(mark in text for mark in _QUOTE)
        and following.text.startswith(_QUOTE),
    }
    return next((name for name, applies in faults.items() if applies), None)


def subject_cropped(faces: Sequence[tuple[float, Box | None]], plan: CropPlan) -> list[float]:
    """Times at which no pane shows the whole face that the video shows then; boxes are shares of its frame."""
    return [seconds for seconds, face in faces if face is not None and not _shows(plan, face, seconds)]


def _shows(plan: CropPlan, face: Box, seconds: float) -> bool:
    scene = plan.scene_at(seconds)
    if scene.fit is SceneFit.CONTAIN:
        return True
    left, top = face.x * plan.source_width, face.y * plan.source_height
    right, bottom = left + face.width * plan.source_width, top + face.height * plan.source_height
    return any(
        x <= left and y <= top and right <= x + pane.width and bottom <= y + pane.height
        for pane in scene.panes
        for x, y in [pane.at(seconds)]
    )
