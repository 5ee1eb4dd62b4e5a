"""Saves the figures of `just bench scaling`, of which docs/scaling.md is made: only a complete run replaces them."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from dev.environment import PROJECT

FIGURES = PROJECT / "docs" / "figures" / "scaling.json"
PARTIAL_FIGURES = PROJECT / ".data" / "scaling-partial.json"  # of the products measured so far


def save_partial(figures: Mapping[str, Any], *, path: Path = PARTIAL_FIGURES) -> None:
    """Keep the figures of the products measured so far, in case the run is aborted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=2) + "\n")


def replace_figures(figures: Mapping[str, Any], *, only: Collection[str] = (), path: Path = FIGURES) -> None:
    """Replace the saved figures, or only those of the named products, in one step."""
    merged = {**figures}
    if only:
        known = json.loads(path.read_text())
        selected = {name: each for name, each in figures["products"].items() if name in only}
        merged = {**known, "products": {**known["products"], **selected}, "requests": figures["requests"]}
    written = path.with_suffix(".partial")
    written.write_text(json.dumps(merged, indent=2) + "\n")
    written.replace(path)
