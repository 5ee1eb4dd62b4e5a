"""Backs up an installation, loses its volumes, and restores it into empty ones, all inside the containers."""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from proofs.images.installation import DATA, LOST, NAME, Installation
from proofs.images.products import Caller

BACKUP = "/backups/drill"
# A restore ends all sessions; the other tables must be identical.
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'sessions' ORDER BY tablename"

DIGEST = "count(*) || ' ' || md5(coalesce(string_agg(t::text, '' ORDER BY t::text), ''))"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a caller and an operator can see of an installation."""

    tables: dict[str, str]  # rows and their digest by table
    files: dict[str, str]  # digests of the video's files


def drill(installation: Installation, caller: Caller, video_id: str) -> tuple[Snapshot, Snapshot, bool]:
    """The installation before the loss and after the restore, and whether the video reads the same through the API."""
    files, video = _files(caller, video_id), _video(caller, video_id)
    installation.compose("stop", *installation.stopped_for_backup)  # nothing changes after the rows are read
    before = Snapshot(_tables(installation), files)
    installation.operator("backup", BACKUP)
    installation.down()
    installation.remove_volumes(LOST)
    installation.up(DATA)
    installation.wait_for_bucket()
    installation.wait_for_database()
    installation.operator("restore", BACKUP)
    tables = _tables(installation)
    installation.up(installation.serving)
    installation.wait_for_api()
    return before, Snapshot(tables, _files(caller, video_id)), _video(caller, video_id) == video


def _tables(installation: Installation) -> dict[str, str]:
    names = _query(installation, TABLES)
    parts = (f"SELECT '{name}', {DIGEST} FROM \"{name}\" t" for name in names)  # noqa: S608 (our own table names)
    rows = (line.split("|", 1) for line in _query(installation, " UNION ALL ".join(parts)))
    return {name: digest for name, digest in rows}  # noqa: C416 (a pair for the type checker)


def _query(installation: Installation, sql: str) -> list[str]:
    options = ("--no-psqlrc", "--no-align", "--tuples-only", "--username=postgres", "--dbname=cutroom")
    return installation.podman("exec", f"{NAME}_postgres_1", "psql", *options, "--command", sql).splitlines()


def _video(caller: Caller, video_id: str) -> dict[str, Any]:
    """The video as the API returns it, without its URLs, which are signed at each request."""
    with caller.client() as client:
        text = client.get(f"/v1/videos/{video_id}").raise_for_status().text
    video: dict[str, Any] = json.loads(re.sub(r'"https?://[^"]*"', '"URL"', text))
    return video


def _files(caller: Caller, video_id: str) -> dict[str, str]:
    with caller.client() as client:
        video = client.get(f"/v1/videos/{video_id}").raise_for_status().json()
        poster = client.get(video["posterUrl"], headers={"Authorization": ""}) if "posterUrl" in video else None
        transcript = client.get(f"/v1/videos/{video_id}/transcript").raise_for_status()
    contents = {"transcript": json.dumps(transcript.json().get("segments")).encode()}
    contents |= {"poster": poster.raise_for_status().content} if poster is not None else {}
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
