"""Stores what workers advertise, and answers which languages and voices can be used now."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

import asyncpg

from cutroom.capabilities.pairs import RelevantRoutes
from cutroom.capabilities.rules import (
    AdvertisedTranslator,
    AvailableVoice,
    LanguageOptions,
    spoken_languages,
    stock_voice_id,
    target_languages,
)
from cutroom.engines.errors import NoRouteError
from cutroom.engines.synthesis.port import SpeechSynthesizer
from cutroom.engines.translation.port import Quality, Route, Translator
from cutroom.engines.translation.routing import plan_translation
from cutroom.errors import Code, CutroomError, invalid_fields
from cutroom.platform.db import Connection
from cutroom.text.language_tags import UNDETERMINED, language_of

ROUTE_TTL = timedelta(minutes=30)
VOICE_TTL = timedelta(days=1)

_VOICE_COLUMNS = "id, engine, name, title, language, gender, age"


async def advertised_translators(connection: Connection, *, now: datetime) -> list[AdvertisedTranslator]:
    rows = await connection.fetch(
        """SELECT engine, source, target, quality, via, share, is_rule_based FROM translation_routes
           WHERE seen_at > $1""",
        now - ROUTE_TTL,
    )
    routes: dict[str, list[Route]] = defaultdict(list)
    for row in rows:
        route = Route(
            row["source"],
            row["target"],
            Quality(row["quality"]),
            tuple(row["via"]),
            share=row["share"],
            is_rule_based=row["is_rule_based"],
        )
        routes[row["engine"]].append(route)
    return [AdvertisedTranslator(name, tuple(advertised)) for name, advertised in routes.items()]


async def available_voices(connection: Connection, *, now: datetime) -> list[AvailableVoice]:
    rows = await connection.fetch(
        f"SELECT {_VOICE_COLUMNS} FROM stock_voices WHERE seen_at > $1 ORDER BY language, title, id",  # noqa: S608
        now - VOICE_TTL,
    )
    return [_voice(row) for row in rows]


async def find_stock_voice(connection: Connection, voice_id: str) -> AvailableVoice | None:
    """Finds a stock voice even if no worker has advertised it recently: started work may still use it."""
    row = await connection.fetchrow(
        f"SELECT {_VOICE_COLUMNS} FROM stock_voices WHERE id = $1",  # noqa: S608
        voice_id,
    )
    return None if row is None else _voice(row)


def _voice(row: asyncpg.Record) -> AvailableVoice:
    return AvailableVoice(**dict(row))


async def language_options(
    connection: Connection, *, source: str | None, now: datetime, spoken: bool = False
) -> LanguageOptions:
    """What can be made from a source language; `spoken` output needs a voice as well as a translation."""
    translated = tuple(target_languages(await advertised_translators(connection, now=now), source=source))
    if not spoken:
        return LanguageOptions(source, translated)
    voices = spoken_languages(await available_voices(connection, now=now))
    return LanguageOptions(source, translated, frozenset(map(language_of, voices)))


async def caption_languages(connection: Connection, *, source: str | None, now: datetime) -> list[str]:
    """Languages that captions can be made in."""
    return (await language_options(connection, source=source, now=now)).available


async def dub_languages(connection: Connection, *, source: str | None, now: datetime) -> list[str]:
    """Languages that can be both translated into and spoken."""
    return (await language_options(connection, source=source, now=now, spoken=True)).available


async def require_languages(
    connection: Connection,
    languages: Sequence[str],
    *,
    source: str | None,
    now: datetime,
    field: str = "languages",
    spoken: bool = False,
) -> None:
    """Raises INVALID_ARGUMENT with the reason for each language that cannot be made; all pass that may be possible."""
    _require_speech(source)
    options = await language_options(connection, source=source, now=now, spoken=spoken)
    faults = [(f"{field}.{at}", options.fault(language)) for at, language in enumerate(languages)]
    found = [(path, fault.message) for path, fault in faults if fault is not None]
    if found:
        error = invalid_fields(found)
        error.details["available"] = options.available
        raise error


async def check_languages(
    connection: Connection, languages: Sequence[str], *, source: str | None, now: datetime, spoken: bool = False
) -> None:
    """Raises FAILED_PRECONDITION for the first language that cannot be made, for jobs whose source was not known.

    While no worker advertises anything, nothing is known to be impossible.
    """
    _require_speech(source)
    options = await language_options(connection, source=source, now=now, spoken=spoken)
    if not await advertised_translators(connection, now=now) or (spoken and not options.spoken):
        return
    for language in languages:
        if (fault := options.fault(language)) is not None:
            details = {"reason": fault.value, "language": language, "available": options.available}
            raise CutroomError(Code.FAILED_PRECONDITION, message=fault.message, details=details)


async def rate_translations(
    connection: Connection, languages: Sequence[str], *, source: str | None, now: datetime
) -> dict[str, Quality]:
    """The class of the translation into each language; empty while the source is unknown."""
    if source is None or not languages:
        return {}
    relevant = RelevantRoutes(await advertised_translators(connection, now=now))
    qualities = {}
    for language in languages:
        with suppress(NoRouteError):
            plan = plan_translation(relevant.between(source, language), source=source, target=language)
            qualities[language] = plan.quality
    return qualities


def refuse_drafts(qualities: Mapping[str, Quality]) -> None:
    """Raise FAILED_PRECONDITION if a translation would be a draft."""
    drafts = [language for language, quality in qualities.items() if quality is Quality.DRAFT]
    if drafts:
        message = "The translation would be a draft, which this library refuses. Set `acceptDraft` to accept it."
        details = {"reason": "draft_quality", "languages": drafts}
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)


def _require_speech(source: str | None) -> None:
    if source == UNDETERMINED:
        message = "No speech was recognized in this video."
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "no_speech"})


async def publish_routes(connection: Connection, translators: Sequence[Translator], *, now: datetime) -> int:
    """Upserts the routes of a worker's translation engines and returns their number."""
    rows = [
        (
            each.name,
            route.source,
            route.target,
            route.quality.value,
            list(route.via),
            route.share,
            route.is_rule_based,
            now,
        )
        for each in translators
        for route in each.routes()
    ]
    await connection.executemany(
        """INSERT INTO translation_routes (engine, source, target, quality, via, share, is_rule_based, seen_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (engine, source, target) DO UPDATE
               SET quality = excluded.quality, via = excluded.via, share = excluded.share,
                   is_rule_based = excluded.is_rule_based,
                   seen_at = greatest(translation_routes.seen_at, excluded.seen_at)""",
        sorted(
            rows, key=lambda row: (str(row[0]), str(row[1]), str(row[2]))
        ),  # every worker locks rows in the same order: no deadlocks
    )
    await connection.execute("DELETE FROM translation_routes WHERE seen_at < $1", now - ROUTE_TTL)
    return len(rows)


async def publish_voices(connection: Connection, synthesizer: SpeechSynthesizer, *, now: datetime) -> int:
    """Upserts the stock voices of a worker's speech engine and returns their number."""
    rows = [
        (
            stock_voice_id(synthesizer.name, voice.name),
            synthesizer.name,
            voice.name,
            voice.title,
            voice.language,
            voice.gender.value,
            voice.age,
            now,
        )
        for voice in synthesizer.voices()
    ]
    await connection.executemany(
        """INSERT INTO stock_voices (id, engine, name, title, language, gender, age, seen_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (id) DO UPDATE SET
               title = excluded.title, language = excluded.language, gender = excluded.gender, age = excluded.age,
               seen_at = greatest(stock_voices.seen_at, excluded.seen_at)""",
        sorted(rows),  # every worker locks rows in the same order: no deadlocks
    )
    await connection.execute("DELETE FROM stock_voices WHERE seen_at < $1", now - VOICE_TTL)
    return len(rows)
