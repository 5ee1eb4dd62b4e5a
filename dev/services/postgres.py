"""The local PostgreSQL server: programs, data directory, settings and roles."""

import hashlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from dev.environment import HOST, PROJECT, Port, Settings
from dev.services.process import Service, ServiceError, wait_until

ROLES_SQL = PROJECT / "deploy" / "postgres" / "roles.sql"
SERVER_USER = "postgres"
ORPHANS_SECONDS = 3.0
FALLBACK = Path("/var/lib")

SERVER_OPTIONS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",  # a socket path is limited to 107 bytes, a project path is not
    "max_connections": "300",  # several tests and proofs at a time, with 20 for each API and worker
    "shared_buffers": "256MB",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "log_min_messages": "warning",
    "log_min_duration_statement": "1s",
    "log_lock_waits": "on",
    "log_parameter_max_length": "0",  # parameters are titles and texts of users
    "log_error_verbosity": "terse",  # details contain rows
    "log_line_prefix": "%m [%p] %u@%d ",
    "timezone": "UTC",
}


@dataclass(frozen=True)
class Cluster:
    """The cluster directory and the user that owns it (PostgreSQL refuses to run as root)."""

    programs: Path
    home: Path
    port: int
    user: str | None

    @property
    def data(self) -> Path:
        return self.home / "cluster"

    @property
    def password_file(self) -> Path:
        return self.home / "password"

    def command(self, program: str, *arguments: str) -> tuple[str, ...]:
        return (*_as_user(self.user), str(self.programs / program), *arguments)


def service(settings: Settings) -> Service:
    cluster = find_cluster(settings)
    options = {"port": str(cluster.port)} | SERVER_OPTIONS
    flags = (part for name, value in options.items() for part in ("-c", f"{name}={value}"))
    return Service(
        name="postgres",
        port=cluster.port,
        command=cluster.command("postgres", "-D", str(cluster.data), *flags),
        prepare=lambda: prepare(cluster),
        healthy=lambda: accepts_connections(cluster),
        configure=lambda: create_roles(cluster, settings),
        stop_signal=signal.SIGINT,  # fast shutdown: open transactions are rolled back
    )


def find_cluster(settings: Settings) -> Cluster:
    user = SERVER_USER if os.geteuid() == 0 else None
    folder = home(settings.data_dir)
    return Cluster(find_programs(folder), folder, port=settings.port(Port.POSTGRES), user=user)


def find_programs(home: Path | None = None) -> Path:
    """Returns the programs of the version that created the cluster, else of the newest installed version."""
    # Debian installs one directory per version, outside PATH.
    installed = {int(path.parts[-3]): path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/postgres")}
    made_by = home / "cluster" / "PG_VERSION" if home else Path()
    if made_by.is_file() and int(made_by.read_text()) in installed:
        return installed[int(made_by.read_text())]
    if installed:
        return installed[max(installed)]
    if (in_path := shutil.which("postgres")) is None:
        raise ServiceError("PostgreSQL is not installed: run dev/bootstrap")
    return Path(in_path).resolve().parent


def home(data_dir: Path) -> Path:
    """Returns the server's directory: in the data directory, or in /var/lib if its user cannot access that."""
    if os.geteuid() == 0 and not _reachable(data_dir):
        return FALLBACK / f"cutroom-{hashlib.sha256(bytes(data_dir)).hexdigest()[:12]}"
    return data_dir / "postgres"


def prepare(cluster: Cluster) -> None:
    """Creates the cluster if there is none, and cleans up after a killed server."""
    if cluster.home.parent == FALLBACK:
        print(f"postgres: its user cannot access the data directory; using {cluster.home}", file=sys.stderr)
    cluster.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    _change_owner(cluster.home, cluster.user)
    if (cluster.data / "PG_VERSION").exists():
        end_orphans(cluster.data)
        # A stale pid may have been reused by another process, which would prevent the start.
        (cluster.data / "postmaster.pid").unlink(missing_ok=True)
    else:
        initialize(cluster)


def initialize(cluster: Cluster) -> None:
    """Creates the cluster in a temporary directory and renames it, so that it is never incomplete."""
    new = cluster.home / "new"
    shutil.rmtree(new, ignore_errors=True)
    if not cluster.password_file.exists():
        cluster.password_file.touch(mode=0o600)
        _change_owner(cluster.password_file, cluster.user)
        cluster.password_file.write_text(token_hex(16))
    # A fixed locale makes sorting reproducible; checksums detect disk corruption.
    _run(
        cluster.command(
            "initdb",
            *("-D", str(new), "--username", SERVER_USER, "--pwfile", str(cluster.password_file)),
            *("--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C.UTF-8", "--data-checksums"),
        )
    )
    new.rename(cluster.data)


def accepts_connections(cluster: Cluster) -> bool:
    command = (str(cluster.programs / "pg_isready"), "--quiet", "--host", HOST, "--port", str(cluster.port))
    return subprocess.run(command, check=False).returncode == 0


def create_roles(cluster: Cluster, settings: Settings) -> None:
    variables = {
        "CUTROOM_OWNER_PASSWORD": settings.secrets.owner_password,
        "CUTROOM_API_PASSWORD": settings.secrets.api_password,
        "CUTROOM_WORKER_PASSWORD": settings.secrets.worker_password,
        "CUTROOM_RELAY_PASSWORD": settings.secrets.relay_password,
        "CUTROOM_APP_PASSWORD": settings.secrets.app_password,
    }
    run_script(cluster, ROLES_SQL, variables=variables)


def run_script(cluster: Cluster, script: Path, *, variables: Mapping[str, str]) -> None:
    """Runs an SQL script as the superuser."""
    connection = (*("--host", HOST), *("--port", str(cluster.port)), *("--username", SERVER_USER))
    psql = (str(cluster.programs / "psql"), "--no-psqlrc", "--quiet", *connection, "--dbname", "postgres")
    _run((*psql, "--file", str(script)), {"PGPASSWORD": cluster.password_file.read_text(), **variables})


def end_orphans(data: Path) -> None:
    """Waits for the children of a killed server, which hold its shared memory; kills those that remain."""
    if wait_until(lambda: not _processes_in(data), seconds=ORPHANS_SECONDS):
        return
    for pid, title in _processes_in(data).items():
        # Children have titles such as "postgres: ..."; a server process was started by someone else.
        if not title.startswith("postgres: "):
            raise ServiceError(f"another PostgreSQL (pid {pid}) uses {data}: stop it first")
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not _processes_in(data), seconds=ORPHANS_SECONDS)


def _processes_in(folder: Path) -> dict[int, str]:
    """Returns pids and titles of processes whose working directory is the folder."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == folder:
                found[int(process.name)] = (process / "cmdline").read_text().replace("\0", " ")
        except OSError:  # exited meanwhile, or owned by another user
            continue
    return found


def _as_user(user: str | None) -> tuple[str, ...]:
    if user is None:
        return ()
    return ("setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--inh-caps=-all", "--")


def _change_owner(path: Path, user: str | None) -> None:
    if user is not None:
        account = pwd.getpwnam(user)
        os.chown(path, account.pw_uid, account.pw_gid)


def _reachable(folder: Path) -> bool:
    command = (*_as_user(SERVER_USER), "test", "-x", str(folder))
    return subprocess.run(command, check=False).returncode == 0


def _run(command: tuple[str, ...], variables: dict[str, str] | None = None) -> None:
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8", **(variables or {})}
    # The server's user may not have access to the current directory.
    done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ServiceError(f"{Path(command[0]).name} failed:\n{done.stderr.strip()}")
