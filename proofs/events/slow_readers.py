"""Streams that are not read while events are published, and are read to their end later."""

import fcntl
import json
import socket
import struct
import termios
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from urllib.parse import urlsplit

RECEIVE_BYTES = 4 * 1024
READ_SECONDS = 40.0  # more than twice the time between two heartbeats
CONNECTIONS = 20  # at most, of one reader


@dataclass(slots=True)
class SlowReader:
    """A stream of one API process, which continues after its last cursor when it was disconnected."""

    url: str
    key: str
    received: list[str] = field(default_factory=list)
    connections: int = 0
    _cursor: str = ""
    _socket: socket.socket = field(init=False)
    _response: HTTPResponse = field(init=False)

    def open(self) -> None:
        """Return when the stream has started, without reading its events."""
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        self._socket.settimeout(READ_SECONDS)
        self._socket.connect(("127.0.0.1", urlsplit(self.url).port))
        connection = HTTPConnection("proof")
        connection.sock = self._socket
        headers = {"Authorization": f"Bearer {self.key}"} | ({"Last-Event-ID": self._cursor} if self._cursor else {})
        connection.request("GET", "/v1/events/stream", headers=headers)
        self._response = connection.getresponse()
        if self._response.status != 200:
            raise RuntimeError(f"the stream was refused with {self._response.status}")
        self.connections += 1

    def arrived_bytes(self) -> int:
        """What waits in the socket."""
        [size] = struct.unpack("i", fcntl.ioctl(self._socket, termios.FIONREAD, b"\0" * 4))
        return int(size)

    def read_to(self, event_id: str) -> None:
        """Read at full speed until this event was received."""
        while self.connections <= CONNECTIONS:
            try:
                if self._read_connection(event_id):
                    return
            except (OSError, HTTPException):
                pass  # disconnected, because nothing was read
            self._socket.close()
            self.open()

    def _read_connection(self, event_id: str) -> bool:
        event: dict[str, str] = {}
        for raw in self._response:
            if line := raw.decode().rstrip():
                name, _, value = line.partition(": ")
                event[name] = value
                continue
            if "data" in event:
                self.received.append(json.loads(event["data"])["id"])
            self._cursor = event.get("id", self._cursor)
            event = {}
            if self.received and self.received[-1] == event_id:
                return True
        return False

    def close(self) -> None:
        self._socket.close()
