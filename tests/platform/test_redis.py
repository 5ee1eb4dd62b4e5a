"""Batched commands return to their callers; outages are detected quickly."""

import asyncio
import time
from collections.abc import AsyncIterator
from urllib.parse import urlsplit, urlunsplit

import pytest
from redis.asyncio import Redis

from cutroom.platform.ids import new_id
from cutroom.platform.redis import MAX_BATCH, BatchingRedis, RedisUnavailableError, Script
from cutroom.platform.settings import Settings
from dev.server import free_port

ECHO = Script("return {KEYS[1], ARGV[1]}")
READ = Script("return redis.call('GET', KEYS[1])")
BROKEN = Script("return redis.call('GET')")
QUICK_SECONDS = 1.0


@pytest.fixture
async def redis(settings: Settings) -> AsyncIterator[BatchingRedis]:
    opened = BatchingRedis(settings.redis_url.get_secret_value(), timeout_seconds=10)  # tolerate a busy machine
    yield opened
    await opened.close()


@pytest.fixture
async def plain(settings: Settings) -> AsyncIterator[Redis]:
    """A plain Redis client for setup and assertions."""
    async with Redis.from_url(settings.redis_url.get_secret_value()) as opened:
        yield opened


@pytest.mark.parametrize("askers", [1, 2, MAX_BATCH, MAX_BATCH + 1, 3 * MAX_BATCH + 7])
async def test_concurrent_callers_get_their_own_results(redis: BatchingRedis, askers: int) -> None:
    responses = await asyncio.gather(*(redis.run(ECHO, [f"key{n}"], arguments=(n,)) for n in range(askers)))
    assert responses == [[f"key{n}".encode(), str(n).encode()] for n in range(askers)]


async def test_commands_added_during_a_batch_are_sent(redis: BatchingRedis) -> None:
    async def ask_often(name: int) -> list[object]:
        return [await redis.run(ECHO, [f"{name}"], arguments=(turn,)) for turn in range(20)]

    responses = await asyncio.gather(*(ask_often(name) for name in range(30)))
    assert responses == [[[str(name).encode(), str(turn).encode()] for turn in range(20)] for name in range(30)]


async def test_flushed_script_is_loaded_again(redis: BatchingRedis, plain: Redis) -> None:
    assert await redis.run(ECHO, ["a"], arguments=(1,)) == [b"a", b"1"]
    await plain.script_flush()
    assert await plain.script_exists(ECHO.sha1) == [False]
    responses = await asyncio.gather(*(redis.run(ECHO, ["b"], arguments=(n,)) for n in range(10)))
    assert responses == [[b"b", str(n).encode()] for n in range(10)]
    assert await plain.script_exists(ECHO.sha1) == [True]


async def test_sent_commands_run_before_later_scripts(redis: BatchingRedis, plain: Redis) -> None:
    key = f"test:{new_id()}"
    redis.send(("SET", key, "sent", "PX", 10_000))
    assert await redis.run(READ, [key], arguments=()) == b"sent"
    await plain.delete(key)


async def test_close_flushes_sent_commands(settings: Settings, plain: Redis) -> None:
    key, closing = f"test:{new_id()}", BatchingRedis(settings.redis_url.get_secret_value(), timeout_seconds=10)
    closing.send(("SET", key, "sent", "PX", 10_000))
    await closing.close()
    assert await plain.getdel(key) == b"sent"


async def test_error_affects_only_its_own_caller(redis: BatchingRedis) -> None:
    asked = (
        redis.run(ECHO, ["a"], arguments=(1,)),
        redis.run(BROKEN, [], arguments=()),
        redis.run(ECHO, ["b"], arguments=(2,)),
    )
    responses = await asyncio.gather(*asked, return_exceptions=True)
    assert [responses[0], responses[2]] == [[b"a", b"1"], [b"b", b"2"]]
    assert isinstance(responses[1], RedisUnavailableError)


async def test_cancelled_caller_does_not_affect_others(redis: BatchingRedis) -> None:
    impatient = asyncio.create_task(redis.run(ECHO, ["a"], arguments=(1,)))
    patient = asyncio.create_task(redis.run(ECHO, ["b"], arguments=(2,)))
    await asyncio.sleep(0)
    impatient.cancel()
    assert await patient == [b"b", b"2"]
    assert await redis.run(ECHO, ["c"], arguments=(3,)) == [b"c", b"3"]


async def test_refused_connection_raises_immediately() -> None:
    redis, began = BatchingRedis(f"redis://127.0.0.1:{free_port()}/0"), time.monotonic()
    responses = await asyncio.gather(
        *(redis.run(ECHO, ["a"], arguments=(n,)) for n in range(100)), return_exceptions=True
    )
    assert all(isinstance(response, RedisUnavailableError) for response in responses)
    assert time.monotonic() - began < QUICK_SECONDS
    await redis.close()


async def test_unresponsive_redis_times_out() -> None:
    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    redis, began = BatchingRedis(f"redis://127.0.0.1:{port}/0"), time.monotonic()
    with pytest.raises(RedisUnavailableError):
        await redis.run(ECHO, ["a"], arguments=(1,))
    assert time.monotonic() - began < QUICK_SECONDS
    await redis.close()
    server.close()
    await server.wait_closed()


async def test_wrong_password_raises_unavailable(settings: Settings) -> None:
    url = urlsplit(settings.redis_url.get_secret_value())
    wrong = urlunsplit(url._replace(netloc=f":wrong@{url.hostname}:{url.port}"))
    redis = BatchingRedis(wrong)
    with pytest.raises(RedisUnavailableError):
        await redis.run(ECHO, ["a"], arguments=(1,))
    await redis.close()


async def test_client_reconnects_after_an_outage(settings: Settings) -> None:
    """The same client first finds a closed port, then a relay to the real Redis."""
    port, real = free_port(), urlsplit(settings.redis_url.get_secret_value())
    redis = BatchingRedis(urlunsplit(real._replace(netloc=f":{real.password}@127.0.0.1:{port}")))
    with pytest.raises(RedisUnavailableError):
        await redis.run(ECHO, ["a"], arguments=(1,))

    async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
        sink.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream_reader, upstream_writer = await asyncio.open_connection(real.hostname, real.port)
        await asyncio.gather(pump(reader, upstream_writer), pump(upstream_reader, writer))

    server = await asyncio.start_server(relay, "127.0.0.1", port)
    assert await redis.run(ECHO, ["a"], arguments=(1,)) == [b"a", b"1"]
    await redis.close()
    server.close()
    await server.wait_closed()
