"""What requests are routed by, and which headers pass."""

import base64
import json

import pytest

from cutroom.accounts.subjects import Subject
from cutroom.cells.router.headers import to_caller, to_cell
from cutroom.cells.router.rules import ANY_CELL, Destination, destination_of, is_routed, needs_form
from cutroom.platform.ids import new_id

LIBRARY = new_id()
GRANT = base64.urlsafe_b64encode(json.dumps([1, LIBRARY, new_id()]).encode()).rstrip(b"=").decode() + ".c2ln"


def route(path: str, *, query: str = "", form: bytes | None = None, **headers: str) -> Destination:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return destination_of(path, query=query.encode(), headers=named, form=form)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        (f"/files/fl_0/libraries/{LIBRARY}/videos/a.mp4", ""),
        (f"/media/pb_0/{LIBRARY}/{new_id()}/master.m3u8", ""),
        (f"/uploads/{new_id()}", f"upload_id={LIBRARY}.{new_id()}.secret"),
        (f"/uploads/{new_id()}", f"X-Goog-Signature={GRANT}"),
    ],
)
def test_signed_urls_name_their_library(path: str, query: str) -> None:
    assert route(path, query=query) == Destination(Subject.LIBRARY, LIBRARY)


def test_grant_as_an_access_token_names_its_library() -> None:
    routed = route("/upload/storage/v1/b/cutroom/o", authorization=f"Bearer {GRANT}")
    assert routed == Destination(Subject.LIBRARY, LIBRARY)


@pytest.mark.parametrize(
    "token", ["", "x", "!!!.x", base64.b64encode(b"[1]").decode(), base64.b64encode(b"[[").decode()]
)
def test_malformed_grants_name_none(token: str) -> None:
    assert route("/uploads/x", query=f"X-Goog-Signature={token}") == ANY_CELL


def test_credentials_sessions_and_addresses() -> None:
    assert route("/v1/videos", authorization="Bearer cr_1") == Destination(Subject.CREDENTIAL, "cr_1")
    assert route("/v1/videos", x_api_key="cr_2") == Destination(Subject.CREDENTIAL, "cr_2")
    assert route("/v1/text-to-speech/x", xi_api_key="cr_3") == Destination(Subject.CREDENTIAL, "cr_3")
    assert route("/library", cookie="a=b; cutroom-session=s") == Destination(Subject.SESSION, "s")
    form = route("/sign-in", form=b"email=a%40example.com&password=x", cookie="cutroom-session=old")
    assert form == Destination(Subject.EMAIL, "a@example.com", may_create=True)
    assert route("/docs") == ANY_CELL


def test_cookie_of_a_guest_names_the_library_of_its_video() -> None:
    video_id, other = new_id(), new_id()
    cookie = f"cutroom-session=s; __Host-cutroom-guest-{video_id}={LIBRARY}.c2VhbGVk"
    assert route(f"/videos/{video_id}/studio", cookie=cookie) == Destination(Subject.LIBRARY, LIBRARY)
    for path in (f"/videos/{other}/studio", "/library", "/videos"):
        assert route(path, cookie=cookie) == Destination(Subject.SESSION, "s")
    forged = f"cutroom-guest-{video_id}=x.y"
    assert route(f"/videos/{video_id}", cookie=forged) == ANY_CELL


def test_links_without_an_owner_are_tried_in_every_cell() -> None:
    assert 404 in route("/erasures/ecert_x").unknown
    assert route("/review/rev_x", cookie="cutroom-session=s").unknown == {404}
    assert route("/oauth/revoke").everywhere


def test_internal_paths_are_not_routed_and_forms_are_few() -> None:
    assert not is_routed("/internal/locate")
    assert not is_routed("/operator/codec/decode")
    assert is_routed("/v1/videos")
    assert needs_form("POST", "/sign-in")
    assert not needs_form("POST", "/v1/videos")


def test_headers_of_a_hop_and_forged_ones_end_at_the_router() -> None:
    received = [
        (b"Host", b"api.example.com"),
        (b"Connection", b"keep-alive, X-Secret, Authorization"),
        (b"X-Secret", b"1"),
        (b"Authorization", b"Bearer cr_1"),
        (b"Transfer-Encoding", b"chunked"),
        (b"X-Forwarded-For", b"10.0.0.1"),
        (b"X-Cutroom-Moved", b"1"),
        (b"Forwarded", b"for=10.0.0.1"),
    ]
    assert to_cell(received, address="192.0.2.1", scheme="https") == [
        (b"host", b"api.example.com"),
        (b"authorization", b"Bearer cr_1"),
        (b"x-forwarded-for", b"192.0.2.1"),
        (b"x-forwarded-proto", b"https"),
    ]
    answered = [
        (b"content-type", b"text/html"),
        (b"date", b"now"),
        (b"x-cutroom-moved", b"1"),
        (b"connection", b"close"),
    ]
    assert to_caller(answered) == [(b"content-type", b"text/html")]
