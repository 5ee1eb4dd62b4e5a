from cutroom.platform.settings import Settings
from dev.docs.settings_table import UNSAID, table, unsaid
from dev.environment import PROJECT

PAGE = (PROJECT / "docs" / "settings.md").read_text()


def test_every_setting_has_a_row() -> None:
    for name in Settings.model_fields:
        assert f"| `CUTROOM_{name.upper()}` |" in PAGE


def test_every_setting_is_explained() -> None:
    assert unsaid(PAGE) == []


def test_a_new_setting_waits_for_its_meaning() -> None:
    assert "CUTROOM_DATABASE_URL" in unsaid(table(""))
    assert f"| `CUTROOM_SECRET_KEY` | required, at least 32 characters | {UNSAID} |" in table("")


def test_what_was_written_by_hand_is_kept_and_what_comes_from_code_is_not() -> None:
    made = table("| `CUTROOM_API_PORT` | `1` | the port of it |")
    assert "| `CUTROOM_API_PORT` | `8700` | the port of it |" in made


def test_secrets_do_not_show_their_defaults() -> None:
    assert "| `CUTROOM_CHAT_KEY` | none |" in table("")
