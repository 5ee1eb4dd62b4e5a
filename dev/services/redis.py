"""The local Redis server: rate limits and leases, no data that must survive a restart."""

import socket
from pathlib import Path

from dev.environment import HOST, Port, Settings, write_private
from dev.services.process import Service

# No eviction: an evicted lease would let a library exceed its job limit. A full server rejects writes instead.
# Every key has an expiry, so it only fills up because of a bug.
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
        healthy=lambda: responds(settings),
    )


def prepare(settings: Settings, folder: Path) -> None:
    """Writes the password to a file, because command lines are visible to all users."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    port, password = settings.port(Port.REDIS), settings.secrets.redis_password
    text = CONFIGURATION.format(host=HOST, port=port, folder=f'"{folder}"', password=password)
    write_private(folder / "redis.conf", text)


def responds(settings: Settings) -> bool:
    # Raw protocol, because importing the client library takes longer than starting the server.
    request = f"AUTH {settings.secrets.redis_password}\r\nPING\r\n"
    try:
        with socket.create_connection((HOST, settings.port(Port.REDIS)), timeout=1) as connection:
            connection.sendall(request.encode())
            response = connection.makefile("rb")
            return [response.readline(), response.readline()] == [b"+OK\r\n", b"+PONG\r\n"]
    except OSError:
        return False
