"""Commands of the reading: `sheet` writes blind sheets, `merge` joins the answers of two readers into the table."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from dev.environment import PROJECT
from eval.talks import load_talks
from eval.translation.outputs import ROUTES, TalkTranslation, evaluation_engines, fingerprint, translate_talks
from eval.translation.sheets import read_answers, write_sheets
from eval.translation.verdicts import merge_answers, write_verdicts

_ROUTE_NAMES = {f"{source}-{target}": (source, target) for source, target in ROUTES}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m eval.translation", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    sheet = commands.add_parser("sheet", help="write blind sheets of a route")
    sheet.add_argument("--folder", type=Path, default=PROJECT / ".data" / "sheets")
    merge = commands.add_parser("merge", help="merge answers into eval/verdicts")
    merge.add_argument("--first", type=Path, nargs="+", required=True)
    merge.add_argument("--second", type=Path, nargs="+", required=True)
    merge.add_argument("--third", type=Path, nargs="*", default=[])
    for command in (sheet, merge):
        command.add_argument("--route", choices=sorted(_ROUTE_NAMES), required=True)
    chosen = parser.parse_args(arguments)
    translations = list(translate_talks(evaluation_engines(), load_talks(), route=_ROUTE_NAMES[chosen.route]))
    print(f"{chosen.route}: {len(translations)} talks, fingerprint {fingerprint(translations)}")
    if chosen.command == "sheet":
        for path in write_sheets(translations, chosen.folder, name=chosen.route):
            print(path)
    else:
        _merge(chosen.route, translations, first=chosen.first, second=chosen.second, third=chosen.third)


def _merge(
    route: str,
    translations: Sequence[TalkTranslation],
    *,
    first: Sequence[Path],
    second: Sequence[Path],
    third: Sequence[Path],
) -> None:
    readers = [read_answers(paths) for paths in (first, second, third)]
    talks = [merge_answers(each, *readers) for each in translations]
    path = write_verdicts(route, talks)
    right, lines = sum(talk.right for talk in talks), sum(len(talk.lines) for talk in talks)
    agreed = sum(line.first == line.second for talk in talks for line in talk.lines)
    print(f"{path}: {right} of {lines} right, readers agree on {agreed}")


if __name__ == "__main__":
    main()
