"""Writes the parts of documents that follow from code and figures, each between two comments that name it.

    <!-- begin example dubs-1 -->
    <!-- end -->

`python -m dev.docs.blocks` writes them anew, and `--check` only says which are stale.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from dev.docs.examples import read_examples, render
from dev.docs.fleet_tables import blocks as scaling_blocks
from dev.docs.settings_table import table
from dev.environment import PROJECT

DOCS = PROJECT / "docs"
FIGURES = DOCS / "figures" / "scaling.json"
BLOCK = re.compile(r"(<!-- begin (\w+)(?: ([\w-]+))? -->\n)(.*?)(<!-- end -->)", re.DOTALL)


UNRECORDED = "Not recorded yet: `just examples` does it."
# The steps of tests/support/product_walk.py, which loads engines when it is imported, and what belongs to no product.
PRODUCTS = ("ingest", "transcripts", "subtitles", "captions", "dubs", "playback", "shorts", "promos", "thumbnails")
OTHERS = ("packaging", "downloads", "bundles", "speech", "voices", "hosting", "quotes", "core")
STEP_NAMES = frozenset((*PRODUCTS, *OTHERS))


class UnknownBlockError(Exception):
    """A document asks for a part that nothing makes."""


def renewed(text: str) -> str:
    """A document with every block as it is to be."""
    return BLOCK.sub(lambda match: f"{match[1]}{_made(match[2], match[3], match[4])}{match[5]}", text)


def _made(kind: str, name: str | None, present: str) -> str:
    makers: Mapping[str, Callable[[], str]] = {
        "example": lambda: _example(name or ""),
        "settings": lambda: table(present),
        "scaling": lambda: scaling_blocks(json.loads(FIGURES.read_text()))[name or ""],
    }
    try:
        return f"\n{makers[kind]().strip()}\n\n"
    except KeyError as error:
        raise UnknownBlockError(f"{kind} {name}") from error


def _example(name: str) -> str:
    found = read_examples()
    if name.rpartition("-")[0] not in STEP_NAMES:
        raise KeyError(name)
    return "\n".join(render(found[name])) if name in found else UNRECORDED


def stale(folder: Path = DOCS) -> Iterator[tuple[Path, str]]:
    """Each document that is not as it should be, with what it should be."""
    for path in sorted(folder.rglob("*.md")):
        text = path.read_text()
        if (wanted := renewed(text)) != text:
            yield path, wanted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing")
    check = parser.parse_args().check
    found = list(stale())
    for path, wanted in found:
        print(f"{path.relative_to(PROJECT)}: {'stale: run `just blocks`' if check else 'written'}")
        if not check:
            path.write_text(wanted)
    return 1 if check and found else 0


if __name__ == "__main__":
    sys.exit(main())
