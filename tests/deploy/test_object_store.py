"""SeaweedFS as compose.yaml starts it: only the S3 gateway can be reached, and only with credentials."""

import asyncio
import os
import re
import signal
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from cutroom.platform.clock import system_clock
from cutroom.platform.storage.multipart import Signer
from dev.child_process import end_child, start_child
from dev.environment import PROJECT
from tests.support.network_namespace import PUBLIC, in_namespace, unavailable_reason

SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((PROJECT / "compose.yaml").read_text())["services"]
KEYS = {"CUTROOM_S3_ACCESS_KEY": "accesskey", "CUTROOM_S3_SECRET_KEY": "secretkey"}
GATEWAY, GATEWAY_GRPC = 8333, 18333
# Of the master, the volume server and the filer: HTTP and gRPC.
CLOSED_PORTS = {9333: "/dir/status", 8080: "/status", 8888: "/buckets/", 19333: "", 18080: "", 18888: ""}
HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
SETTINGS_FRAME = 4
START_SECONDS = 120.0

needs_namespace = pytest.mark.skipif(unavailable_reason() is not None, reason=unavailable_reason() or "")


def test_only_the_gateway_listens_on_the_network_of_the_containers() -> None:
    command = SERVICES["seaweedfs"]["command"]
    assert {"-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3.ip.bind=0.0.0.0"} <= set(command)
    assert [each for each in command if "ip.bind" in each and "=127.0.0.1" not in each] == ["-s3.ip.bind=0.0.0.0"]
    assert "ports" not in SERVICES["seaweedfs"]
    variables = SERVICES["seaweedfs"]["environment"]
    assert {"WEED_GRPC_CA", "WEED_GRPC_S3_CERT", "WEED_GRPC_S3_KEY"} <= set(variables)


def test_only_the_bucket_service_shares_the_loopback_interface() -> None:
    sharing = {name: each["network_mode"] for name, each in SERVICES.items() if "network_mode" in each}
    assert sharing == {"bucket": "service:seaweedfs"}
    reached = {
        (name, int(port))
        for name, each in SERVICES.items()
        for port in re.findall(r"seaweedfs:(\d+)", yaml.safe_dump(each))
    }
    assert reached == {(name, GATEWAY) for name in ("api", "worker", "operator")}


def _render(value: str, folder: Path) -> str:
    """A value of compose.yaml as the container sees it, with its folders under `folder`."""
    for name, key in KEYS.items():
        value = value.replace(f"${{{name}:?set it}}", key)
    return re.sub(
        r"/data\b|/tmp(?=/)", lambda match: f"{folder}{match[0].removeprefix('/tmp')}", value.replace("$$", "$")
    )


def _command(name: str, folder: Path) -> list[str]:
    service = SERVICES[name]
    return [_render(each, folder) for each in (*service.get("entrypoint", ()), *service["command"])]


def _environment(folder: Path) -> dict[str, str]:
    variables = {name: _render(value, folder) for name, value in SERVICES["seaweedfs"]["environment"].items()}
    return {**variables, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder)}


@asynccontextmanager
async def _seaweedfs(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    (folder / "data").mkdir()
    with (folder / "log").open("wb") as log:
        process = start_child(_command("seaweedfs", folder), environment=_environment(folder), output=log.fileno())
        try:
            async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
                async with asyncio.timeout(START_SECONDS):
                    while not await _is_ready(client):
                        assert process.poll() is None, (folder / "log").read_text()
                        await asyncio.sleep(0.2)
                yield client
        finally:
            end_child(process, signal.SIGKILL, seconds=10)
            for port in (GATEWAY, *CLOSED_PORTS):  # in a folder that is hard-coded in SeaweedFS
                for path in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                    path.unlink(missing_ok=True)


async def _is_ready(client: httpx.AsyncClient) -> bool:
    with suppress(httpx.HTTPError):
        healthy = await client.get(f"http://127.0.0.1:{GATEWAY}/healthz")
        topology = await client.get("http://127.0.0.1:9333/dir/status")
        return healthy.status_code == 200 and bool(topology.json()["Topology"]["DataCenters"])
    return False


@needs_namespace
@in_namespace
async def test_filer_master_and_volume_server_cannot_be_reached_from_other_containers(tmp_path: Path) -> None:
    async with _seaweedfs(tmp_path) as client:
        for port, path in CLOSED_PORTS.items():
            if path:  # it runs, on the loopback interface
                assert (await client.get(f"http://127.0.0.1:{port}{path}")).status_code == 200
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(PUBLIC, port)


@needs_namespace
@in_namespace
async def test_gateway_needs_credentials(tmp_path: Path) -> None:
    async with _seaweedfs(tmp_path) as client:
        command = _command("bucket", tmp_path)
        made = await asyncio.to_thread(subprocess.run, command, env=_environment(tmp_path), check=False)
        assert made.returncode == 0
        url = f"http://{PUBLIC}:{GATEWAY}/media/object"
        signed = {
            name: Signer(access_key="accesskey", secret_key=secret, region="us-east-1").headers(
                "PUT", url, signed={}, now=system_clock()
            )
            for name, secret in (("own", "secretkey"), ("guessed", "guess"))
        }
        for headers in ({}, signed["guessed"]):
            assert (await client.put(url, content=b"x", headers=headers)).status_code == 403
            assert (await client.get(f"http://{PUBLIC}:{GATEWAY}/media", headers=headers)).status_code == 403
        assert (await client.put(url, content=b"x", headers=signed["own"])).status_code == 200


@needs_namespace
@in_namespace
async def test_port_that_manages_identities_refuses_every_client(tmp_path: Path) -> None:
    async with _seaweedfs(tmp_path):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        for tls in (None, context):
            assert not await _speaks_http2(tls)
        assert list(tmp_path.glob("*.key")) == [tmp_path / "s3.key"]


async def _speaks_http2(tls: ssl.SSLContext | None) -> bool:
    """Whether the gRPC port answers an HTTP/2 preface with its settings, as for any client that it accepts."""
    try:
        reader, writer = await asyncio.open_connection(PUBLIC, GATEWAY_GRPC, ssl=tls)
        writer.write(HTTP2_PREFACE)
        answer = await asyncio.wait_for(reader.read(64), 30)
        writer.close()
    except (ssl.SSLError, ConnectionResetError):
        return False
    return len(answer) > SETTINGS_FRAME and answer[3] == SETTINGS_FRAME
