"""Released migrations stay as they were, and a release that is not in the clone is reported."""

import subprocess
from pathlib import Path

import pytest

from cutroom import __version__
from dev import releases
from dev.environment import PROJECT
from dev.releases import Release, UnavailableReleaseError, install, migration_checksums, released

SCHEMA = "migrations/schema/"


def test_released_migrations_are_unchanged() -> None:
    """An installation that ran a migration never runs it again: a change to it would reach new installations only."""
    current = migration_checksums()
    for release in released():
        changed = {path for path, checksum in release.migrations.items() if current.get(path) != checksum}
        assert not changed, f"released in {release.version}: write a new migration instead"


def test_initial_migration_reads_no_new_file() -> None:
    recorded = {path for path in released()[0].migrations if path.startswith(SCHEMA)}
    assert {path for path in migration_checksums() if path.startswith(SCHEMA)} == recorded


def test_version_is_that_of_the_package() -> None:
    assert f'\nversion = "{__version__}"\n' in (PROJECT / "pyproject.toml").read_text()
    assert f'\nname = "cutroom"\nversion = "{__version__}"\n' in (PROJECT / "uv.lock").read_text()


def test_commit_outside_the_clone_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTROOM_DATA_DIR", str(tmp_path))
    with pytest.raises(UnavailableReleaseError, match="not in this clone"):
        install(Release("9.9.9", "0" * 40, {}))


def test_checksums_follow_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "migrations" / "versions"
    folder.mkdir(parents=True)
    (folder / "0001_initial.py").write_text("a")
    before = migration_checksums(tmp_path)
    (folder / "0001_initial.py").write_text("b")
    assert before.keys() == migration_checksums(tmp_path).keys()
    assert before != migration_checksums(tmp_path)


def test_entry_of_a_release_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["releases", "9.9.9"])
    releases.main()
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert capsys.readouterr().out.startswith(f'[[release]]\nversion = "9.9.9"\ncommit = "{head.stdout.strip()}"\n')
