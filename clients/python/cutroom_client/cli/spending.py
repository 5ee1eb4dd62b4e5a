"""Prices before credits are spent: quotes, the confirmation on a terminal, and limits."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from cutroom_client.cli.exits import CommandError, Exit
from cutroom_client.cli.output import credits_text, printable
from cutroom_client.cli.service import Json
from cutroom_client.cli.session import Session

MaxCredits = Annotated[
    float | None,
    typer.Option(
        "--max-credits",
        min=0,
        metavar="CREDITS",
        help="Spend at most this; else the limit of the profile, if it has one.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before credits are spent.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the price, and start nothing.")]
AcceptDraft = Annotated[
    bool, typer.Option("--accept-draft", help="Accept translations of draft quality where the library refuses them.")
]


@dataclass(frozen=True)
class Spending:
    """How much a command may spend, and whether the person was asked."""

    max_credits: float | None
    yes: bool
    dry_run: bool


def quote(session: Session, video_id: str, bundle: Mapping[str, Any]) -> Json | None:
    """The price of a bundle; None while the duration of the video is unknown."""
    try:
        return session.service.post("/v1/videos/{}/quote", video_id, body=bundle)
    except CommandError as error:
        if error.code == "DURATION_UNKNOWN":
            return None
        raise


def show_quote(session: Session, found: Json | None) -> None:
    """Prints a price with its parts."""
    if found is None:
        raise CommandError(
            "The price is not known before the video is imported.", exit_code=Exit.SOURCE, code="DURATION_UNKNOWN"
        )
    if session.output.as_json:
        session.output.line(found)
        return
    session.output.table(
        [{"Work": each.get("description"), "Credits": each.get("credits")} for each in found.get("breakdown", [])]
        or [{"Work": "nothing to pay", "Credits": 0}]
    )
    enough = "" if found.get("sufficient") else f", {credits_text(found.get('shortfall'))} missing"
    session.output.write(f"Total: {credits_text(found.get('total'))} of {credits_text(found.get('balance'))}{enough}")


def approve(
    session: Session, video_id: str, bundle: Mapping[str, Any] | None, spending: Spending, *, what: str
) -> float | None:
    """Asks a person on a terminal, and returns the limit to send, which the service checks with the charge.

    What a person has agreed to is the limit: a price that rises meanwhile is not paid. Without a bundle, nothing
    quotes the price.
    """
    limit = session.limit(spending.max_credits)
    if spending.yes or not session.output.is_interactive:
        return limit
    found = quote(session, video_id, bundle) if bundle is not None else None
    if found is None:
        up_to = "at a price that is not known yet" if limit is None else f"for at most {credits_text(limit)}"
        ask(f"{what} {up_to}.")
        return limit
    total = round(float(found["total"]), 3)
    if limit is not None and total > limit:
        raise CommandError(
            f"{what} costs {credits_text(total)}, which is above the limit of {credits_text(limit)}.",
            exit_code=Exit.CREDITS,
            code="FAILED_PRECONDITION",
            details={"reason": "over_limit", "price": total},
            hint="Nothing was charged. Raise --max-credits, or ask for less.",
        )
    if total > 0:
        drafts = any(each.get("quality") == "draft" for each in found.get("breakdown", []))
        note = " The translation is a draft: have it reviewed." if drafts else ""
        ask(f"{what} costs {credits_text(total)} of {credits_text(found.get('balance'))}.{note}")
    return total


def ask(question: str) -> None:
    """Asks for a yes; anything else declines."""
    sys.stderr.write(f"{printable(question)} Continue? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise CommandError("Not confirmed; nothing was started.", exit_code=Exit.DECLINED)
