"""Roles of guests and their names."""

import pytest

from cutroom.accounts.scopes import Scope
from cutroom.reviews.rules import MAX_GUEST_NAME, GuestRole, guest_name


def test_each_role_includes_those_before_it() -> None:
    roles = list(GuestRole)
    included = {role: [each for each in roles if role.includes(each)] for role in roles}
    assert included == {GuestRole.VIEW: roles[:1], GuestRole.COMMENT: roles[:2], GuestRole.EDIT: roles}


def test_only_edit_writes_and_only_texts() -> None:
    reading = {Scope.VIDEOS_READ, Scope.TRANSCRIPTS_READ}
    assert GuestRole.VIEW.scopes == GuestRole.COMMENT.scopes == reading
    assert GuestRole.EDIT.scopes == reading | {Scope.DUBS_WRITE}


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        (" Ana  Sofia ", "Ana Sofia"),
        ("<b>Ana</b>", "<b>Ana</b>"),  # escaped where it is shown
        ("Анна", "Анна"),
        ("x" * MAX_GUEST_NAME, "x" * MAX_GUEST_NAME),
        ("x" * (MAX_GUEST_NAME + 1), None),
        ("  ", None),
        ("", None),
        ("Ana\u202eanA", None),
        ("Ana\u200b", None),
        ("Ana\x07", None),
    ],
)
def test_names_are_visible_and_short(typed: str, name: str | None) -> None:
    assert guest_name(typed) == name
