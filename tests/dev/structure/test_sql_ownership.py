"""Tables are written by their owner only; the checker itself notices foreign uses."""

from pathlib import Path

from dev.environment import PROJECT
from dev.structure.sql_ownership import foreign_private_reads, foreign_writes, table_owners, table_uses

PACKAGE = PROJECT / "cutroom"
MODELS = 'class Row:\n    __tablename__ = "dubs"\n'


def write(package: Path, name: str, text: str) -> None:
    path = package / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_no_package_writes_a_table_of_another() -> None:
    assert foreign_writes(PACKAGE) == []


def test_no_package_reads_a_private_table_of_another() -> None:
    assert foreign_private_reads(PACKAGE) == []


def test_tables_of_every_kind_of_package_have_owners() -> None:
    owners = table_owners(PACKAGE)
    assert (owners["videos"], owners["dubs"], owners["outbox"]) == ("library", "dubs", "platform")
    assert sum(1 for _ in table_uses(PACKAGE)) > 100


def test_foreign_statements_are_found(tmp_path: Path) -> None:
    write(tmp_path, "products/dubs/models.py", MODELS)
    write(tmp_path, "products/dubs/service.py", 'SQL = "UPDATE dubs SET a = $1"\n')
    write(tmp_path, "products/playback/service.py", 'SQL = "DELETE FROM dubs WHERE id = $1"\n')
    write(tmp_path, "jobs/service.py", 'SQL = f"SELECT {columns} FROM videos v JOIN dubs d ON d.id = v.id"\n')
    write(
        tmp_path,
        "products/shorts/service.py",
        'SQL = """WITH gone AS (INSERT INTO dubs (id) VALUES ($1) RETURNING id) SELECT * FROM gone"""\n',
    )
    found = {(use.module.parent.name, use.table) for use in foreign_writes(tmp_path)}
    assert found == {("playback", "dubs"), ("shorts", "dubs")}
    assert [(use.module.parent.name, use.table) for use in foreign_private_reads(tmp_path)] == [("jobs", "dubs")]


def test_views_are_read_only(tmp_path: Path) -> None:
    write(tmp_path, "products/dubs/service.py", 'SQL = "UPDATE published_dubs SET language = $1"\n')
    write(tmp_path, "products/playback/service.py", 'SQL = "SELECT language FROM published_dubs"\n')
    assert [use.table for use in foreign_writes(tmp_path)] == ["published_dubs"]
    assert foreign_private_reads(tmp_path) == []
