"""The local SeaweedFS: one process with master, volume server, filer and S3 gateway."""

import json
import subprocess
from pathlib import Path

from dev.environment import BUCKET, HOST, Port, Settings, write_private
from dev.probe import fetch, program_beside_python
from dev.services.process import Service, ServiceError, port_is_free

SHELL_SECONDS = 30.0
SOCKET_FOLDER = Path("/tmp")  # noqa: S108 - hard-coded in SeaweedFS
PORT_FLAGS = {
    Port.S3: "s3.port",
    Port.S3_GRPC: "s3.port.grpc",
    Port.WEED_MASTER: "master.port",
    Port.WEED_MASTER_GRPC: "master.port.grpc",
    Port.WEED_VOLUME: "volume.port",
    Port.WEED_VOLUME_GRPC: "volume.port.grpc",
    Port.WEED_FILER: "filer.port",
    Port.WEED_FILER_GRPC: "filer.port.grpc",
}
# With fsync, acknowledged uploads survive a power cut. The bucket is created last and marks completion.
SHELL_COMMANDS = f"""\
fs.configure -locationPrefix=/buckets/{BUCKET}/ -fsync=true -apply
s3.bucket.create -name {BUCKET}
"""


def service(settings: Settings) -> Service:
    folder = settings.data_dir / "seaweedfs"
    weed = str(program_beside_python("weed"))
    return Service(
        name="seaweedfs",
        port=settings.port(Port.S3),
        command=(weed, "server", *flags(settings, folder)),
        prepare=lambda: prepare(settings, folder),
        healthy=lambda: accepts_writes(settings),
        configure=lambda: create_bucket(settings, weed),
        variables={"GOMEMLIMIT": "1GiB"},
        tidy=lambda: remove_sockets(settings),
        # Volumes close immediately; the filer would then wait 15 s for its own gateway.
        stop_seconds=3.0,
    )


def flags(settings: Settings, folder: Path) -> tuple[str, ...]:
    return (
        f"-dir={folder / 'volumes'}",
        f"-ip={HOST}",
        f"-ip.bind={HOST}",
        "-filer",
        "-s3",
        *(f"-{name}={settings.port(port)}" for port, name in PORT_FLAGS.items()),
        f"-s3.config={folder / 's3.json'}",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        "-s3.iam=false",
        # Requests with a mistyped bucket name must fail.
        "-s3.autoCreateBucket=false",
        "-master.telemetry=false",
        # A single master needs no election.
        "-master.peers=none",
        # As many 1 GiB volumes as fit on the disk; a bucket uses several concurrently.
        "-master.volumeSizeLimitMB=1024",
        # No automatic vacuum: with 4.48, a volume whose vacuum fails to commit cannot be read until a restart.
        "-master.garbageThreshold=2",
        "-volume.max=0",
        # No other server takes over.
        "-volume.preStopSeconds=0",
        # Bound memory use: uploads beyond the limit wait.
        "-s3.concurrentUploadLimitMB=128",
        "-filer.concurrentUploadLimitMB=128",
        "-volume.concurrentUploadLimitMB=256",
        "-volume.concurrentDownloadLimitMB=256",
        "-s3.readerCacheSizeMB=128",
    )


def prepare(settings: Settings, folder: Path) -> None:
    remove_sockets(settings)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / "volumes").mkdir(exist_ok=True)
    secret = settings.secrets
    identity = {
        "name": "cutroom",
        "credentials": [{"accessKey": secret.s3_access_key, "secretKey": secret.s3_secret_key}],
        "actions": ["Admin", "Read", "List", "Tagging", "Write"],
    }
    write_private(folder / "s3.json", json.dumps({"identities": [identity]}, indent=2))


def remove_sockets(settings: Settings) -> None:
    """Removes stale sockets from a directory that is not configurable; they prevent the next start."""
    # If a port is in use, its socket belongs to another server.
    ports = [number for number in map(settings.port, PORT_FLAGS) if port_is_free(number)]
    for path in (path for number in ports for path in SOCKET_FOLDER.glob(f"seaweedfs-*-{number}.sock")):
        try:
            path.unlink()
        except PermissionError as error:
            raise ServiceError(f"{path} belongs to another user: remove it, or set CUTROOM_PORT_BASE") from error


def accepts_writes(settings: Settings) -> bool:
    """Also checks the master, because the gateway is up before the volumes have registered."""
    gateway, master = settings.address(Port.S3), settings.address(Port.WEED_MASTER)
    if fetch(f"http://{gateway}/healthz") is None:
        return False
    response = fetch(f"http://{master}/dir/status")
    return response is not None and bool(json.loads(response)["Topology"]["DataCenters"])


def create_bucket(settings: Settings, weed: str) -> None:
    if bucket_exists(settings):
        return
    master = f"{settings.address(Port.WEED_MASTER)}.{settings.port(Port.WEED_MASTER_GRPC)}"
    filer = f"{settings.address(Port.WEED_FILER)}.{settings.port(Port.WEED_FILER_GRPC)}"
    done = subprocess.run(
        (weed, "shell", f"-master={master}", f"-filer={filer}"),
        input=SHELL_COMMANDS,
        capture_output=True,
        text=True,
        timeout=SHELL_SECONDS,
        check=False,
    )
    if not bucket_exists(settings):
        raise ServiceError(f"SeaweedFS could not create the bucket:\n{done.stdout}{done.stderr}")


def bucket_exists(settings: Settings) -> bool:
    return fetch(f"http://{settings.address(Port.WEED_FILER)}/buckets/{BUCKET}/?limit=1") is not None
