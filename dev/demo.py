"""The demo: starts all services on this machine and processes a video with every product."""

import argparse
import asyncio
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import httpx
from rich.console import Console

from cutroom.accounts import service as accounts
from cutroom.accounts.plans import PlanName, load_plans
from cutroom.accounts.sessions import change_password
from cutroom.credits import ledger
from cutroom.credits.pricing import MILLICREDITS
from cutroom.engines.models.pull import select_models
from cutroom.engines.models.store import ModelStore
from cutroom.platform.clock import system_clock
from cutroom.platform.db import register_json_codec
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from dev.demo_progress import DemoProgress
from dev.demo_walkthrough import DemoError, Walkthrough
from dev.environment import PROJECT, data_dir
from dev.server import Server
from dev.services import control
from dev.services.process import ServiceError

VIDEO = PROJECT / "examples" / "launch.mp4"
MODELS = "demo"  # a set of the model manifest
EMAIL = "demo@example.com"
CREDITS = 100
API = "cutroom.entrypoints.api"
WORKER = "cutroom.entrypoints.worker"
STOP_SECONDS = 60.0

console = Console(highlight=False, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class DemoAccount:
    """Credentials of the demo user."""

    password: str
    key: str


def main() -> int:
    parser = argparse.ArgumentParser(prog="cutroom-server demo", description=__doc__)
    parser.add_argument("--exit", action="store_true", help="exit when everything is ready instead of on Ctrl-C")
    parser.add_argument("--video", type=Path, default=VIDEO, help="video to process instead of the bundled one")
    arguments = parser.parse_args()
    try:
        progress = DemoProgress(console)
        with running(progress) as (variables, url):
            account = asyncio.run(create_account(Settings.model_validate(_settings(variables))))
            _run_walkthrough(arguments.video, account, url, progress=progress)
            if not arguments.exit:
                console.print("Press Ctrl-C to stop.")
                threading.Event().wait()
    except KeyboardInterrupt:
        console.print("Stopped.")
    except (DemoError, ServiceError, httpx.HTTPError, subprocess.CalledProcessError) as error:
        console.print(f"[bold red]error:[/] {error}")
        console.print(f"Logs: {_logs()}")
        return 1
    return 0


def _run_walkthrough(video: Path, account: DemoAccount, url: str, *, progress: DemoProgress) -> None:
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {account.key}"}, timeout=120) as client:
        walkthrough = Walkthrough(client, progress, output_dir=data_dir() / "demo")
        video_id = walkthrough.run(video)
    console.print(f"\nSee it all at [bold]{url}/videos/{video_id}[/]")
    console.print(f"Sign in as [bold]{EMAIL}[/] with the password [bold]{account.password}[/]")
    console.print(f"Use the command line: [bold]uv run cutroom login --base-url {url}[/]")
    console.print(f"Output files: {walkthrough.output_dir}")


@contextmanager
def running(progress: DemoProgress) -> Iterator[tuple[dict[str, str], str]]:
    """Runs the services, migrations, API and worker; stops what it started on exit."""
    variables = {**os.environ, **control.environment(), "PYTHONUNBUFFERED": "1"}
    fetch_models(Path(variables["CUTROOM_MODELS_DIR"]), progress)
    _logs().mkdir(parents=True, exist_ok=True)
    progress.say("Starting PostgreSQL, Redis, Temporal and SeaweedFS")
    started = control.start_all(lambda report: progress.say(str(report)))
    url = f"http://{variables['CUTROOM_API_HOST']}:{variables['CUTROOM_API_PORT']}"
    try:
        progress.say("Migrating the database")
        migration = (sys.executable, "-m", "alembic", "upgrade", "head")
        subprocess.run(migration, env=variables, cwd=PROJECT, check=True, capture_output=True)
        if _is_running(url):
            progress.say(f"Using the Cutroom instance running at {url}")
            yield variables, url
            return
        progress.say("Starting API and worker")
        with _processes(variables) as api:
            progress.say(f"Cutroom is running at {url}; API reference: {url}/docs")
            yield variables, api.url
    finally:
        if all(report.state == "started" for report in started):  # otherwise another process is using them
            control.stop_all()


@contextmanager
def _processes(variables: dict[str, str]) -> Iterator[Server]:
    """Runs the API and a worker, logging to files."""
    with (_logs() / "api.log").open("ab") as api_log, (_logs() / "worker.log").open("ab") as worker_log:
        api = Server(variables, ("-m", API), port=int(variables["CUTROOM_API_PORT"]), log=os.dup(api_log.fileno()))
        command = [sys.executable, "-m", WORKER]
        worker = subprocess.Popen(command, env=variables, cwd=PROJECT, stdout=worker_log, stderr=worker_log)
        try:
            api.start()
        except BaseException:
            _stop(worker)
            raise
        try:
            yield api
        finally:
            with console.status("Stopping API and worker ..."):
                _stop(worker)
                api.stop()


def _stop(worker: "subprocess.Popen[bytes]") -> None:
    worker.terminate()
    try:
        worker.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()


def fetch_models(folder: Path, progress: DemoProgress) -> None:
    """Downloads and verifies the models that are not installed yet."""
    missing = missing_models(folder)
    if missing:
        progress.say(f"Downloading {len(missing)} models: {', '.join(missing)}")
        pull = (sys.executable, "-m", "cutroom.entrypoints.cli", "models", "pull", *missing, "--folder", str(folder))
        subprocess.run(pull, cwd=PROJECT, check=True)


def missing_models(folder: Path) -> Sequence[str]:
    store = ModelStore(folder)
    required = select_models(store.manifest, (), sets=(MODELS,), everything=False)
    return [model.name for model in required if not store.is_complete(model)]


async def create_account(settings: Settings) -> DemoAccount:
    """Creates or reuses the demo user; grants credits, sets a new password and creates an API key."""
    assert settings.owner_database_url is not None
    connection = await asyncpg.connect(settings.owner_database_url.get_secret_value())
    password = secrets.token_urlsafe(9)
    try:
        await register_json_codec(connection)
        async with connection.transaction():
            now = system_clock()
            user_id = await connection.fetchval("SELECT id FROM users WHERE email = $1", EMAIL)
            if user_id is None:
                plan = PlanName.CREATOR
                made = await accounts.create_user(connection, EMAIL, name="Demo", plan=plan, now=now)
                user_id = made.user_id
            library_id = await connection.fetchval(
                """SELECT l.id FROM libraries l JOIN members m ON m.library_id = l.id
                   WHERE l.kind = 'personal' AND m.user_id = $1""",
                user_id,
            )
            await change_password(connection, user_id, password, now=now)
            await ledger.grant(connection, library_id, millicredits=CREDITS * MILLICREDITS, reference=new_id(), now=now)
            issuer = accounts.KeyIssuer(
                secret_box=SecretBox(settings.secret_key.get_secret_value()), plans=load_plans(settings.plans_file)
            )
            key = await issuer.create_key(
                connection, library_id, user_id=user_id, name=f"demo {now:%H:%M:%S}", scopes=[], now=now
            )
    finally:
        await connection.close()
    return DemoAccount(password, key.secret)


def _settings(variables: dict[str, str]) -> dict[str, str]:
    prefix = "CUTROOM_"
    return {key.removeprefix(prefix).lower(): value for key, value in variables.items() if key.startswith(prefix)}


def _is_running(url: str) -> bool:
    try:
        return httpx.get(f"{url}/v1/health", timeout=5).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def _logs() -> Path:
    return data_dir() / "logs"


if __name__ == "__main__":
    sys.exit(main())
