"""Publishes a worker's capabilities every few minutes while it runs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from cutroom.capabilities.service import publish_routes, publish_voices
from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.synthesis.port import SpeechSynthesizer
from cutroom.engines.translation.port import Translator
from cutroom.platform.clock import Clock
from cutroom.platform.db import DATABASE_ERRORS, Database

PUBLISH_INTERVAL = timedelta(minutes=5)

_log = logging.getLogger(__name__)


async def publish_capabilities(
    database: Database,
    *,
    translators: Callable[[], Awaitable[Sequence[Translator]]] | None,
    synthesizers: Callable[[], Awaitable[Sequence[SpeechSynthesizer]]] | None,
    clock: Clock,
) -> None:
    """Runs until cancelled; an engine factory that is None belongs to a queue that this worker does not serve."""
    while translators is not None or synthesizers is not None:
        try:
            if translators is not None:
                engines = await translators()
                async with database.connection() as connection, connection.transaction():
                    await publish_routes(connection, engines, now=clock())
            if synthesizers is not None:
                for engine in await synthesizers():
                    async with database.connection() as connection, connection.transaction():
                        await publish_voices(connection, engine, now=clock())
        except EngineUnavailableError as error:
            _log.warning("engine unavailable", extra={"error": str(error)})
        except (EngineError, *DATABASE_ERRORS):
            _log.exception("capability publishing failed")
        await asyncio.sleep(PUBLISH_INTERVAL.total_seconds())
