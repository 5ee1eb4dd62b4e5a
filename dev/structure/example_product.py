"""Builds the example product of docs/adding-a-product.md in a copy of the repository."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dev.environment import PROJECT

PAGE = PROJECT / "docs" / "adding-a-product.md"
BLOCK = re.compile(r"^```(python|diff|sql|toml) title=\"([^\"]+)\"\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPIED = ("cutroom", "migrations", "alembic.ini")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that the page creates or edits."""

    path: str
    content: str
    is_edit: bool


def changes() -> list[FileChange]:
    found = [FileChange(path, content, kind == "diff") for kind, path, content in BLOCK.findall(PAGE.read_text())]
    if not found:
        raise ValueError(f"{PAGE} holds no files")
    return found


def package() -> str:
    """Folder of the example product."""
    declaration = next(each.path for each in changes() if each.path.endswith("/product.py"))
    return declaration.removesuffix("product.py")


def outside_files() -> list[str]:
    """Files outside the product's own folder that the page changes."""
    return sorted({each.path for each in changes() if not each.path.startswith(package())})


def build(tree: Path) -> None:
    """Copies the repository's packages into `tree` and applies the page."""
    for name in COPIED:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tree / name)
    for change in changes():
        path = tree / change.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_edited(path.read_text(), change) if change.is_edit else change.content)


def _edited(text: str, change: FileChange) -> str:
    """Applies a hunk without line numbers: its context must occur exactly once."""
    before, after = "\n".join(_side(change.content, "-")), "\n".join(_side(change.content, "+"))
    if text.count(f"{before}\n") != 1:
        raise ValueError(f"{change.path}: the context of the hunk is not unique: {before!r}")
    return text.replace(f"{before}\n", f"{after}\n")


def _side(hunk: str, sign: str) -> Iterator[str]:
    for line in hunk.splitlines():
        if line[:1] in {" ", sign}:
            yield line[1:]
