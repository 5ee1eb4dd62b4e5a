"""The mails of an account: their texts, how long their links are valid, and how many are sent."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

MAX_PER_HOUR = 5  # of each kind; more are dropped, so that no mailbox is flooded
RATE_PERIOD = timedelta(hours=1)
KEPT = timedelta(days=1)  # after they expire
NOTICE_LIFETIME = timedelta(days=1)  # after which an unsent notice is dropped


class MailKind(StrEnum):
    """What a mail is for."""

    VERIFY_EMAIL = "verify_email"
    RESET_PASSWORD = "reset_password"  # noqa: S105 (a kind of mail)
    ACCOUNT_EXISTS = "account_exists"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105 (a kind of mail)
    SECOND_FACTOR_ON = "second_factor_on"
    SECOND_FACTOR_OFF = "second_factor_off"
    RECOVERY_CODE_USED = "recovery_code_used"
    PASSKEY_ADDED = "passkey_added"


class MailOutcome(StrEnum):
    """How sending ended."""

    SENT = "sent"
    REFUSED = "refused"  # by the mail server, for good
    WITHDRAWN = "withdrawn"  # sent before, expired, or erased with its account


@dataclass(frozen=True, slots=True)
class LinkRule:
    """The link in a mail: its path, and how long it is valid."""

    path: str
    lifetime: timedelta


LINKS = {
    MailKind.VERIFY_EMAIL: LinkRule("/verify-email/", timedelta(hours=24)),
    MailKind.RESET_PASSWORD: LinkRule("/reset-password/", timedelta(hours=1)),
}

_SUBJECTS = {
    MailKind.VERIFY_EMAIL: "Confirm your email address",
    MailKind.RESET_PASSWORD: "Set a new password",
    MailKind.ACCOUNT_EXISTS: "You already have an account",
    MailKind.PASSWORD_CHANGED: "Your password was changed",
    MailKind.SECOND_FACTOR_ON: "Two-step sign-in is on",
    MailKind.SECOND_FACTOR_OFF: "Two-step sign-in is off",
    MailKind.RECOVERY_CODE_USED: "A recovery code was used",
    MailKind.PASSKEY_ADDED: "A passkey was added",
}
_IF_NOT_YOU = """
If it was not you, set a new password at once and tell your administrator:

{home}/forgot-password
"""
_TEXTS = {
    MailKind.VERIFY_EMAIL: """Someone, probably you, has created an account or asked to confirm its address.
Open this link within 24 hours and enter the password of the account:

{link}

If it was not you, ignore this mail: without your confirmation, the account cannot be used.
""",
    MailKind.RESET_PASSWORD: """Someone, probably you, has asked for a new password of your account.
Open this link within an hour to choose one. It works once:

{link}

If it was not you, ignore this mail: your password stays as it is.
""",
    MailKind.ACCOUNT_EXISTS: """Someone, probably you, has tried to create an account with this address.
You have one already. Sign in, or choose "Forgot your password?" there:

{home}/sign-in
""",
    MailKind.PASSWORD_CHANGED: "The password of your account was changed, and all sessions have ended.\n" + _IF_NOT_YOU,
    MailKind.SECOND_FACTOR_ON: "Your account now asks for a code from your authenticator app.\n" + _IF_NOT_YOU,
    MailKind.SECOND_FACTOR_OFF: "Your account no longer asks for a code from your authenticator app.\n" + _IF_NOT_YOU,
    MailKind.PASSKEY_ADDED: "A passkey was added to your account; it signs in without the password.\n" + _IF_NOT_YOU,
    MailKind.RECOVERY_CODE_USED: "A recovery code of your account was used instead of a code from your app.\n"
    + _IF_NOT_YOU,
}


def lifetime_of(kind: MailKind) -> timedelta:
    rule = LINKS.get(kind)
    return rule.lifetime if rule is not None else NOTICE_LIFETIME


def subject_of(kind: MailKind) -> str:
    return f"{_SUBJECTS[kind]} · Cutroom"


def text_of(kind: MailKind, *, base_url: str, secret: str | None) -> str:
    """The text of a mail. Its link is built from the configured address, never from a request."""
    rule = LINKS.get(kind)
    link = f"{base_url}{rule.path}{secret}" if rule is not None else ""
    return _TEXTS[kind].format(link=link, home=base_url)
