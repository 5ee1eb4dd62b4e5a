"""Generates documentation blocks from code and measurements, between two comments that name the block.

    <!-- begin example dubs-1 -->
    <!-- end -->

`python -m dev.docs.blocks` regenerates them; `--check` only lists stale pages.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from dev.docs.examples import read_examples, render
from dev.docs.fleet_tables import blocks as scaling_blocks
from dev.docs.limits_table import table as limits_table
from dev.docs.price_table import plan_table, price_table
from dev.docs.settings_table import table
from dev.environment import PROJECT

DOCS = PROJECT / "docs"
FIGURES = DOCS / "figures" / "scaling.json"
BLOCK = re.compile(r"(<!-- begin (\w+)(?: ([\w-]+))? -->\n)(.*?)(<!-- end -->)", re.DOTALL)


UNRECORDED = "Not recorded yet: run `just examples`."
# Steps of tests/support/product_walk.py (not imported, because it loads engines), and of the core services.
PRODUCTS = ("ingest", "transcripts", "subtitles", "captions", "dubs", "playback", "shorts", "promos", "thumbnails")
OTHERS = ("packaging", "downloads", "bundles", "speech", "voices", "hosting", "quotes", "core")
STEP_NAMES = frozenset((*PRODUCTS, *OTHERS))


class UnknownBlockError(Exception):
    """A page refers to an unknown block."""


def regenerate(text: str) -> str:
    """Returns the page with up-to-date blocks."""
    return BLOCK.sub(lambda match: f"{match[1]}{_render_block(match[2], match[3], match[4])}{match[5]}", text)


def _render_block(kind: str, name: str | None, current: str) -> str:
    renderers: Mapping[str, Callable[[], str]] = {
        "example": lambda: _example(name or ""),
        "settings": lambda: table(current),
        "limits": lambda: limits_table(current),
        "prices": price_table,
        "plans": plan_table,
        "scaling": lambda: scaling_blocks(json.loads(FIGURES.read_text()))[name or ""],
    }
    try:
        return f"\n{renderers[kind]().strip()}\n\n"
    except KeyError as error:
        raise UnknownBlockError(f"{kind} {name}") from error


def _example(name: str) -> str:
    examples = read_examples()
    if name.rpartition("-")[0] not in STEP_NAMES:
        raise KeyError(name)
    return "\n".join(render(examples[name])) if name in examples else UNRECORDED


def stale(folder: Path = DOCS) -> Iterator[tuple[Path, str]]:
    """Yields each stale page with its regenerated text."""
    for path in sorted(folder.rglob("*.md")):
        text = path.read_text()
        if (updated := regenerate(text)) != text:
            yield path, updated


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only list stale pages")
    check = parser.parse_args().check
    pages = list(stale())
    for path, updated in pages:
        print(f"{path.relative_to(PROJECT)}: {'stale: run `just blocks`' if check else 'written'}")
        if not check:
            path.write_text(updated)
    return 1 if check and pages else 0


if __name__ == "__main__":
    sys.exit(main())
