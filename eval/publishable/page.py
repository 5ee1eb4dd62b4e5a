"""Renders docs/quality.md: every judged text with the verdicts of its readers."""

from collections.abc import Mapping, Sequence

from dev.environment import PROJECT
from eval.publishable.texts import TalkTexts
from eval.publishable.verdicts import TextVerdict
from eval.talks import Half

PAGE = PROJECT / "docs" / "quality.md"
KINDS = ("title", "description")
_INTRODUCTION = """# What readers would publish

Titles and YouTube descriptions of the twelve evaluation talks, written without a language model. Two readers judged
each text without seeing the verdict of the other: publish as it is, edit first, or reject. A text counts as publishable
if both would publish it. Remarks of earlier readers on both halves led to general rules, so the held-out half is not
quite unseen. Thumbnails and shorts have not been judged yet.

`python -m eval.publishable merge` makes this page. `just prove publishable` fails if a text is not the one that was
read.
"""


def render_page(texts: Sequence[TalkTexts], verdicts: Mapping[tuple[str, str], TextVerdict]) -> str:
    blocks = [_INTRODUCTION.strip(), _table(texts, verdicts)]
    for each in texts:
        blocks.append(f"## {each.talk.title} ({each.talk.genre}, {each.talk.half})")
        for kind in KINDS:
            verdict = verdicts[each.talk.slug, kind]
            quoted = "\n".join(f"> {line}".rstrip() for line in each.judged[kind].splitlines())
            blocks.append(
                f"{kind.capitalize()}: **{verdict.first}**, **{verdict.second}**. {verdict.reason}\n\n{quoted}"
            )
    return "\n\n".join(blocks) + "\n"


def _table(texts: Sequence[TalkTexts], verdicts: Mapping[tuple[str, str], TextVerdict]) -> str:
    rows = ["| | " + " | ".join(f"{kind}s" for kind in KINDS) + " |", "|---|" + "---|" * len(KINDS)]
    for half in Half:
        talks = [each.talk.slug for each in texts if each.talk.half == half]
        cells = [f"{sum(verdicts[talk, kind].is_publishable for talk in talks)} of {len(talks)}" for kind in KINDS]
        rows.append(f"| {half} | " + " | ".join(cells) + " |")
    return "\n".join(rows)
