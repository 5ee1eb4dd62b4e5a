from cutroom.platform.settings import Settings
from dev.docs.settings_table import UNSAID, table, unsaid
from dev.environment import PROJECT

PAGE = (PROJECT / "docs" / "settings.md").read_text()


def test_every_setting_has_a_row() -> None:
    for name in Settings.model_fields:
        assert f"| `CUTROOM_{name.upper()}` |" in PAGE


def test_every_setting_has_a_description() -> None:
    assert unsaid(PAGE) == []


def test_new_setting_gets_a_placeholder_description() -> None:
    assert "CUTROOM_DATABASE_URL" in unsaid(table(""))
    assert f"| `CUTROOM_SECRET_KEY` | required, at least 32 characters | {UNSAID} |" in table("")


def test_descriptions_are_kept_and_defaults_regenerated() -> None:
    text = table("| `CUTROOM_API_PORT` | `1` | the port of it |")
    assert "| `CUTROOM_API_PORT` | `8700` | the port of it |" in text


def test_secret_defaults_are_hidden() -> None:
    assert "| `CUTROOM_CHAT_KEY` | none |" in table("")
