"""Serves the tools over standard input and output, with the API key of CUTROOM_API_KEY."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import anyio

from cutroom_client._async.client import AsyncCutroom
from cutroom_client.mcp.connection import Connection
from cutroom_client.mcp.server import build_server
from cutroom_client.mcp.spending import ConnectionBudget, parse_limit


def main() -> int:
    parser = argparse.ArgumentParser(prog="cutroom-mcp", description=__doc__)
    parser.add_argument(
        "--max-credits", default="0", help="the most that this connection may spend; nothing by default"
    )
    parser.add_argument("--folder", type=Path, help="the only folder that files are uploaded from and saved in")
    parser.add_argument("--base-url", help="the address of the service; CUTROOM_BASE_URL by default")
    options = parser.parse_args()
    try:
        budget = ConnectionBudget(parse_limit(options.max_credits), time.monotonic)
        client = AsyncCutroom(base_url=options.base_url)
    except ValueError as error:
        parser.error(str(error))
    if options.folder is not None and not options.folder.is_dir():
        parser.error("--folder is not a folder")
    connection = Connection(client, budget, options.folder)
    anyio.run(build_server(connection).run_stdio_async)
    return 0


if __name__ == "__main__":
    sys.exit(main())
