"""Renders Jinja templates with autoescaping and the filters shared by all pages."""

import hashlib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cutroom.console.framework.states import job_label, job_name, plain_label
from cutroom.platform.storage.links import saved_name
from cutroom.text.file_names import file_name
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
    made.filters.update(clock=clock, credits=format_credits, ago=format_time, language=language_name, iso=iso)
    made.filters.update(state_label=job_label, job_name=job_name, plain_label=plain_label)
    made.filters.update(file_name=file_name, saved_name=saved_name)
    made.filters.update(size=format_size)
    made.globals["asset"] = asset
    return made


def render(template: str, **values: Any) -> str:  # noqa: ANN401 (template variables)
    return environment().get_template(template).render(**values)


@cache
def asset(name: str) -> str:
    """URL of a static file with a content hash, so that browsers can cache it indefinitely."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:10]
    return f"/static/{name}?v={digest}"


def clock(seconds: float | None) -> str:
    """`3:07`, or `1:02:45`."""
    if seconds is None:
        return "-:--"
    minutes, remaining_seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{remaining_seconds:02}" if hours else f"{minutes}:{remaining_seconds:02}"


def format_size(size_bytes: int) -> str:
    """`1.4 GB`: three digits, in powers of ten as storage is sold."""
    amount = float(size_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.3g} {unit}" if amount >= 1 or unit == "bytes" else f"0 {unit}"
        amount /= 1000
    return f"{amount:,.3g} TB" if amount < 1000 else f"{amount:,.0f} TB"


def format_credits(amount: float) -> str:
    """`6.4 credits`: up to three decimals, the precision of the ledger."""
    text = f"{amount:,.3f}".rstrip("0").rstrip(".")
    return f"{text} credit" if text == "1" else f"{text} credits"


def iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def format_time(at: datetime | None) -> str:
    """A UTC time; console.js converts it to the browser's time zone."""
    return "never" if at is None else f"{at.astimezone(UTC):%-d %b %Y, %H:%M} UTC"


def language_name(code: str | None) -> str:
    return display_name(code) if code else "Unknown"
