"""Cutroom's own SeaweedFS: one process with master, volume, filer and the S3 gateway."""

import json
import subprocess
from pathlib import Path

from dev.environment import BUCKET, HOST, Port, Settings, write_private
from dev.probe import fetch, program_beside_python
from dev.services.process import Service, ServiceError, port_is_free

SHELL_SECONDS = 30.0
SOCKET_FOLDER = Path("/tmp")  # noqa: S108 - written into the program
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
# With fsync an acknowledged upload survives a power cut. The bucket comes last: where it is, all is done.
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
        healthy=lambda: takes_writes(settings),
        configure=lambda: create_bucket(settings, weed),
        variables={"GOMEMLIMIT": "1GiB"},
        tidy=lambda: remove_sockets(settings),
        # Its volumes close at once; then its filer waits 15 s for its own gateway to hang up, for nothing.
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
        # A mistyped bucket name must fail.
        "-s3.autoCreateBucket=false",
        "-master.telemetry=false",
        # A single master need not wait for others to vote.
        "-master.peers=none",
        # As many volumes of 1 GiB as the disk holds; a bucket takes several at once.
        "-master.volumeSizeLimitMB=1024",
        "-volume.max=0",
        # There is no second server to hand over to.
        "-volume.preStopSeconds=0",
        # Uploads wait their turn instead of filling the memory.
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
    """Remove what it leaves behind in a folder that no flag moves; it cannot start beside another user's."""
    # Where a port is taken, the sockets are those of another project's server.
    ports = [number for number in map(settings.port, PORT_FLAGS) if port_is_free(number)]
    for path in (path for number in ports for path in SOCKET_FOLDER.glob(f"seaweedfs-*-{number}.sock")):
        try:
            path.unlink()
        except PermissionError as error:
            raise ServiceError(f"{path} belongs to another user: remove it, or set CUTROOM_PORT_BASE") from error


def takes_writes(settings: Settings) -> bool:
    """The gateway answers before its volumes have reported to the master, so ask the master too."""
    gateway, master = settings.address(Port.S3), settings.address(Port.WEED_MASTER)
    if fetch(f"http://{gateway}/healthz") is None:
        return False
    answer = fetch(f"http://{master}/dir/status")
    return answer is not None and bool(json.loads(answer)["Topology"]["DataCenters"])


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
        raise ServiceError(f"SeaweedFS refused its bucket:\n{done.stdout}{done.stderr}")


def bucket_exists(settings: Settings) -> bool:
    return fetch(f"http://{settings.address(Port.WEED_FILER)}/buckets/{BUCKET}/?limit=1") is not None
