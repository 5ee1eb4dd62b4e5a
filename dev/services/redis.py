"""Cutroom's own Redis server: rate limits and leases, nothing that must survive a restart."""

import socket
from pathlib import Path

from dev.environment import HOST, Port, Settings, write_private
from dev.services.process import Service

# No eviction: a lease thrown out would let a library run more jobs than its plan allows. A full server
# refuses writes instead, which is seen at once. Every key expires by itself, so it only fills by a fault.
CONFIGURATION = """\
bind {host}
port {port}
dir {folder}
requirepass {password}
save ""
appendonly no
maxmemory 256mb
maxmemory-policy noeviction
daemonize no
"""


def service(settings: Settings) -> Service:
    folder = settings.data_dir / "redis"
    return Service(
        name="redis",
        port=settings.port(Port.REDIS),
        command=("redis-server", str(folder / "redis.conf")),
        prepare=lambda: prepare(settings, folder),
        healthy=lambda: answers(settings),
    )


def prepare(settings: Settings, folder: Path) -> None:
    """Write the password to a file: on the command line every user of the machine could read it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    port, password = settings.port(Port.REDIS), settings.secrets.redis_password
    text = CONFIGURATION.format(host=HOST, port=port, folder=f'"{folder}"', password=password)
    write_private(folder / "redis.conf", text)


def answers(settings: Settings) -> bool:
    # Two lines of its protocol, because importing the client library takes longer than the whole start.
    question = f"AUTH {settings.secrets.redis_password}\r\nPING\r\n"
    try:
        with socket.create_connection((HOST, settings.port(Port.REDIS)), timeout=1) as connection:
            connection.sendall(question.encode())
            answer = connection.makefile("rb")
            return [answer.readline(), answer.readline()] == [b"+OK\r\n", b"+PONG\r\n"]
    except OSError:
        return False
