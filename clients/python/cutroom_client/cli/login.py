"""`login`, `logout`, `whoami` and `profiles`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Annotated

import typer

from cutroom_client.cli.credentials import FILE_STORE, KEYRING_STORE, checked_key, delete_key, store_key, stored_key
from cutroom_client.cli.exits import CommandError, Exit
from cutroom_client.cli.output import Output, credits_text
from cutroom_client.cli.profiles import forget_login, load_profiles, save_profile
from cutroom_client.cli.service import Json, Service
from cutroom_client.cli.session import Session

MAX_PASTED = 1_000


def login(
    session: Session,
    *,
    with_key: Annotated[bool, typer.Option("--with-key", help="Read an API key from standard input instead.")] = False,
    store: Annotated[
        str, typer.Option(help="Where to keep the key: `file`, readable by you only, or `keyring` of the system.")
    ] = FILE_STORE,
    scopes: Annotated[
        str, typer.Option(help="Scopes to ask for, separated by spaces; all by default. You can untick some.")
    ] = "",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    max_credits: Annotated[
        float | None, typer.Option(min=0, help="Spending limit of the profile, for each command that costs credits.")
    ] = None,
) -> None:
    """Log in through the browser, or with an API key from standard input."""
    if store not in {FILE_STORE, KEYRING_STORE}:
        raise CommandError("--store is `file` or `keyring`.")
    from cutroom_client.cli.browser_login import log_in, revoke  # noqa: PLC0415 (slow to load)

    base_url = session.base_url
    if with_key:
        key = _read_key()
    else:
        key = log_in(base_url, scopes=scopes, open_page=_opener(session.output, browser=browser)).key
    limit = max_credits if max_credits is not None else session.profile.max_credits
    found = replace(session.profile, base_url=base_url, max_credits=limit, key_store=store)
    try:
        library = _library(base_url, key)
    except CommandError as error:
        if error.exit_code is not Exit.PERMISSION:  # a key without `videos:read` is a key nevertheless
            if not with_key:
                revoke(base_url, key)
            raise
        library = {}
    store_key(session.folder, found.name, key, store=store)
    save_profile(session.folder, found)
    name = library.get("name", "a library")
    session.output.result(
        {"profile": found.name, "baseUrl": base_url, "library": library or None, "store": store},
        text=f"Logged in to {base_url}: {name}. Profile {found.name}, key in the {store}.",
    )


def _read_key() -> str:
    """A key from standard input; not echoed on a terminal."""
    if sys.stdin.isatty():
        from getpass import getpass  # noqa: PLC0415

        return checked_key(getpass("API key: "))
    return checked_key(sys.stdin.readline(MAX_PASTED))


def _opener(output: Output, *, browser: bool) -> Callable[[str], None]:
    def open_page(url: str) -> None:
        sys.stderr.write(f"Open this page to log in:\n\n  {url}\n\n")
        sys.stderr.flush()
        if browser and not output.quiet:
            import webbrowser  # noqa: PLC0415

            webbrowser.open(url)

    return open_page


def _library(base_url: str, key: str) -> Json:
    from cutroom_client.settings import resolve  # noqa: PLC0415

    settings = resolve(api_key=key, base_url=base_url, max_credits=None, timeout=None, retry=None, state_dir=None)
    service = Service(settings)
    try:
        return service.get("/v1/library")
    finally:
        service.close()


def logout(
    session: Session,
    *,
    local: Annotated[
        bool, typer.Option("--local", help="Only forget the key on this computer; do not revoke it.")
    ] = False,
) -> None:
    """Forget the key of the profile, and revoke it if `cutroom login` has created it."""
    key = stored_key(session.folder, session.profile)
    if key is None:
        session.output.result({"profile": session.profile.name, "loggedIn": False}, text="You were not logged in.")
        return
    if not local:
        from cutroom_client.cli.browser_login import revoke  # noqa: PLC0415 (slow to load)

        revoke(session.profile.base_url or session.base_url, key)
    delete_key(session.folder, session.profile)
    forget_login(session.folder, session.profile)
    session.output.result({"profile": session.profile.name, "loggedIn": False}, text="Logged out.")


def whoami(session: Session) -> None:
    """Show the library, plan and balance that the key opens."""
    library = session.service.get("/v1/library")
    credits_ = library.get("credits", {})
    document = {"profile": session.profile.name, "baseUrl": session.base_url, "library": library}
    if session.output.as_json:
        session.output.line(document)
        return
    session.output.fields(
        {
            "Profile": session.profile.name,
            "Service": session.base_url,
            "Library": f"{library.get('name')} ({library.get('kind')})",
            "Plan": library.get("plan"),
            "Balance": credits_text(credits_.get("balance")),
            "Limit": "none" if session.profile.max_credits is None else credits_text(session.profile.max_credits),
        }
    )


def profiles(session: Session) -> None:
    """List the profiles on this computer."""
    found = [asdict(each) for each in load_profiles(session.folder).values()]
    rows = [
        {
            "Profile": each["name"],
            "Service": each["base_url"] or "",
            "Limit": each["max_credits"],
            "Key": each["key_store"] or "none",
        }
        for each in found
    ]
    document = [
        {
            "name": each["name"],
            "baseUrl": each["base_url"],
            "maxCredits": each["max_credits"],
            "keyStore": each["key_store"],
        }
        for each in found
    ]
    session.output.result({"profiles": document}, rows=rows)


COMMANDS = {"login": login, "logout": logout, "whoami": whoami, "profiles": profiles}
