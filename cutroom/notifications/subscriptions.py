"""Keeps the browsers of members that show notifications. Their addresses are sealed: who has one can send to it."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.notifications.push import BrowserKeys, to_base64url
from cutroom.platform.db import Connection
from cutroom.platform.egress.urls import url_error
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox

MAX_BROWSERS = 10  # of one person in one library
MAX_DEVICE_CHARACTERS = 80
MAX_URL_LENGTH = 2_048
_PURPOSE = "push-subscription"


@dataclass(frozen=True, slots=True)
class Browser:
    """What push messages to a browser need: the URL of its push service, which is the caller's, and its keys."""

    url: str
    keys: BrowserKeys

    @classmethod
    def parse(cls, url: str, *, p256dh: str, auth: str) -> Self:
        """Raise INVALID_ARGUMENT for what no browser sends. The address behind the URL is checked when it is used."""
        if len(url) > MAX_URL_LENGTH or not (url.isascii() and url.isprintable()) or url_error(url):
            raise invalid_field("endpoint", "The push service needs a public HTTPS URL.")
        try:
            return cls(url, BrowserKeys.parse(p256dh, auth))
        except ValueError as error:
            raise invalid_field("keys", "These are not the keys of a browser.") from error


@dataclass(frozen=True, slots=True)
class Subscription:
    """A browser of a person, as the settings page shows it."""

    id: str
    device: str
    created_at: datetime


async def add_browser(
    connection: Connection,
    principal: Principal,
    browser: Browser,
    *,
    device: str,
    secret_box: SecretBox,
    now: datetime,
) -> None:
    """Add a browser, or replace the keys of one that subscribes again."""
    if len(await list_browsers(connection, principal)) >= MAX_BROWSERS:
        raise CutroomError(Code.CONFLICT, message="Remove a browser first.", details={"maxBrowsers": MAX_BROWSERS})
    subscription_id, url_hash = new_id(), secret_box.keyed_hash(_PURPOSE, browser.url)
    await connection.execute(
        "DELETE FROM push_subscriptions WHERE library_id = $1 AND user_id = $2 AND hash = $3",
        principal.library_id,
        principal.user_id,
        url_hash,
    )
    document = {
        "url": browser.url,
        "p256dh": to_base64url(browser.keys.p256dh),
        "auth": to_base64url(browser.keys.auth),
    }
    await connection.execute(
        """INSERT INTO push_subscriptions (library_id, id, user_id, hash, sealed, device, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7)""",
        principal.library_id,
        subscription_id,
        principal.user_id,
        url_hash,
        secret_box.seal(_PURPOSE, json.dumps(document).encode(), context=subscription_id),
        device[:MAX_DEVICE_CHARACTERS],
        now,
    )


async def list_browsers(connection: Connection, principal: Principal) -> list[Subscription]:
    rows = await connection.fetch(
        """SELECT id, device, created_at FROM push_subscriptions
           WHERE library_id = $1 AND user_id = $2 ORDER BY id DESC LIMIT $3""",
        principal.library_id,
        principal.user_id,
        MAX_BROWSERS,
    )
    return [Subscription(**dict(row)) for row in rows]


async def remove_browser(connection: Connection, principal: Principal, subscription_id: str) -> None:
    done = await connection.execute(
        "DELETE FROM push_subscriptions WHERE library_id = $1 AND user_id = $2 AND id = $3",
        principal.library_id,
        principal.user_id,
        subscription_id,
    )
    if done == "DELETE 0":
        raise not_found()


async def load_browsers(
    connection: Connection, library_id: str, user_id: str, *, secret_box: SecretBox
) -> dict[str, Browser]:
    """The browsers of a person, by the id of their subscription."""
    rows = await connection.fetch(
        "SELECT id, sealed FROM push_subscriptions WHERE library_id = $1 AND user_id = $2 ORDER BY id",
        library_id,
        user_id,
    )
    found = {}
    for row in rows:
        document = json.loads(secret_box.unseal(_PURPOSE, row["sealed"], context=row["id"]))
        keys = BrowserKeys.parse(document["p256dh"], document["auth"])
        found[row["id"]] = Browser(document["url"], keys)
    return found


async def forget_browser(connection: Connection, library_id: str, subscription_id: str) -> None:
    """Delete a subscription that its push service does not know any more."""
    await connection.execute(
        "DELETE FROM push_subscriptions WHERE library_id = $1 AND id = $2", library_id, subscription_id
    )
