"""Renders the settings table: names, defaults and bounds from the class, descriptions from the page itself."""

import re
from collections.abc import Iterator
from pathlib import Path

from annotated_types import Ge, Gt, Le, Lt, MinLen
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from cutroom.platform.settings import Settings, default_models_dir

ROW = re.compile(r"^\| `(CUTROOM_\w+)` \|.*?\| (.*) \|$", re.MULTILINE)
HEAD = ("| variable | default | meaning |", "|---|---|---|")
UNSAID = "…"


def table(present: str) -> str:
    """Renders every setting in class order; a new one gets a placeholder description."""
    meanings = dict(ROW.findall(present))
    rows = (f"| `{name}` | {_default(field)} | {meanings.get(name, UNSAID)} |" for name, field in _fields())
    return "\n".join((*HEAD, *rows))


def unsaid(text: str) -> list[str]:
    """Settings without a description."""
    return [name for name, meaning in ROW.findall(text) if meaning.strip() in {"", UNSAID}]


def _fields() -> Iterator[tuple[str, FieldInfo]]:
    for name, field in Settings.model_fields.items():
        yield f"CUTROOM_{name.upper()}", field


def _default(field: FieldInfo) -> str:
    return ", ".join((_value(field), *_bounds(field)))


def _value(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default_factory is default_models_dir:
        return "`~/.local/share/cutroom/models`"
    value = field.default
    plain = value.get_secret_value() if hasattr(value, "get_secret_value") else value
    return "none" if plain in (None, "", []) else f"`{_plain(plain)}`"


def _plain(value: object) -> str:
    if isinstance(value, int) and value and value % 1024**3 == 0:
        return f"{value // 1024**3} GiB"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value.as_posix() if isinstance(value, Path) else str(value)


def _bounds(field: FieldInfo) -> Iterator[str]:
    for bound in field.metadata:
        match bound:
            case Ge(ge=least):
                yield f"at least {_plain(least)}"
            case Gt(gt=least):
                yield f"more than {_plain(least)}"
            case Le(le=most):
                yield f"at most {_plain(most)}"
            case Lt(lt=most):
                yield f"less than {_plain(most)}"
            case MinLen(min_length=length) if field.annotation is SecretStr:
                yield f"at least {length} characters"
            case _:
                continue
