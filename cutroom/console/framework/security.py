"""Browser security of the console: cookies, CSRF tokens, origin checks, security headers."""

import secrets
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from cutroom.errors import Code, CutroomError
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings

CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf-token"
CSRF_PURPOSE = "console-csrf"
SESSION_SECONDS = 30 * 24 * 60 * 60
BROWSER_ID_SECONDS = 24 * 60 * 60
_OWN_SITES = frozenset({"same-origin", "none"})  # values of Sec-Fetch-Site for requests from our own pages


def cookie_name(settings: Settings, kind: str) -> str:
    """The `__Host-` prefix prevents other subdomains from setting the cookie; browsers accept it over TLS only."""
    return f"__Host-cutroom-{kind}" if settings.is_secure else f"cutroom-{kind}"


def set_cookie(response: Response, settings: Settings, kind: str, *, value: str, seconds: int) -> None:
    response.set_cookie(
        cookie_name(settings, kind),
        value,
        max_age=seconds,
        path="/",
        secure=settings.is_secure,
        httponly=True,
        samesite="lax",
    )


def delete_cookie(response: Response, settings: Settings, kind: str) -> None:
    response.delete_cookie(cookie_name(settings, kind), path="/", secure=settings.is_secure, httponly=True)


def new_browser_id() -> str:
    """Random id for a browser without a session; the CSRF token of the sign-in form is derived from it."""
    return secrets.token_urlsafe(24)


def csrf_token(secret_box: SecretBox, cookie: str) -> str:
    """Derives the CSRF token from the cookie, which other sites can cause to be sent but cannot read."""
    return secret_box.sign(CSRF_PURPOSE, cookie.encode()).hex()


def check_origin(request: Request, settings: Settings) -> None:
    """Rejects state-changing requests whose Sec-Fetch-Site or Origin header names another site."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in _OWN_SITES:
        raise CutroomError(Code.PERMISSION_DENIED, message="This form was sent from another site.")
    origin = request.headers.get("origin")
    if origin is not None and origin not in {_origin(settings.base_url), _origin(str(request.base_url))}:
        raise CutroomError(Code.PERMISSION_DENIED, message="This form was sent from another site.")


def check_csrf(secret_box: SecretBox, cookie: str, given: str | None) -> None:
    """Rejects a form whose token was not derived from the cookie."""
    try:
        signature = bytes.fromhex(given or "")
    except ValueError:
        signature = b""
    if not secret_box.is_signed(CSRF_PURPOSE, cookie.encode(), signature):
        raise CutroomError(Code.PERMISSION_DENIED, message="This page has expired. Go back, reload it and try again.")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def policy(settings: Settings, *, form_targets: tuple[str, ...] = (), media: tuple[str, ...] = ()) -> str:
    """Content security policy: scripts and styles from our origin, media from signed URLs, nothing else."""
    files = _origin(settings.base_url)  # of signed URLs; the console may have been opened at another address
    hosts = " ".join(dict.fromkeys(_origin(each) for each in media))
    uploads = _origin(settings.gcs_endpoint) if settings.gcs_account_file is not None else ""
    rules = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": f"'self' data: {files}",
        "media-src": f"'self' blob: {files} {hosts}".strip(),
        "connect-src": " ".join(("'self'", files, uploads, hosts)).strip(),
        "worker-src": "'self' blob:",
        "manifest-src": "'self'",
        # Also applies to redirects after a form submission: OAuth consent redirects to the client's redirect URI.
        "form-action": " ".join(("'self'", *form_targets)),
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def harden(response: Response, settings: Settings) -> None:
    """Sets the headers of pages that the page has not set itself; the middleware adds those of every response."""
    headers = {
        "Content-Security-Policy": policy(settings),
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(self), payment=(), usb=()",
        "Cache-Control": "no-store",
    }
    for name, value in headers.items():
        response.headers.setdefault(name, value)
