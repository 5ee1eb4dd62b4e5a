"""Commands of the reading: `sheet` and `draw` write what to judge, `merge` and `merge-pictures` join two readers.

A text or picture that has not changed keeps its verdict.
"""

import argparse
import asyncio
import json
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from dev.environment import MODELS, PROJECT
from eval.publishable.page import PAGE, PICTURE_KINDS, render_page
from eval.publishable.pictures import decide, render_pictures
from eval.publishable.reference import open_engines
from eval.publishable.sheets import draw_overview, read_judged, write_sheets, write_template
from eval.publishable.texts import TalkTexts, open_writer, write_texts
from eval.publishable.verdicts import (
    FILE,
    PICTURES_FILE,
    PictureVerdict,
    TextVerdict,
    fingerprint,
    load_picture_verdicts,
    load_verdicts,
    write_picture_verdicts,
    write_verdicts,
)
from eval.talks import load_talks

SHEETS = PROJECT / ".data" / "sheets"
PICTURE_SHEETS = SHEETS / "pictures"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m eval.publishable", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    sheet = commands.add_parser("sheet", help="write the texts as JSON")
    sheet.add_argument("--file", type=Path, default=SHEETS / "publishable.json")
    merge = commands.add_parser("merge", help="write eval/verdicts/publishable.toml and docs/quality.md")
    for reader in ("--first", "--second"):
        merge.add_argument(reader, type=Path, required=True, help="JSON list of talk, kind, verdict and reason")
    draw = commands.add_parser("draw", help="render thumbnails and shorts, and write contact sheets of each talk")
    draw.add_argument("--folder", type=Path, default=PICTURE_SHEETS)
    draw.add_argument("--talk", action="append", help="only this one; may be repeated")
    pictures = commands.add_parser(
        "merge-pictures", help=f"write eval/verdicts/{PICTURES_FILE.name} and docs/quality.md"
    )
    pictures.add_argument("--folder", type=Path, default=PICTURE_SHEETS, help="of the contact sheets")
    for reader in ("--first", "--second"):
        pictures.add_argument(reader, type=Path, required=True, help="a filled-in verdicts.toml")
    chosen = parser.parse_args(arguments)
    if chosen.command == "draw":
        asyncio.run(_draw(chosen.folder, talks=chosen.talk))
    elif chosen.command == "merge-pictures":
        _merge_pictures(chosen.folder, chosen.first, chosen.second)
    elif chosen.command == "merge":
        _merge_texts(chosen.first, chosen.second)
    else:
        kept = {each.fingerprint for each in load_verdicts().values()}
        judged = [(each.talk.slug, kind, text) for each in _texts() for kind, text in each.judged.items()]
        rows = [row for row in judged if fingerprint(row[2]) not in kept]
        chosen.file.parent.mkdir(parents=True, exist_ok=True)
        chosen.file.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")


def _texts() -> list[TalkTexts]:
    writer = open_writer(MODELS)
    return [write_texts(writer, talk) for talk in load_talks()]


async def _draw(folder: Path, *, talks: Sequence[str] | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    engines = open_engines(MODELS)
    for decisions in decide([talk for talk in load_talks() if not talks or talk.slug in talks], engines):
        with tempfile.TemporaryDirectory() as scratch:
            write_sheets(await render_pictures(decisions, engines, folder=Path(scratch)), folder)
        print(decisions.talk.slug)
    write_template(read_judged(folder), folder)


def _merge_texts(first_path: Path, second_path: Path) -> None:
    first, second = (
        {(row["talk"], row["kind"]): row for row in json.loads(path.read_text(encoding="utf-8"))}
        for path in (first_path, second_path)
    )
    texts, verdicts = _texts(), []
    kept = {each.fingerprint: each for each in load_verdicts().values()}
    for each in texts:
        for kind, text in each.judged.items():
            if fingerprint(text) in kept:
                verdicts.append(kept[fingerprint(text)])
                continue
            one, other = first[each.talk.slug, kind], second[each.talk.slug, kind]
            reason = _reason(one, other)
            verdicts.append(
                TextVerdict(each.talk.slug, kind, fingerprint(text), one["verdict"], other["verdict"], reason)
            )
    write_verdicts(verdicts)
    _write_page(texts)
    print(FILE, PAGE, sep="\n")


def _merge_pictures(folder: Path, first_path: Path, second_path: Path) -> None:
    first, second = (tomllib.loads(path.read_text(encoding="utf-8")) for path in (first_path, second_path))
    judged, verdicts, kept = read_judged(folder), [], load_picture_verdicts()
    for each in judged:
        if each.id in kept and kept[each.id].judged == each:
            verdicts.append(kept[each.id])
            continue
        one, other = first[each.id], second[each.id]
        verdicts.append(
            PictureVerdict(
                each.talk, each.kind, each.number, each.text, each.picture,
                one["verdict"], other["verdict"], _reason(one, other),
            )
        )  # fmt: skip
    write_picture_verdicts(verdicts)
    load_picture_verdicts()  # validates what the readers wrote
    for kind in PICTURE_KINDS:
        draw_overview(kind, judged, folder, path=PAGE.parent / "images" / f"quality-{kind}s.jpg")
    _write_page(_texts())
    print(PICTURES_FILE, PAGE, sep="\n")


def _reason(one: dict[str, str], other: dict[str, str]) -> str:
    """That of the reader who would not publish."""
    return (other if one["verdict"] == "publish" else one)["reason"]


def _write_page(texts: Sequence[TalkTexts]) -> None:
    PAGE.write_text(render_page(texts, load_verdicts(), load_picture_verdicts()), encoding="utf-8")


if __name__ == "__main__":
    main()
