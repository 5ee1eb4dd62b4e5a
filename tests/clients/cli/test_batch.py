"""Tests the journal of a batch, and what a folder or CSV file means."""

import os
from pathlib import Path

import pytest
from cutroom_client.cli.batch_items import Recipe, read_items
from cutroom_client.cli.batch_journal import Journal, open_journal
from cutroom_client.cli.exits import CommandError


@pytest.fixture
def journal_file(tmp_path: Path) -> Path:
    return tmp_path / "state.jsonl"


def fill(journal: Journal) -> str:
    journal.video("a", "v1", uploaded=False)
    journal.video("a", "v1", uploaded=True)
    key = journal.key("a", "dub", price=1.5)
    journal.requested("a", "dub", ["dub_v1_pt_plus"])
    return key


def test_a_journal_continues_where_it_was_killed(journal_file: Path) -> None:
    with open_journal(journal_file, "library") as journal:
        key = fill(journal)
        unsent = journal.key("a", "shorts", price=2)
    with journal_file.open("a") as file:
        file.write('{"item": "a", "event": "don')  # killed while it wrote
    with open_journal(journal_file, "library") as journal:
        state = journal.state("a")
        assert (state.video_id, state.uploaded, state.done) == ("v1", True, False)
        assert journal.key("a", "dub") == key
        assert journal.key("a", "shorts") == unsent  # it may have taken effect: it is sent again with this key
        assert journal.spent() == 3.5
        journal.done("a")
    with open_journal(journal_file, "library") as journal:
        assert journal.state("a").done
    assert "don\n" not in journal_file.read_text()


def test_every_prefix_of_a_journal_is_a_state(journal_file: Path, tmp_path: Path) -> None:
    with open_journal(journal_file, "library") as journal:
        fill(journal)
    content = journal_file.read_bytes()
    for length in range(len(content)):
        prefix = tmp_path / "prefix.jsonl"
        prefix.write_bytes(content[:length])
        with open_journal(prefix, "library") as journal:
            journal.done("a")
        with open_journal(prefix, "library") as journal:
            assert journal.state("a").done


def test_a_failed_step_is_requested_anew(journal_file: Path) -> None:
    with open_journal(journal_file, "library") as journal:
        key = fill(journal)
        journal.failed("a", "no", step="dub")
        assert journal.spent() == 0
        assert journal.key("a", "dub") != key
        assert journal.state("a").error == "no"
        journal.forget_video("a")
        assert journal.state("a").video_id is None


def test_one_run_at_a_time_and_one_library(journal_file: Path) -> None:
    with (
        open_journal(journal_file, "library"),
        pytest.raises(CommandError, match="running already"),
        open_journal(journal_file, "library"),
    ):
        pass
    with pytest.raises(CommandError, match="another library"), open_journal(journal_file, "other"):
        pass
    journal_file.write_text('"no journal"\n')
    with pytest.raises(CommandError, match="damaged"), open_journal(journal_file, "library"):
        pass
    assert journal_file.stat().st_mode & 0o777 == 0o600


def test_items_of_a_folder(tmp_path: Path) -> None:
    for name in ("b.MP4", "a.mp4", ".hidden.mp4", "notes.txt"):
        (tmp_path / name).write_text(name)
    first = read_items(tmp_path, Recipe(dub=("pt",)))
    assert [Path(each.source).name for each in first] == ["a.mp4", "b.MP4"]
    assert [each.id for each in read_items(tmp_path, Recipe(dub=("pt",)))] == [each.id for each in first]
    assert read_items(tmp_path, Recipe(dub=("es",)))[0].id != first[0].id
    os.utime(tmp_path / "a.mp4", (1, 1))
    assert read_items(tmp_path, Recipe(dub=("pt",)))[0].id != first[0].id


def test_rows_take_precedence_over_options(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_text("a")
    table = tmp_path / "talks.csv"
    table.write_text(
        "\ufeffsource,Dub,shorts,thumbnail\na.mp4,pt;es,2,yes\nhttps://example.com/b,,,\n\na.mp4,pt;es,2,yes\n"
    )
    first, second = read_items(table, Recipe(dub=("fr",), title="funny"))
    assert first.recipe == Recipe(dub=("pt", "es"), shorts=2, title="funny", thumbnail=True)
    assert (second.file, second.recipe) == (None, Recipe(dub=("fr",), title="funny"))
    steps = [(name, body) for name, _, body, _ in first.recipe.steps()]
    assert [name for name, _ in steps] == ["dub", "shorts", "thumbnail", "title"]


@pytest.mark.parametrize(
    "content",
    ["", "file\na.mp4\n", "source,price\na.mp4,1\n", "source\nnosuch.mp4\n", "source,shorts\nhttps://a.example/,11\n",
     "source,thumbnail\nhttps://a.example/,maybe\n", "source,dub\nhttps://a.example/\n", "source\na,b\n", "source\n"],
)  # fmt: skip
def test_a_wrong_table_is_refused_before_anything_is_sent(tmp_path: Path, content: str) -> None:
    table = tmp_path / "talks.csv"
    table.write_text(content)
    with pytest.raises(CommandError):
        read_items(table, Recipe())
