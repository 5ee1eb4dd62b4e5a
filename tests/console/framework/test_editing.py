"""Tests forms that carry the revision of what they show."""

from dataclasses import replace

from cutroom.console.framework.editing import EditField, Editor
from cutroom.console.framework.forms import Form

EDITOR = Editor(
    "Edit", "/a", "/b", (EditField("name", "Name", "Ada"), EditField("events", "Events", choices=("x", "y")))
)


def test_typed_values_have_unix_line_breaks_and_all_checked_choices() -> None:
    form = Form((("name", " one\r\ntwo "), ("events", "x"), ("events", "y")))
    assert EDITOR.typed(form) == {"name": "one\ntwo", "events": "x y"}


def test_digest_identifies_the_shown_values() -> None:
    renamed = replace(EDITOR, fields=(EditField("name", "Name", "Grace"), EDITOR.fields[1]))
    assert EDITOR.digest == replace(EDITOR, revision='"7"').digest
    assert EDITOR.digest != renamed.digest
