"""Renders tables of limits: the values from the constants that each row names, the rest from the page itself."""

import importlib
import re
from datetime import timedelta

from cutroom.platform.settings import Settings

ROW = re.compile(r"^\| (?P<what>[^|]+) \| (?P<names>`[^|]+`) \| [^|]* \|$", re.MULTILINE)
MODULE = re.compile(r"`([\w/]+)\.py`")
NAME = re.compile(r"`([A-Z][\w.]*)`")
HEAD = ("| what | constant | limit |", "|---|---|---|")
SIZES = (("GiB", 1024**3), ("GB", 1000**3), ("MiB", 1024**2), ("MB", 1000**2), ("KiB", 1024))
DURATIONS = (("days", 86_400), ("hours", 3_600), ("minutes", 60))


class UnknownLimitError(Exception):
    """A row names a constant that the code does not have."""


def table(present: str) -> str:
    """Renders the rows of the present table with the values of the code."""
    rows = (f"| {row['what']} | {row['names']} | {_values(row['names'])} |" for row in ROW.finditer(present))
    return "\n".join((*HEAD, *rows))


def _values(names: str) -> str:
    module = MODULE.search(names)
    return ", ".join(_format(name, _value(name, module[1] if module else None)) for name in NAME.findall(names))


def _value(name: str, module: str | None) -> object:
    """The value of a setting, or of a constant or the default of a dataclass field in a module of the package."""
    if name.startswith("CUTROOM_"):
        field = Settings.model_fields.get(name.removeprefix("CUTROOM_").lower())
        if field is None:
            raise UnknownLimitError(name)
        return field.default
    if module is None:
        raise UnknownLimitError(f"{name} without a module")
    found: object = importlib.import_module(f"cutroom.{module.replace('/', '.')}")
    for part in name.split("."):
        fields = getattr(found, "__dataclass_fields__", {})
        found = fields[part].default if part in fields else getattr(found, part, None)
        if found is None:
            raise UnknownLimitError(f"{name} in {module}.py")
    return found


def _format(name: str, value: object) -> str:
    """Formats a value with the unit that its name ends in."""
    lowered = name.lower()
    if isinstance(value, timedelta):
        return _duration(value.total_seconds())
    if not isinstance(value, int | float):
        raise UnknownLimitError(f"{name} is not a number")
    if lowered.endswith("_bytes_per_second"):
        return f"{_size(value)}/s"
    if lowered.endswith("_bytes"):
        return _size(value)
    if lowered.endswith("_seconds"):
        return _duration(value)
    return f"{value:,}"


def _size(count: float) -> str:
    for unit, size in SIZES:
        if count >= size and count % size == 0:
            return f"{count // size:,.0f} {unit}"
    return f"{count:,} bytes"


def _duration(seconds: float) -> str:
    for unit, size in DURATIONS:
        if seconds >= 2 * size and seconds % size == 0:
            return f"{seconds // size:,.0f} {unit}"
    return f"{seconds:g} s"
