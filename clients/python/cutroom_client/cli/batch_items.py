"""Reads what a batch consists of: the files of a folder, or the rows of a CSV file, each with its recipe."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from cutroom_client.cli.exits import CommandError
from cutroom_client.cli.products import split

MAX_ITEMS = 10_000
MAX_CSV_BYTES = 20_000_000
MEDIA_SUFFIXES = frozenset(
    {".mp4", ".mov", ".m4v", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".mp3", ".m4a", ".wav", ".flac", ".ogg", ".aac"}
)
COLUMNS = ("source", "dub", "captions", "shorts", "title", "thumbnail")
_YES, _NO = frozenset({"yes", "true", "1"}), frozenset({"no", "false", "0"})


@dataclass(frozen=True)
class Recipe:
    """What is made of each video."""

    dub: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    shorts: int = 0
    title: str = ""
    thumbnail: bool = False

    def steps(self) -> list[tuple[str, str, dict[str, object], dict[str, object] | None]]:
        """Name, path, request and priced bundle of each step; titles are free and have none."""
        found: list[tuple[str, str, dict[str, object], dict[str, object] | None]] = []
        if self.captions:
            languages = list(self.captions)
            found.append(
                ("captions", "/v1/videos/{}/captions", {"languages": languages}, {"captionLanguageCodes": languages})
            )
        if self.dub:
            work: dict[str, object] = {"languages": list(self.dub), "product": "plus"}
            found.append(("dub", "/v1/videos/{}/dubs", work, {"dubs": [work]}))
        if self.shorts:
            cut: dict[str, object] = {"kind": "shorts", "numClips": self.shorts}
            found.append(("shorts", "/v1/videos/{}/shorts", cut, {"shorts": cut}))
        if self.thumbnail:
            bundle: dict[str, object] = {"zeroPromptThumbnail": {"enabled": True}}
            found.append(("thumbnail", "/v1/videos/{}/thumbnails", {"mode": "zero_prompt"}, bundle))
        if self.title:
            title: dict[str, object] = {
                "generateTitle": {"enabled": True, "titleType": self.title, "overwriteMode": "always"}
            }
            found.append(("title", "/v1/videos/{}/packaging", title, None))
        return found


@dataclass(frozen=True)
class Item:
    """One video of a batch. Its id follows from what it is, so that a repeated run recognizes it."""

    id: str
    source: str
    file: Path | None  # None for a URL
    recipe: Recipe


def read_items(source: Path, recipe: Recipe) -> list[Item]:
    """The items of a folder or a CSV file, in a stable order and without duplicates."""
    found = _folder_items(source, recipe) if source.is_dir() else _csv_items(source, recipe)
    if not found:
        raise CommandError(f"{source} has nothing to process.")
    if len(found) > MAX_ITEMS:
        raise CommandError(f"{source} has more than {MAX_ITEMS} items.")
    return list({each.id: each for each in found}.values())


def _folder_items(folder: Path, recipe: Recipe) -> list[Item]:
    files = sorted(each for each in folder.iterdir() if each.suffix.lower() in MEDIA_SUFFIXES and each.is_file())
    return [_file_item(each, recipe) for each in files if not each.name.startswith(".")]


def _csv_items(path: Path, recipe: Recipe) -> list[Item]:
    try:
        if path.stat().st_size > MAX_CSV_BYTES:
            raise CommandError(f"{path} is too large.")
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            columns = [each.strip().lower() for each in reader.fieldnames or ()]
            if "source" not in columns or not set(columns) <= set(COLUMNS):
                raise CommandError(
                    f"The first line of {path} names the columns: source, and any of {', '.join(COLUMNS[1:])}."
                )
            reader.fieldnames = columns
            return [item for row in reader if (item := _row_item(path, reader.line_num, row, recipe)) is not None]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CommandError(f"{path} cannot be read: {type(error).__name__}.") from None


def _row_item(path: Path, line: int, row: Mapping[str | None, object], recipe: Recipe) -> Item | None:
    if None in row or any(value is None for value in row.values()):
        raise CommandError(f"{path}, line {line}: this row has another number of columns than the first line.")
    cells = {str(name): str(value).strip() for name, value in row.items()}
    source = cells["source"]
    if not source:
        return None
    own = _row_recipe(f"{path}, line {line}", cells, recipe)
    if source.startswith(("https://", "http://")):
        return Item(_item_id(source, own), source, None, own)
    file = path.parent / source
    if not file.is_file():
        raise CommandError(f"{path}, line {line}: {file} is not a file.")
    return _file_item(file, own)


def _row_recipe(place: str, cells: Mapping[str, str], recipe: Recipe) -> Recipe:
    """The recipe of the options, where the row does not say otherwise."""
    shorts, thumbnail = cells.get("shorts", ""), cells.get("thumbnail", "").lower()
    if shorts and not (shorts.isascii() and shorts.isdigit() and int(shorts) <= 10):
        raise CommandError(f"{place}: shorts is a number from 0 to 10.")
    if thumbnail and thumbnail not in _YES | _NO:
        raise CommandError(f"{place}: thumbnail is yes or no.")
    return Recipe(
        dub=tuple(split([cells["dub"].replace(";", ",")])) if cells.get("dub") else recipe.dub,
        captions=tuple(split([cells["captions"].replace(";", ",")])) if cells.get("captions") else recipe.captions,
        shorts=int(shorts) if shorts else recipe.shorts,
        title=cells.get("title") or recipe.title,
        thumbnail=thumbnail in _YES if thumbnail else recipe.thumbnail,
    )


def _file_item(file: Path, recipe: Recipe) -> Item:
    stat = file.stat()
    identity = f"{file.resolve()}\0{stat.st_size}\0{stat.st_mtime_ns}"
    return Item(_item_id(identity, recipe), str(file), file, recipe)


def _item_id(identity: str, recipe: Recipe) -> str:
    text = json.dumps([identity, asdict(recipe)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
