"""One address for several API processes: each new connection goes to the process that is in service."""

import asyncio
from contextlib import suppress

CHUNK_BYTES = 64 * 1024


class Front:
    """Forwards bytes, as a load balancer for TCP does. It retries nothing: what a process drops, the client sees."""

    def __init__(self) -> None:
        self._target = 0
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.connections = 0

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)

    def direct_to(self, port: int) -> None:
        """Sends new connections to this port; open ones stay where they are."""
        self._target = port

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self.connections += 1
        try:
            with suppress(OSError):
                behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", self._target)
                try:
                    await asyncio.gather(_forward(reader, behind_writer), _forward(behind_reader, writer))
                finally:
                    behind_writer.transport.abort()
        finally:
            self._open.discard(task)
            writer.transport.abort()


async def _forward(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Copies until the source closes, and closes the target after what was sent."""
    while data := await source.read(CHUNK_BYTES):
        target.write(data)
        await target.drain()
    target.close()
    await target.wait_closed()
