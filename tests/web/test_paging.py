"""Page tokens are valid for one list of one library."""

import pytest

from cutroom.errors import CutroomError
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.web.paging import PageTokens

TOKENS = PageTokens(SecretBox("s" * 32))


def test_page_token_round_trips() -> None:
    last = new_id()
    token = TOKENS.after(last, listing="videos", library_id="a")
    assert TOKENS.read(token, listing="videos", library_id="a") == last


@pytest.mark.parametrize(("listing", "library_id"), [("jobs", "a"), ("videos", "b")])
def test_token_of_other_list_or_library_is_rejected(listing: str, library_id: str) -> None:
    token = TOKENS.after(new_id(), listing="videos", library_id="a")
    with pytest.raises(CutroomError):
        TOKENS.read(token, listing=listing, library_id=library_id)


def test_token_signed_with_other_secret_is_rejected() -> None:
    token = PageTokens(SecretBox("t" * 32)).after(new_id(), listing="videos", library_id="a")
    with pytest.raises(CutroomError):
        TOKENS.read(token, listing="videos", library_id="a")


@pytest.mark.parametrize("position", [0, 10, 30, 50, -1])
def test_modified_token_is_rejected(position: int) -> None:
    token = TOKENS.after(new_id(), listing="videos", library_id="a")
    changed = token[:position] + ("A" if token[position] != "A" else "B") + token[len(token[:position]) + 1 :]
    with pytest.raises(CutroomError):
        TOKENS.read(changed, listing="videos", library_id="a")


@pytest.mark.parametrize("token", ["", "a", "=", "🎬", "A" * 10_000, "%00", "null", "a b"])
def test_malformed_token_is_rejected(token: str) -> None:
    with pytest.raises(CutroomError):
        TOKENS.read(token, listing="videos", library_id="a")
