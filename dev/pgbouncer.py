"""A private PgBouncer in front of the local PostgreSQL, for tests, proofs and benchmarks."""

import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr

from cutroom.platform.pooler import Pooler
from cutroom.platform.settings import Settings
from dev.child_process import end_child, start_child
from dev.environment import HOST
from dev.server import free_port
from dev.services.postgres import SERVER_USER

PROGRAM = "/usr/sbin/pgbouncer"  # where Debian installs it, which is not in the PATH of every user
POOL_SIZE = 20
START_SECONDS = 60.0
POLL_SECONDS = 0.03
STOP_SECONDS = 20.0
# The owner connects to PostgreSQL itself: it migrates and dumps.
POOLED_URLS = ("database_url", "api_database_url", "worker_database_url", "relay_database_url")

CONFIGURATION = """\
[databases]
* = host={host} port={postgres_port}
[pgbouncer]
listen_addr = {host}
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users.txt
pool_mode = session
default_pool_size = {pool_size}
max_client_conn = 1000
server_reset_query = DISCARD ALL
log_connections = 0
log_disconnections = 0
"""


@contextmanager
def pgbouncer(settings: Settings, *, pool_size: int = POOL_SIZE) -> Iterator[Settings]:
    """Run PgBouncer; yields the settings with the URLs of all roles but the owner leading to it."""
    folder, port = Path(tempfile.mkdtemp(prefix="cutroom-pgbouncer-")), free_port()
    process = None
    try:
        configuration = _configure(folder, settings, port=port, pool_size=pool_size)
        with (folder / "log").open("wb") as log:
            process = start_child([*_as_server_user(), PROGRAM, "--quiet", str(configuration)], output=log.fileno())
        deadline = time.monotonic() + START_SECONDS
        while not _accepts_connections(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PgBouncer did not start:\n{(folder / 'log').read_text()}")
            time.sleep(POLL_SECONDS)
        yield _through(settings, port)
    finally:
        end_child(process, signal.SIGTERM, seconds=STOP_SECONDS)
        shutil.rmtree(folder)


def _configure(folder: Path, settings: Settings, *, port: int, pool_size: int) -> Path:
    """Writes the configuration and the passwords, which PgBouncer needs in clear to sign in to PostgreSQL."""
    address = urlsplit(settings.database_url.get_secret_value())
    text = CONFIGURATION.format(
        host=HOST,
        postgres_port=address.port,
        port=port,
        folder=folder,
        pool_size=pool_size,
    )
    urls = (urlsplit(url.get_secret_value()) for name in POOLED_URLS if (url := getattr(settings, name)))
    users = "".join(f'"{url.username}" "{url.password}"\n' for url in urls)
    (folder / "pgbouncer.ini").write_text(text)
    (folder / "users.txt").write_text(users)
    if os.geteuid() == 0:
        for path in (folder, *folder.iterdir()):
            shutil.chown(path, SERVER_USER)
    return folder / "pgbouncer.ini"


def _as_server_user() -> tuple[str, ...]:
    """It refuses to run as root. A process that changes its user would otherwise outlive its parent."""
    if os.geteuid() != 0:
        return ()
    user = (f"--reuid={SERVER_USER}", f"--regid={SERVER_USER}", "--init-groups")
    return ("setpriv", "--pdeathsig", "KILL", *user, "--inh-caps=-all", "--")


def _accepts_connections(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False


def _through(settings: Settings, port: int) -> Settings:
    """The settings with the port of PgBouncer in the URLs of the application's roles."""
    urls = {
        name: SecretStr(_with_port(url.get_secret_value(), port))
        for name in POOLED_URLS
        if (url := getattr(settings, name)) is not None
    }
    return settings.model_copy(update={**urls, "database_pooler": Pooler.SESSION})


def _with_port(url: str, port: int) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{parts.username}:{parts.password}@{HOST}:{port}"))
