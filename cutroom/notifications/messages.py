"""The texts of notifications: one line for each, a page to open, and the mail around them."""

from collections.abc import Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Any

from cutroom.notifications.rules import MAX_DIGEST_LINES, NotificationKind
from cutroom.text.language_tags import display_name

MAX_TITLE_CHARACTERS = 120
PREFERENCES_PATH = "/notifications"
_JOB_NAMES = {
    "import": "Import",
    "transcript": "Transcript",
    "captions": "Captions",
    "dub": "Dub",
    "shorts": "Shorts",
    "packaging": "Packaging",
    "thumbnail": "Thumbnail",
    "download": "Download",
}
KIND_NAMES = {
    NotificationKind.READY: "Something is ready",
    NotificationKind.FAILED: "Something failed",
    NotificationKind.CREDITS_LOW: "Credits are low",
    NotificationKind.REVIEW_REQUESTED: "A review is requested",
    NotificationKind.WEBHOOK_DISABLED: "A webhook endpoint of yours was disabled",
}


@dataclass(frozen=True, slots=True)
class Message:
    """What a notification says, and the page that it opens."""

    kind: NotificationKind
    text: str
    path: str


def message_of(kind: NotificationKind, subject: dict[str, Any], *, title: str | None) -> Message:
    """The message of a notification. Titles and reasons are the library's own text, kept to one short line."""
    video_id = subject.get("videoId")
    path = f"/videos/{video_id}" if video_id else "/library"
    if kind is NotificationKind.READY:
        return Message(kind, f"{_work(subject, title)} is ready.", path)
    if kind is NotificationKind.FAILED:
        reason = f" {_one_line(subject['error'])}" if subject.get("error") else ""
        return Message(kind, f"{_work(subject, title)} has failed.{reason}", path)
    if kind is NotificationKind.REVIEW_REQUESTED:
        return Message(kind, f"The thumbnail of {_quoted(title)} waits for your review.", path)
    if kind is NotificationKind.CREDITS_LOW:
        left = f" {subject['balance']} are left." if "balance" in subject else ""
        return Message(kind, f"Your credits are running low.{left}", "/credits")
    endpoint = f"/webhooks/{subject['endpointId']}"
    reason = _one_line(str(subject.get("reason", "")))
    return Message(
        kind, f"Your webhook endpoint {_one_line(str(subject.get('url', '')))} was disabled. {reason}", endpoint
    )


def _work(subject: dict[str, Any], title: str | None) -> str:
    name = _JOB_NAMES.get(str(subject.get("type")), "Work")
    language = subject.get("language")
    to = f" to {display_name(language)}" if name == "Dub" and isinstance(language, str) else ""
    return f"{name}{to} of {_quoted(title)}" if subject.get("videoId") else name


def _quoted(title: str | None) -> str:
    return f"“{_one_line(title)}”" if title else "a video"


def _one_line(text: str) -> str:
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= MAX_TITLE_CHARACTERS else f"{line[: MAX_TITLE_CHARACTERS - 1]}…"


def mail_of(
    messages: Sequence[Message], *, base_url: str, library_name: str | None, unsubscribe_path: str
) -> EmailMessage:
    """A mail with one message or a digest; it can be unsubscribed from with one click (RFC 8058)."""
    mail = EmailMessage()
    first = messages[0].text if len(messages) == 1 else f"{len(messages)} notifications"
    where = f" · {_one_line(library_name)}" if library_name else ""
    mail["Subject"] = f"{first}{where} · Cutroom"
    mail["Auto-Submitted"] = "auto-generated"  # no out-of-office replies
    mail["List-Unsubscribe"] = f"<{base_url}{unsubscribe_path}>"
    mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    shown, left_out = messages[:MAX_DIGEST_LINES], len(messages) - MAX_DIGEST_LINES
    lines = [f"{each.text}\n{base_url}{each.path}\n" for each in shown]
    if left_out > 0:
        lines.append(f"… and {left_out} more.\n{base_url}/library\n")
    lines.append(f"-- \nHow often you get these mails: {base_url}{PREFERENCES_PATH}\n")
    lines.append(f"Unsubscribe: {base_url}{unsubscribe_path}\n")
    mail.set_content("\n".join(lines))
    return mail
