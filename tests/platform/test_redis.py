"""Batches: every asker gets the own answer, and a Redis that is away is noticed quickly."""

import asyncio
import time
from collections.abc import AsyncIterator
from urllib.parse import urlsplit, urlunsplit

import pytest
from redis.asyncio import Redis

from cutroom.platform.ids import new_id
from cutroom.platform.redis import MAX_BATCH, BatchingRedis, RedisAwayError, Script
from cutroom.platform.settings import Settings
from dev.server import free_port

ECHO = Script("return {KEYS[1], ARGV[1]}")
READ = Script("return redis.call('GET', KEYS[1])")
BROKEN = Script("return redis.call('GET')")
QUICK_SECONDS = 1.0


@pytest.fixture
async def redis(settings: Settings) -> AsyncIterator[BatchingRedis]:
    opened = BatchingRedis(settings.redis_url.get_secret_value(), timeout_seconds=10)  # a busy machine is not away
    yield opened
    await opened.close()


@pytest.fixture
async def plain(settings: Settings) -> AsyncIterator[Redis]:
    """Redis as its maker sees it, to prepare and to check."""
    async with Redis.from_url(settings.redis_url.get_secret_value()) as opened:
        yield opened


@pytest.mark.parametrize("askers", [1, 2, MAX_BATCH, MAX_BATCH + 1, 3 * MAX_BATCH + 7])
async def test_everyone_who_asks_at_once_gets_the_own_answer(redis: BatchingRedis, askers: int) -> None:
    answers = await asyncio.gather(*(redis.run(ECHO, [f"key{n}"], arguments=(n,)) for n in range(askers)))
    assert answers == [[f"key{n}".encode(), str(n).encode()] for n in range(askers)]


async def test_askers_who_come_while_a_batch_is_on_its_way_are_answered_too(redis: BatchingRedis) -> None:
    async def ask_often(name: int) -> list[object]:
        return [await redis.run(ECHO, [f"{name}"], arguments=(turn,)) for turn in range(20)]

    answers = await asyncio.gather(*(ask_often(name) for name in range(30)))
    assert answers == [[[str(name).encode(), str(turn).encode()] for turn in range(20)] for name in range(30)]


async def test_a_script_that_redis_has_forgotten_is_sent_again(redis: BatchingRedis, plain: Redis) -> None:
    assert await redis.run(ECHO, ["a"], arguments=(1,)) == [b"a", b"1"]
    await plain.script_flush()
    assert await plain.script_exists(ECHO.name) == [False]
    answers = await asyncio.gather(*(redis.run(ECHO, ["b"], arguments=(n,)) for n in range(10)))
    assert answers == [[b"b", str(n).encode()] for n in range(10)]
    assert await plain.script_exists(ECHO.name) == [True]


async def test_what_is_told_comes_before_what_is_asked_later(redis: BatchingRedis, plain: Redis) -> None:
    key = f"test:{new_id()}"
    redis.tell(("SET", key, "told", "PX", 10_000))
    assert await redis.run(READ, [key], arguments=()) == b"told"
    await plain.delete(key)


async def test_what_was_told_last_is_sent_before_closing(settings: Settings, plain: Redis) -> None:
    key, closing = f"test:{new_id()}", BatchingRedis(settings.redis_url.get_secret_value(), timeout_seconds=10)
    closing.tell(("SET", key, "told", "PX", 10_000))
    await closing.close()
    assert await plain.getdel(key) == b"told"


async def test_an_error_of_one_asker_is_nobody_elses(redis: BatchingRedis) -> None:
    asked = (
        redis.run(ECHO, ["a"], arguments=(1,)),
        redis.run(BROKEN, [], arguments=()),
        redis.run(ECHO, ["b"], arguments=(2,)),
    )
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert [answers[0], answers[2]] == [[b"a", b"1"], [b"b", b"2"]]
    assert isinstance(answers[1], RedisAwayError)


async def test_an_asker_who_gives_up_does_not_disturb_the_others(redis: BatchingRedis) -> None:
    impatient = asyncio.create_task(redis.run(ECHO, ["a"], arguments=(1,)))
    patient = asyncio.create_task(redis.run(ECHO, ["b"], arguments=(2,)))
    await asyncio.sleep(0)
    impatient.cancel()
    assert await patient == [b"b", b"2"]
    assert await redis.run(ECHO, ["c"], arguments=(3,)) == [b"c", b"3"]


async def test_a_redis_that_does_not_listen_is_away_at_once() -> None:
    redis, began = BatchingRedis(f"redis://127.0.0.1:{free_port()}/0"), time.monotonic()
    answers = await asyncio.gather(
        *(redis.run(ECHO, ["a"], arguments=(n,)) for n in range(100)), return_exceptions=True
    )
    assert all(isinstance(answer, RedisAwayError) for answer in answers)
    assert time.monotonic() - began < QUICK_SECONDS
    await redis.close()


async def test_a_redis_that_never_answers_is_away_soon() -> None:
    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    redis, began = BatchingRedis(f"redis://127.0.0.1:{port}/0"), time.monotonic()
    with pytest.raises(RedisAwayError):
        await redis.run(ECHO, ["a"], arguments=(1,))
    assert time.monotonic() - began < QUICK_SECONDS
    await redis.close()
    server.close()
    await server.wait_closed()


async def test_a_redis_that_refuses_the_password_is_away(settings: Settings) -> None:
    url = urlsplit(settings.redis_url.get_secret_value())
    wrong = urlunsplit(url._replace(netloc=f":wrong@{url.hostname}:{url.port}"))
    redis = BatchingRedis(wrong)
    with pytest.raises(RedisAwayError):
        await redis.run(ECHO, ["a"], arguments=(1,))
    await redis.close()


async def test_a_redis_that_comes_back_is_asked_again(settings: Settings) -> None:
    """One and the same object: first nobody listens on its port, then a relay to the real Redis does."""
    port, real = free_port(), urlsplit(settings.redis_url.get_secret_value())
    redis = BatchingRedis(urlunsplit(real._replace(netloc=f":{real.password}@127.0.0.1:{port}")))
    with pytest.raises(RedisAwayError):
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
