"""Commands of the reading: `sheet` writes the texts to judge, `merge` joins the answers of two readers.

A text that has not changed keeps its verdict.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from dev.environment import MODELS, PROJECT
from eval.publishable.page import PAGE, render_page
from eval.publishable.texts import open_writer, write_texts
from eval.publishable.verdicts import FILE, TextVerdict, fingerprint, load_verdicts, write_verdicts
from eval.talks import load_talks


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m eval.publishable", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    sheet = commands.add_parser("sheet", help="write the texts as JSON")
    sheet.add_argument("--file", type=Path, default=PROJECT / ".data" / "sheets" / "publishable.json")
    merge = commands.add_parser("merge", help="write eval/verdicts/publishable.toml and docs/quality.md")
    for reader in ("--first", "--second"):
        merge.add_argument(reader, type=Path, required=True, help="JSON list of talk, kind, verdict and reason")
    chosen = parser.parse_args(arguments)
    writer = open_writer(MODELS)
    texts = [write_texts(writer, talk) for talk in load_talks()]
    kept = {each.fingerprint: each for each in load_verdicts().values()}
    if chosen.command == "sheet":
        judged = [(each.talk.slug, kind, text) for each in texts for kind, text in each.judged.items()]
        rows = [row for row in judged if fingerprint(row[2]) not in kept]
        chosen.file.parent.mkdir(parents=True, exist_ok=True)
        chosen.file.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")
        return
    first, second = (
        {(row["talk"], row["kind"]): row for row in json.loads(path.read_text(encoding="utf-8"))}
        for path in (chosen.first, chosen.second)
    )
    verdicts = []
    for each in texts:
        for kind, text in each.judged.items():
            if fingerprint(text) in kept:
                verdicts.append(kept[fingerprint(text)])
                continue
            one, other = first[each.talk.slug, kind], second[each.talk.slug, kind]
            worse = other if one["verdict"] == "publish" else one
            verdicts.append(
                TextVerdict(each.talk.slug, kind, fingerprint(text), one["verdict"], other["verdict"], worse["reason"])
            )
    write_verdicts(verdicts)
    PAGE.write_text(render_page(texts, load_verdicts()), encoding="utf-8")
    print(FILE, PAGE, sep="\n")


if __name__ == "__main__":
    main()
