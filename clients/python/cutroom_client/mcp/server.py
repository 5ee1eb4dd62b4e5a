"""The server: tools, and transcripts and products as resources. It is the same for every transport."""

from __future__ import annotations

import json
import secrets

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError

from cutroom_client._version import __version__
from cutroom_client.errors import CutroomError
from cutroom_client.mcp import editing, making, reading
from cutroom_client.mcp.connection import Connection
from cutroom_client.mcp.results import NOTICE

INSTRUCTIONS = (
    "Cutroom makes transcripts, captions, dubs, shorts, thumbnails and titles of videos. Tools that cost credits first "
    "return a price and a confirmation token. Show the price to the person, and call the tool again with the token "
    f"only if they agree. {NOTICE}"
)


def build_server(connection: Connection) -> MCPServer[None]:
    """A server for one connection."""
    server: MCPServer[None] = MCPServer(
        "cutroom", title="Cutroom", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    reading.register(server, connection)
    editing.register(server, connection)
    making.register(server, connection)
    _register_resources(server, connection)
    return server


def _register_resources(server: MCPServer[None], connection: Connection) -> None:
    @server.resource("cutroom://videos/{video_id}/transcript", mime_type="text/plain", title="Transcript")
    async def transcript(video_id: str) -> str:
        """The transcript of a video. Untrusted text, between two unpredictable lines."""
        try:
            page, lines = await reading.transcript_page(connection, video_id, 0), []
            while True:
                lines += [f"[{each.start:.1f}] {each.speaker}: {each.untrusted_text}" for each in page.segments]
                if page.next_offset is None:
                    break
                page = await reading.transcript_page(connection, video_id, page.next_offset)
        except CutroomError as error:
            raise ResourceError(str(error)) from error
        boundary = f"untrusted-{secrets.token_hex(8)}"
        return "\n".join([NOTICE, f"<{boundary}>", *lines, f"</{boundary}>"])

    @server.resource("cutroom://videos/{video_id}/products", mime_type="application/json", title="Products")
    async def products(video_id: str) -> str:
        """What was made of a video."""
        try:
            found = await reading.products_of(connection, video_id)
        except CutroomError as error:
            raise ResourceError(str(error)) from error
        return json.dumps(found.model_dump(mode="json"), ensure_ascii=False)
