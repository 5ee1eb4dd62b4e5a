"""Asking for captions, knowing which can be made, and writing them down."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import Action, PriceList, Work
from cutroom.credits.rules import Bill
from cutroom.credits.service import is_subscriber
from cutroom.engines.translation.port import Quality, Route, Translator
from cutroom.engines.translation.routing import available, serves
from cutroom.errors import Code, CutroomError, invalid_fields
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.products.captions.schemas import NewCaptions
from cutroom.products.transcripts.service import transcript_before

# Workers tell what they can translate every few minutes; what none has told for longer is gone.
ROUTES_EVERY = timedelta(minutes=5)
ROUTES_LAST = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class AdvertisedTranslator:
    """A translator as some worker told of it: the API knows where it leads, and never runs it."""

    name: str
    told: tuple[Route, ...]

    def routes(self) -> Sequence[Route]:
        return self.told

    def translate(self, sentences: Sequence[str], *, source: str, target: str) -> list[str]:
        raise NotImplementedError("translations are made by workers")


async def ask_for_captions(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    wanted: NewCaptions,
    prices: PriceList,
    now: datetime,
) -> list[Job]:
    """One job for each language, to begin once there is a transcript."""
    await get_video(connection, principal, video_id)
    transcript, source = await transcript_before(connection, principal, video_id)
    check_lines(wanted.languages, wanted.reservation_line_item_id_by_language)
    await check_translations(connection, wanted.languages, source=source, now=now)
    depends_on = [] if source is not None else [transcript.id]
    jobs = []
    for language in wanted.languages:
        line = wanted.reservation_line_item_id_by_language.get(language)
        bill = Bill(
            works=(Work(Action.CAPTIONS, "captions", language),),
            is_subscriber=is_subscriber(principal),
            reservation_id=wanted.reservation_id,
            line_ids=(line,) if line is not None else (),
        )
        key = JobKey(JobType.CAPTIONS, video_id, language=language)
        jobs.append(NewJob(key, video_id, plan={"language": language}, depends_on=depends_on, bill=bill))
    return [job for job, _ in await request_jobs(connection, principal, jobs, prices=prices, now=now)]


def check_lines(languages: Sequence[str], lines: Mapping[str, str]) -> None:
    """Lines of a reservation are named for what is asked for, and for nothing else."""
    strangers = set(lines) - set(languages)
    if strangers:
        raise CutroomError(
            Code.CONFLICT,
            message="The reservation cannot pay for this.",
            details={"reason": "a line is named for a language that was not asked for", "languages": sorted(strangers)},
        )


async def check_translations(
    connection: Connection, languages: Sequence[str], *, source: str | None, now: datetime, at: str = "languages"
) -> None:
    """Refuse what no engine can translate; while the spoken language is not known, what none could from anywhere."""
    translators = await told_translators(connection, now=now)
    if source is not None:
        there = available(translators, source=source)
    else:
        there = sorted({route.target for each in translators for route in each.routes()})
    missing = [number for number, language in enumerate(languages) if not any(serves(code, language) for code in there)]
    if missing:
        fault = invalid_fields([(f"{at}.{number}", "There is no translation into this.") for number in missing])
        fault.details["available"] = there
        raise fault


async def told_translators(connection: Connection, *, now: datetime) -> list[Translator]:
    rows = await connection.fetch(
        "SELECT translator, source, target, quality, via FROM translation_routes WHERE seen_at > $1", now - ROUTES_LAST
    )
    routes: Mapping[str, list[Route]] = defaultdict(list)
    for row in rows:
        routes[row["translator"]].append(
            Route(row["source"], row["target"], Quality(row["quality"]), tuple(row["via"]))
        )
    return [AdvertisedTranslator(name, tuple(told)) for name, told in routes.items()]


async def publish_routes(connection: Connection, translators: Sequence[Translator], *, now: datetime) -> int:
    """A worker says what it can translate; how many ways there are."""
    rows = [
        (each.name, route.source, route.target, route.quality.value, list(route.via), now)
        for each in translators
        for route in each.routes()
    ]
    await connection.executemany(
        """INSERT INTO translation_routes (translator, source, target, quality, via, seen_at)
           VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (translator, source, target) DO UPDATE
               SET quality = excluded.quality, via = excluded.via,
                   seen_at = greatest(translation_routes.seen_at, excluded.seen_at)""",
        sorted(rows),  # one order for all workers: no deadlocks
    )
    await connection.execute("DELETE FROM translation_routes WHERE seen_at < $1", now - ROUTES_LAST)
    return len(rows)


async def put_captions(
    connection: Connection,
    library_id: str,
    video_id: str,
    *,
    language: str,
    segments: Sequence[Mapping[str, Any]],
    quality: Quality,
    now: datetime,
) -> None:
    await connection.execute(
        """INSERT INTO captions (library_id, video_id, language, segments, quality, created_at)
           VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (library_id, video_id, language) DO UPDATE
               SET segments = excluded.segments, quality = excluded.quality, created_at = excluded.created_at""",
        library_id,
        video_id,
        language,
        list(segments),
        quality.value,
        now,
    )
