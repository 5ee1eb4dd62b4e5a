"""Templates: one environment, escaping everything, and the few words that all pages share."""

import hashlib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cutroom.text.language_tags import display_name

_CONSOLE = Path(__file__).parents[1]
STATIC = _CONSOLE / "static"


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_CONSOLE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(clock=clock, credits=credit_words, ago=moment, language=language_title, iso=iso)
    made.globals["asset"] = asset
    return made


def render(template: str, **values: Any) -> str:  # noqa: ANN401 (whatever a page shows)
    return environment().get_template(template).render(**values)


@cache
def asset(name: str) -> str:
    """The address of a file of ours; it changes with its content, so browsers may keep it for ever."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:10]
    return f"/static/{name}?v={digest}"


def clock(seconds: float | None) -> str:
    """`3:07`, or `1:02:45`."""
    if seconds is None:
        return "-:--"
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def credit_words(amount: float) -> str:
    """`6.4 credits`; whole numbers without a point, and never more digits than the ledger has."""
    text = f"{amount:,.3f}".rstrip("0").rstrip(".")
    return f"{text} credit" if text == "1" else f"{text} credits"


def iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def moment(at: datetime | None) -> str:
    """As a person writes it; the page's script puts it into the reader's own time."""
    return "never" if at is None else f"{at.astimezone(UTC):%-d %b %Y, %H:%M} UTC"


def language_title(code: str | None) -> str:
    return display_name(code) if code else "not known yet"
