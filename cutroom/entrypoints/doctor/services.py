"""Checks PostgreSQL and its schema, Redis, Temporal, the object store and the API, as the processes reach them."""

import asyncio
from urllib.parse import urlsplit

import asyncpg
import httpx
from obstore.exceptions import BaseError as ObjectStoreError
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, GetSystemInfoRequest
from temporalio.service import RPCError

from cutroom.entrypoints.doctor.component import Component, ComponentHealth, Repairs, find_version
from cutroom.platform.clock import system_clock
from cutroom.platform.db import DATABASE_ERRORS, Connection, Database
from cutroom.platform.ids import new_id
from cutroom.platform.redis import BatchingRedis, RedisUnavailableError, Script
from cutroom.platform.settings import Settings
from cutroom.platform.storage.multipart import Signer, bucket_url, object_url
from cutroom.platform.storage.objects import Storage
from cutroom.platform.tables import SCHEMA_REVISION
from cutroom.platform.temporal import connect_lazily

PROBE_SECONDS = 15.0
_BYPASSES_RLS = """
SELECT rolsuper OR rolbypassrls OR EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public' AND tableowner = rolname)
FROM pg_roles WHERE rolname = current_user
"""
_SERVER_INFO = Script("return redis.call('INFO', 'server')")


async def check_services(settings: Settings, *, repairs: Repairs) -> list[Component]:
    database, redis, temporal, store, api = await asyncio.gather(
        check_database(settings, repairs=repairs),
        check_redis(settings, repairs=repairs),
        check_temporal(settings, repairs=repairs),
        check_object_store(settings, repairs=repairs),
        check_api(settings, repairs=repairs),
    )
    return [*database, redis, temporal, store, api]


async def check_database(settings: Settings, *, repairs: Repairs) -> list[Component]:
    """PostgreSQL, and whether its schema is the one that this version needs."""
    url = settings.database_url.get_secret_value()
    where, fix = _address(url), repairs.service.format("postgres")
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            pooler = settings.database_pooler
            database = await Database.connect(url, 1, application="cutroom-doctor", pooler=pooler)
            try:
                async with database.connection() as connection:
                    version = find_version(await connection.fetchval("SHOW server_version"))
                    schema = await _check_schema(connection, repairs=repairs)
            finally:
                await database.close()
    except DATABASE_ERRORS:
        return [
            Component("PostgreSQL", ComponentHealth.STOPPED, where=where, fix=fix),
            Component("schema", ComponentHealth.STOPPED, where=where, fix=fix),
        ]
    return [Component("PostgreSQL", ComponentHealth.OK, version, where=where), schema, await check_roles(settings)]


async def check_roles(settings: Settings) -> Component:
    """Whether each process can connect, with a role that row-level security applies to."""
    urls = {"api": settings.api_database, "worker": settings.worker_database, "relay": settings.relay_database}
    for process, url in urls.items():
        where, fix = _address(url), f"set CUTROOM_{process.upper()}_DATABASE_URL to a URL of cutroom_{process}"
        try:
            connection = await asyncpg.connect(url, timeout=PROBE_SECONDS)
            try:
                bypasses = await connection.fetchval(_BYPASSES_RLS)
            finally:
                await connection.close()
        except DATABASE_ERRORS:
            return Component("database roles", ComponentHealth.STOPPED, where=where, fix=fix)
        if bypasses:
            return Component("database roles", ComponentHealth.UNHEALTHY, where=where, fix=fix)
    names = sorted({urlsplit(url).username or "" for url in urls.values()})
    return Component("database roles", ComponentHealth.OK, f"{len(names)} roles", where=", ".join(names))


async def _check_schema(connection: Connection, *, repairs: Repairs) -> Component:
    try:
        revision = await connection.fetchval("SELECT version_num FROM alembic_version")
    except asyncpg.UndefinedTableError:  # never migrated
        revision = ""
    health = ComponentHealth.OK if revision == SCHEMA_REVISION else ComponentHealth.BEHIND
    return Component("schema", health, revision, where=f"revision {SCHEMA_REVISION} needed", fix=repairs.migrate)


async def check_redis(settings: Settings, *, repairs: Repairs) -> Component:
    url = settings.redis_url.get_secret_value()
    redis = BatchingRedis(url, timeout_seconds=PROBE_SECONDS)
    try:
        info = (await redis.run(_SERVER_INFO, [], arguments=())).decode(errors="replace")
    except RedisUnavailableError:
        return Component("Redis", ComponentHealth.STOPPED, where=_address(url), fix=repairs.service.format("redis"))
    finally:
        await redis.close()
    return Component(
        "Redis", ComponentHealth.OK, find_version(info.partition("redis_version:")[2]), where=_address(url)
    )


async def check_temporal(settings: Settings, *, repairs: Repairs) -> Component:
    address, namespace = settings.temporal_address, settings.temporal_namespace
    where = f"{address}, namespace {namespace}"
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            service = (await connect_lazily(settings)).workflow_service
            version = (await service.get_system_info(GetSystemInfoRequest())).server_version
    except (RPCError, RuntimeError, TimeoutError):  # the SDK's core raises RuntimeError if it cannot connect
        return Component("Temporal", ComponentHealth.STOPPED, where=where, fix=repairs.service.format("temporal"))
    try:
        await service.describe_namespace(DescribeNamespaceRequest(namespace=namespace))
    except RPCError:
        fix = f"temporal operator namespace create --address {address} --namespace {namespace}"
        return Component("Temporal", ComponentHealth.UNHEALTHY, version, where=where, fix=fix)
    return Component("Temporal", ComponentHealth.OK, version, where=where)


async def check_object_store(settings: Settings, *, repairs: Repairs) -> Component:
    """Writes an object, reads it with a signed request, and deletes it."""
    storage, path = Storage.connect(settings), f"doctor/{new_id()}"
    where, fix = bucket_url(settings), repairs.service.format("seaweedfs bucket")
    url = object_url(where, path)
    try:
        async with asyncio.timeout(PROBE_SECONDS), httpx.AsyncClient(timeout=PROBE_SECONDS) as client:
            await storage.put(path, b"ok")
            signed = Signer.of(settings).headers("GET", url, signed={}, now=system_clock())
            response = await client.get(url, headers=signed)
            await storage.delete(path)
    except (ObjectStoreError, OSError, TimeoutError, httpx.HTTPError):
        return Component("object store", ComponentHealth.STOPPED, where=where, fix=fix)
    health = ComponentHealth.OK if response.content == b"ok" else ComponentHealth.UNHEALTHY
    return Component("object store", health, find_version(response.headers.get("server", "")), where=where, fix=fix)


async def check_api(settings: Settings, *, repairs: Repairs) -> Component:
    url = f"{settings.base_url}/v1/health"
    try:
        async with httpx.AsyncClient(timeout=PROBE_SECONDS) as client:
            version = (await client.get(url)).raise_for_status().json()["version"]
    except (httpx.HTTPError, ValueError, KeyError):
        return Component("API", ComponentHealth.STOPPED, where=url, fix=repairs.api, required=False)
    return Component("API", ComponentHealth.OK, version, where=url)


def _address(url: str) -> str:
    """Host and port, without the password."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
