"""Says what a request is routed by: its path, its credential, its session, or an address in its form."""

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from cutroom.accounts.subjects import Subject
from cutroom.platform.ids import is_id

SESSION_COOKIES = ("__Host-cutroom-session", "cutroom-session")
GUEST_COOKIES = ("__Host-cutroom-guest-", "cutroom-guest-")  # followed by the video of a review link
# Of the operators and processes of a cell; they reach it directly.
_NOT_ROUTED = ("/internal/", "/operator/", "/metrics")
_EMAIL_FORMS = frozenset({"/sign-in", "/sign-up", "/forgot-password"})
# Nothing in these says whose they are: each cell in turn is asked, until one does not answer that it is unknown.
_UNKNOWN_IN_CELL = {
    "/erasures/": frozenset({404}),
    "/verify-email/": frozenset({401, 403, 404, 410}),
    "/reset-password/": frozenset({401, 403, 404, 410}),
    "/review/": frozenset({404}),
    "/sign-in/code": frozenset({401}),
    "/sign-in/passkey": frozenset({401}),
    "/oauth/token": frozenset({400, 401}),
    "/hosting/mux/events": frozenset({400, 401, 404}),
}
# These answer the same whether they know the token or not.
_IN_EVERY_CELL = frozenset({"/oauth/revoke"})
_LIBRARY_IN_FILE_PATH, _LIBRARY_IN_OTHER_PATHS = 4, 3  # segments of the path


@dataclass(frozen=True, slots=True)
class Destination:
    """What a request is routed by; without a subject, by the cells in turn or to any of them."""

    subject: Subject | None = None
    value: str = ""
    unknown: frozenset[int] = frozenset()  # statuses with which a cell says that it is another's
    everywhere: bool = False
    may_create: bool = False  # an address that no cell knows is that of a new account


ANY_CELL = Destination()


def is_routed(path: str) -> bool:
    return not path.startswith(_NOT_ROUTED)


def needs_form(method: str, path: str) -> bool:
    return method == "POST" and path in _EMAIL_FORMS


def destination_of(path: str, *, query: bytes, headers: Mapping[str, str], form: bytes | None = None) -> Destination:
    """`form` is the body of a request that `needs_form`."""
    library_id = _library_of_path(path) or _library_of_upload(path, query, headers)
    if library_id is not None:
        return Destination(Subject.LIBRARY, library_id)
    if (credential := _credential(headers)) is not None:
        return Destination(Subject.CREDENTIAL, credential)
    return _without_key(path, headers=headers, form=form)


def _without_key(path: str, *, headers: Mapping[str, str], form: bytes | None) -> Destination:
    if path in _IN_EVERY_CELL:
        return Destination(everywhere=True)
    for prefix, statuses in _UNKNOWN_IN_CELL.items():
        if path.startswith(prefix):
            return Destination(unknown=statuses)
    if form is not None:
        emails = parse_qs(form.decode(errors="replace")).get("email", [""])
        return Destination(Subject.EMAIL, emails[0], may_create=True) if emails[0].strip() else ANY_CELL
    if (library_id := _library_of_guest(path, headers)) is not None:
        return Destination(Subject.LIBRARY, library_id)
    if (session := _cookie(headers, SESSION_COOKIES)) is not None:
        return Destination(Subject.SESSION, session)
    return ANY_CELL


def _library_of_guest(path: str, headers: Mapping[str, str]) -> str | None:
    """The cookie of a guest names the library of the video; the cell verifies it."""
    if not path.startswith("/videos/"):
        return None
    video_id = path.split("/")[2]
    token = _cookie(headers, tuple(f"{each}{video_id}" for each in GUEST_COOKIES)) or ""
    library_id = token.partition(".")[0]
    return library_id if is_id(library_id) else None


def _library_of_path(path: str) -> str | None:
    """Signed URLs of files, of playlists and in mails name the library."""
    segments = path.split("/")
    found = None
    if path.startswith("/files/") and len(segments) > _LIBRARY_IN_FILE_PATH and segments[3] == "libraries":
        found = segments[_LIBRARY_IN_FILE_PATH]
    if path.startswith(("/media/", "/notifications/unsubscribe/")) and len(segments) > _LIBRARY_IN_OTHER_PATHS:
        found = segments[_LIBRARY_IN_OTHER_PATHS]
    return found if found is not None and is_id(found) else None


def _library_of_upload(path: str, query: bytes, headers: Mapping[str, str]) -> str | None:
    """The grant and the session of an upload name the library; the cell verifies their signatures."""
    if not path.startswith(("/uploads/", "/upload/")):
        return None
    parameters = parse_qs(query.decode("latin-1"))
    session = parameters.get("upload_id", [""])[0].partition(".")[0]
    if is_id(session):
        return session
    return _library_of_grant(parameters.get("X-Goog-Signature", [""])[0] or _bearer(headers))


def _library_of_grant(token: str) -> str | None:
    payload = token.partition(".")[0]
    try:
        document = json.loads(base64.b64decode(payload + "=" * (-len(payload) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return None
    found = document[1] if isinstance(document, list) and len(document) > 1 else None
    return found if isinstance(found, str) and is_id(found) else None


def _bearer(headers: Mapping[str, str]) -> str:
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return value.strip() if scheme.lower() == "bearer" else ""


def _credential(headers: Mapping[str, str]) -> str | None:
    return _bearer(headers) or headers.get("x-api-key") or headers.get("xi-api-key") or None


def _cookie(headers: Mapping[str, str], names: Iterable[str]) -> str | None:
    """The first of these cookies that has a value."""
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    return next((cookies[name].value for name in names if name in cookies and cookies[name].value), None)
