"""An API with a library, servers of the tools over stdio, and what the library has spent."""

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from proofs.contract.stage import OWNER, Stage


@dataclass
class ToolSession:
    """A connected client; results are compared with the schemas that the server has listed."""

    client: Client
    schemas: Mapping[str, dict[str, Any]]
    called: list[str] = field(default_factory=list)
    mismatches: list[str] = field(default_factory=list)

    @classmethod
    async def of(cls, client: Client) -> "ToolSession":
        listed = (await client.list_tools()).tools
        for tool in listed:
            Draft202012Validator.check_schema(tool.input_schema)
            assert tool.output_schema is not None, tool.name
            Draft202012Validator.check_schema(tool.output_schema)
        return cls(client, {tool.name: tool.output_schema or {} for tool in listed})

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:  # noqa: ANN401 (JSON)
        seen: list[float] = []

        async def report(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
            seen.append(progress)

        result = await self.client.call_tool(tool, arguments, progress_callback=report)
        self.called.append(tool)
        if not result.is_error:
            validator = Draft202012Validator(self.schemas[tool])
            self.mismatches += [
                f"{tool}: {error.message}" for error in validator.iter_errors(result.structured_content)
            ]
        result.meta = {**(result.meta or {}), "progress": len(seen)}
        return result

    async def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        """The structured result of a call that must succeed."""
        result = await self.call(tool, **arguments)
        if result.is_error or not isinstance(result.structured_content, dict):
            raise AssertionError(f"{tool}: {result.content}")
        return result.structured_content


@dataclass(frozen=True)
class McpStage:
    """The service, and a folder for files."""

    api: Stage
    folder: Path

    @property
    def key(self) -> str:
        return self.api.callers[OWNER].headers["Authorization"].removeprefix("Bearer ")

    @asynccontextmanager
    async def stdio(self, max_credits: str) -> AsyncIterator[ToolSession]:
        """A server of its own process, as an agent's host starts it."""
        arguments = ["-m", "cutroom_client.mcp", "--max-credits", max_credits, "--folder", str(self.folder)]
        environment = {"CUTROOM_API_KEY": self.key, "CUTROOM_BASE_URL": self.api.url, "HOME": str(self.folder)}
        server = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
        async with Client(server) as client:
            yield await ToolSession.of(client)

    async def used(self) -> float:
        """What the library has in escrow and has paid, in credits."""
        row = await self.api.accounts.connection.fetchrow(
            "SELECT escrow + revenue AS used FROM ledger_balances WHERE library_id = $1",
            self.api.callers[OWNER].ids["libraryId"],
        )
        return float(row["used"]) / 1000 if row is not None else 0.0

    async def video(self) -> str:
        return await self.api.rows.video()
