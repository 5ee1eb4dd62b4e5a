"""Renders docs/quality.md: everything that was judged, with the verdicts of its readers."""

from collections.abc import Mapping, Sequence

from dev.environment import PROJECT
from eval.publishable.texts import TalkTexts
from eval.publishable.verdicts import PictureKind, PictureVerdict, TextVerdict
from eval.talks import Half

PAGE = PROJECT / "docs" / "quality.md"
KINDS = ("title", "description")
PICTURE_KINDS: tuple[PictureKind, ...] = ("thumbnail", "short")
_INTRODUCTION = """# What readers would publish

Titles and YouTube descriptions of the twelve evaluation talks, written without a language model. Two readers judged
each text without seeing the verdict of the other: publish as it is, edit first, or reject. A text counts as publishable
if both would publish it. Remarks of earlier readers on both halves led to general rules, so the held-out half is not
quite unseen. Thumbnails and shorts have not been judged yet.

`python -m eval.publishable merge` makes this page. `just prove publishable` fails if a text is not the one that was
read.
"""


_PICTURES_NOT_JUDGED = "Thumbnails and shorts have not been judged yet."
_PICTURES_JUDGED = """The two best thumbnails and at most two shorts of each talk were judged in the same way.
The talks have few pictures: two photographed people stand in for the speakers, and the times are estimated. Faults of
thumbnails and shorts in both halves led to general rules before they were judged."""
_OVERVIEWS = """![The judged thumbnails](images/quality-thumbnails.jpg)

![The covers of the judged shorts](images/quality-shorts.jpg)"""


def render_page(
    texts: Sequence[TalkTexts],
    verdicts: Mapping[tuple[str, str], TextVerdict],
    pictures: Mapping[str, PictureVerdict],
) -> str:
    introduction = _INTRODUCTION.strip()
    if pictures:
        introduction = introduction.replace(_PICTURES_NOT_JUDGED, _PICTURES_JUDGED)
    blocks = [introduction, _table(texts, verdicts, pictures), *([_OVERVIEWS] if pictures else [])]
    for each in texts:
        blocks.append(f"## {each.talk.title} ({each.talk.genre}, {each.talk.half})")
        for kind in KINDS:
            verdict = verdicts[each.talk.slug, kind]
            quoted = "\n".join(f"> {line}".rstrip() for line in each.judged[kind].splitlines())
            blocks.append(f"{kind.capitalize()}: {_shown(verdict)}\n\n{quoted}")
        for picture in (one for one in pictures.values() if one.talk == each.talk.slug):
            name = f"{picture.kind.capitalize()} {picture.number} ({picture.picture})"
            blocks.append(f"{name}: {_shown(picture)}\n\n> {picture.text}")
    return "\n\n".join(blocks) + "\n"


def _shown(verdict: TextVerdict | PictureVerdict) -> str:
    return f"**{verdict.first}**, **{verdict.second}**. {verdict.reason}"


def _table(
    texts: Sequence[TalkTexts],
    verdicts: Mapping[tuple[str, str], TextVerdict],
    pictures: Mapping[str, PictureVerdict],
) -> str:
    names = [*KINDS, *(PICTURE_KINDS if pictures else ())]
    rows = ["| | " + " | ".join(f"{kind}s" for kind in names) + " |", "|---|" + "---|" * len(names)]
    for half in Half:
        talks = [each.talk.slug for each in texts if each.talk.half == half]
        judged = {kind: [verdicts[talk, kind].is_publishable for talk in talks] for kind in KINDS}
        for picture in pictures.values():
            if picture.talk in talks:
                judged.setdefault(picture.kind, []).append(picture.is_publishable)
        cells = [f"{sum(judged.get(kind, ()))} of {len(judged.get(kind, ()))}" for kind in names]
        rows.append(f"| {half} | " + " | ".join(cells) + " |")
    return "\n".join(rows)
