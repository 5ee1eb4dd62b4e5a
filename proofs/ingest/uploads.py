"""Uploads: unmodified clients, kills during an upload, and throughput."""

import os
import tempfile
from pathlib import Path

from dev.scratch import Accounts, environment_of
from dev.server import Server
from proofs.ingest.upload_clients import prove_clients
from proofs.ingest.upload_kills import prove_kills
from proofs.ingest.upload_throughput import prove_throughput
from proofs.stage.report import Report

MEBIBYTE = 1024 * 1024


async def prove_uploads(report: Report, accounts: Accounts, *, short: bool) -> None:
    server = Server({**environment_of(accounts.settings), "CUTROOM_LOG_LEVEL": "WARNING"})
    server.start()
    try:
        with tempfile.TemporaryDirectory(prefix="cutroom-uploads-") as folder:
            await prove_clients(report, accounts, server, file=_file(folder, 20 * MEBIBYTE + 12_345))
            size = (32 if short else 256) * MEBIBYTE + 54_321
            await prove_kills(report, accounts, server, file=_file(folder, size), kills=4 if short else 20)
            size = (128 if short else 1024) * MEBIBYTE
            await prove_throughput(report, accounts, server, file=_file(folder, size), rounds=5 if short else 3)
    finally:
        server.stop()


def _file(folder: str, size: int) -> Path:
    """A file of random, incompressible bytes."""
    path = Path(folder) / f"{size}.mp4"
    with path.open("wb") as file:
        for at in range(0, size, MEBIBYTE):
            file.write(os.urandom(min(MEBIBYTE, size - at)))
    return path
