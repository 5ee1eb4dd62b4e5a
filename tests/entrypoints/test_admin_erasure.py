"""Tests the admin commands that verify certificates of erasure."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cutroom.entrypoints.admin import app
from cutroom.platform.settings import Settings
from cutroom.retention.erasure.log import ErasureLog


@pytest.fixture
async def signed(settings: Settings, tmp_path: Path) -> dict[str, Any]:
    """A certificate of this installation."""
    log = ErasureLog.of(settings, str(tmp_path / "log"))
    await log.save_certificate({"erasureId": "e1", "libraryId": "l1", "finishedAt": "2026-01-31T12:00:00+00:00"})
    found = await log.read_certificate("e1")
    assert found is not None
    return found


async def invoke(environment: dict[str, str], *arguments: str) -> tuple[int, dict[str, Any]]:
    result = await asyncio.to_thread(CliRunner().invoke, app, ["erasure", *arguments], env=environment)
    return result.exit_code, json.loads(result.stdout or "{}")


async def test_certificate_is_verified(environment: dict[str, str], signed: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps({"erasureId": "e1", "status": "erased", **signed}))
    expected = {"ok": True, "erasureId": "e1", "libraryId": "l1", "finishedAt": "2026-01-31T12:00:00+00:00"}
    assert await invoke(environment, "verify", str(file)) == (0, expected)
    _, shown = await invoke(environment, "key")
    assert shown == {"publicKey": signed["publicKey"]}
    assert await invoke(environment, "verify", str(file), "--public-key", shown["publicKey"]) == (0, expected)


async def test_changed_certificate_fails(environment: dict[str, str], signed: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    signed["certificate"]["libraryId"] = "l2"
    file.write_text(json.dumps(signed))
    assert await invoke(environment, "verify", str(file)) == (1, {"ok": False})
    file.write_text("no JSON")
    assert (await invoke(environment, "verify", str(file)))[0] == 2


async def test_key_of_another_installation_fails(
    environment: dict[str, str], signed: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(signed))
    other = "A" * 43 + "="
    assert await invoke(environment, "verify", str(file), "--public-key", other) == (1, {"ok": False})
    assert (await invoke(environment, "verify", str(file), "--public-key", "not base64"))[0] == 2
