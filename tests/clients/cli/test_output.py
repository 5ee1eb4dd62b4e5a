"""Tests what the command line prints, and its exit codes."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest
import typer
from cutroom_client.cli.commands import command, execute
from cutroom_client.cli.exits import CODES, CommandError, Exit, exit_code_of
from cutroom_client.cli.main import COMMANDS, build, chosen_command
from cutroom_client.cli.output import Output, credits_text, duration_text, printable
from cutroom_client.cli.receiving import safe_name

from cutroom.errors import Code
from dev.environment import PROJECT

DOCUMENTATION = (PROJECT / "docs" / "cli.md").read_text(encoding="utf-8")


def test_titles_cannot_control_a_terminal() -> None:
    assert printable("a\x1b[2Jb\x07\u202ec\u2028d\x9b") == "a�[2Jb��c�d�"
    assert printable("two\nlines\tand 👩\u200d👧") == "two lines and 👩\u200d👧"
    assert len(printable("x" * 10_000)) <= 300


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("a/b\\c\x00d", "a-b-c-d"),
        ("...", "video"),
        ("CON", "_CON"),
        ("Über uns", "Über-uns"),
    ],
)
def test_file_names_of_titles_stay_in_their_folder(title: str, name: str) -> None:
    assert safe_name(title) == name


def test_amounts_and_durations() -> None:
    assert [credits_text(each) for each in (1, 1.3, 0.05, 1000.0)] == [
        "1 credit",
        "1.3 credits",
        "0.05 credits",
        "1000 credits",
    ]
    assert [duration_text(each) for each in (9.16, 65, 3661, None)] == ["0:09", "1:05", "1:01:01", ""]


def test_every_code_of_the_api_has_an_exit_code() -> None:
    public = {code.value for code in Code}
    assert public - set(CODES) <= {"CANCELLED"}  # of jobs
    assert exit_code_of("FAILED_PRECONDITION", {"reason": "over_limit"}) is Exit.CREDITS
    assert exit_code_of("SOMETHING_NEW", {}) is Exit.UNEXPECTED


def test_the_documentation_has_every_exit_code_and_command() -> None:
    rows = dict(re.findall(r"^\| (\d+) \| .*? \|(.*)\|$", DOCUMENTATION, re.MULTILINE))
    assert set(rows) == {str(int(each)) for each in Exit}
    for code, exit_code in CODES.items():
        assert f"`{code}`" in rows[str(int(exit_code))], code
    for name in COMMANDS:
        assert f"`{name}" in DOCUMENTATION, name


def test_help_in_the_table_is_that_of_the_commands() -> None:
    for name, (module, text) in COMMANDS.items():
        found = import_module(f"cutroom_client.cli.{module}").COMMANDS[name]
        if not isinstance(found, dict):
            assert (found.__doc__ or "").startswith(text), name


def test_only_the_chosen_command_is_loaded() -> None:
    assert chosen_command(["--help"], {}) is None
    assert chosen_command(["dub", "x"], {}) == "dub"
    completing = {"_CUTROOM_COMPLETE": "complete_bash", "COMP_WORDS": "cutroom videos li"}
    assert chosen_command([], completing) == "videos"
    assert build("dub").registered_commands


COMMON = {"profile": None, "base_url": None, "as_json": True, "quiet": False}


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (CommandError("No.", exit_code=Exit.CREDITS), 8),
        (KeyboardInterrupt(), 130),
        (RuntimeError("https://example.com/?signature=secret"), 1),
    ],
)
def test_failures_become_exit_codes_without_secrets(
    raised: BaseException,
    code: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("CUTROOM_CONFIG_DIR", str(tmp_path))
    monkeypatch.delenv("CUTROOM_DEBUG", raising=False)

    def body(_session: object) -> None:
        raise raised

    assert execute(body, dict(COMMON), {}) == code
    shown = capsys.readouterr().err
    assert "secret" not in shown
    assert "Traceback" not in shown
    if code != 130:
        assert json.loads(shown)["error"]["exitCode"] == code


def test_json_by_default_away_from_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output.choose(as_json=None)
    assert output.as_json
    output.result({"title": "Füße\x1b"})
    assert json.loads(capsys.readouterr().out) == {"title": "Füße\x1b"}
    Output.choose(as_json=False).result({}, rows=[{"Title": "a\x1b[2J", "Empty": None}])
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "Empty" not in shown


def test_commands_have_the_common_options() -> None:
    app = typer.Typer()

    def body(session: object, name: str, *, count: int = 1) -> None:
        """Does something."""

    command(app, "x")(body)
    callback = app.registered_commands[0].callback
    assert callback is not None
    assert list(callback.__annotations__) == ["name", "count", "profile", "base_url", "as_json", "quiet"]
