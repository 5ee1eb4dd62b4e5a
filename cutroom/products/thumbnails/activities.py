"""The steps of a thumbnail. Each writes under a name that follows from its request: a repeat writes the same again."""

import asyncio
import hashlib
import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from temporalio import activity

from cutroom.engines.registry import Engines
from cutroom.engines.thumbnails.port import Figure, RenderedThumbnail, ThumbnailSpec
from cutroom.engines.translation.routing import choose, translate_along
from cutroom.errors import Code
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import ReportProgress, failure, job_step
from cutroom.media.images import decode_picture, encode_jpeg, encode_png
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.probe import probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.egress.client import Egress, TooLargeError, UnreachableError
from cutroom.platform.storage.objects import Storage
from cutroom.products.thumbnails import service
from cutroom.products.thumbnails.detection import DetectedSubject, find_content, find_people, look_through
from cutroom.products.thumbnails.material import ThumbnailRef, material_of
from cutroom.products.thumbnails.rules import CANDIDATES, CharacterRef, Mode, quoted_in
from cutroom.products.transcripts.service import NewTranscript, transcript_of

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MAX_IMAGE_BYTES = 20 * 1024 * 1024
DRAWN = "drawn.json"  # how the best candidate came about, for its translations
FRAMES = "frames.json"


@dataclass(frozen=True, slots=True)
class ThumbnailActivities:
    """What the workflows of thumbnails and of packaging call."""

    database: Database
    storage: Storage
    workbench: LocalMediaCache
    sandbox: Sandbox
    engines: Engines
    egress: Egress
    clock: Clock

    @activity.defn(name="fetch_thumbnail_pictures")
    async def fetch_pictures(self, ref: JobRef, thumbnail: ThumbnailRef) -> None:
        """Bring in the pictures that the request points at."""
        async with self._working(ref, "fetching pictures", progress=10):
            for url in thumbnail.wanted.urls:
                try:
                    data = await self.egress.fetch(url, max_bytes=MAX_IMAGE_BYTES)
                except (UnreachableError, TooLargeError) as error:
                    sentence = f"A picture that the request names could not be used. {error}"
                    raise failure(Code.UNSUPPORTED_SOURCE, sentence, reason="UNAVAILABLE", retry=False) from error
                await self.storage.put(thumbnail.path(_given(url)), data)

    @activity.defn(name="look_for_frames")
    async def look_for_frames(self, ref: JobRef, thumbnail: ThumbnailRef) -> None:
        """Choose the best pictures of the film; sound has none."""
        async with self._working(ref, "looking for pictures", progress=30):
            seen: list[DetectedSubject] = []
            if await self.storage.size(thumbnail.film("proxy.mp4")) is not None:
                async with self.workbench.fetch(thumbnail.film("source")) as source:
                    info = await probe_header(source.path, sandbox=self.sandbox)
                    with self.workbench.drawer() as drawer:
                        seen = await look_through(
                            source.path, info, output=drawer, sandbox=self.sandbox, engines=self.engines
                        )
            for number, each in enumerate(seen):
                await self.storage.put(thumbnail.path(f"frame-{number}.png"), encode_png(each.picture))
            told = [{"seconds": each.seconds} for each in seen]
            await self.storage.put(thumbnail.path(FRAMES), json.dumps(told).encode())

    @activity.defn(name="detect_in_film")
    async def detect(self, ref: JobRef, thumbnail: ThumbnailRef) -> None:
        """Find the people or the content of the film that a thumbnail could show, and write down what was found."""
        wanted = thumbnail.wanted
        async with self._working(ref, "detecting", progress=45):
            seen = await self._seen(thumbnail)
            if wanted.detects_characters:
                count = int(thumbnail.plan.get("characterCount") or 1)
                found = await asyncio.to_thread(find_people, seen, self.engines, count=count)
            else:
                transcript = await self._transcript(thumbnail)
                found = await asyncio.to_thread(
                    find_content, seen, self.engines, said=transcript.segments, prompt=wanted.detect_prompt
                )
            if not found:
                what = "people" if wanted.detects_characters else "pictures"
                sentence = f"There are no {what} in this video that could be shown."
                raise failure(Code.UNSUPPORTED_SOURCE, sentence, reason="NOTHING_DETECTED", retry=False)
            told = []
            for number, each in enumerate(found):
                path = thumbnail.path(f"detected-{number}.png")
                await self.storage.put(path, encode_png(each.picture))
                kind = "character" if wanted.detects_characters else "content"
                told.append({"id": _id(thumbnail, path), "kind": kind, "seconds": each.seconds, "path": path})
            async with self.database.transaction(ref.library_id) as connection:
                await service.put_detected(connection, ref.library_id, thumbnail.request_id, told)

    @activity.defn(name="draw_thumbnails")
    async def draw_candidates(self, ref: JobRef, thumbnail: ThumbnailRef) -> dict[str, Any]:
        """Draw some candidates, and make the best one the poster where that was asked for."""
        async with self._working(ref, "drawing", progress=85):
            headline, language, note = await self._headline(thumbnail)
            design = replace(await self._design(thumbnail), headline=headline, language=language)
            maker = await asyncio.to_thread(self.engines.thumbnail_engine)
            drawn = await asyncio.to_thread(maker.draw, design, count=CANDIDATES)
            await self._keep(thumbnail, drawn, engine=maker.name)
            told = {"layout": drawn[0].layout, "headline": headline, "language": language}
            await self.storage.put(thumbnail.path(DRAWN), json.dumps(told).encode())
        result = {"images": len(drawn), "engine": maker.name, "headline": drawn[0].headline}
        return {name: value for name, value in (result | {"note": note}).items() if value is not None}

    @activity.defn(name="translate_thumbnail")
    async def draw_translation(self, ref: JobRef, thumbnail: ThumbnailRef, language: str, number: int) -> None:
        """Draw the best candidate again with its headline in another language."""
        async with self._working(ref, "translating", progress=95):
            told = json.loads(await self._read(thumbnail.path(DRAWN)))
            headline = told["headline"]
            if headline is not None and language != told["language"]:
                headline = await asyncio.to_thread(self._translate, headline, told["language"], language)
            design = replace(await self._design(thumbnail), headline=headline, language=language)
            maker = await asyncio.to_thread(self.engines.thumbnail_engine)
            drawn = await asyncio.to_thread(maker.draw, design, count=CANDIDATES)
            alike = [each for each in drawn if each.layout == told["layout"]] or drawn
            await self._keep(
                thumbnail, alike[:1], engine=maker.name, language=language, first_number=CANDIDATES + number
            )

    def _translate(self, headline: str, source: str, target: str) -> str:
        plan = choose(self.engines.translators(), source=source, target=target)
        return translate_along(plan, [headline])[0]

    async def _keep(
        self,
        thumbnail: ThumbnailRef,
        drawn: list[RenderedThumbnail],
        *,
        engine: str,
        language: str | None = None,
        first_number: int = 0,
    ) -> None:
        pictures = []
        for number, each in enumerate(drawn, start=first_number):
            path = thumbnail.path(f"thumbnail-{number}.jpg")
            await self.storage.put(path, encode_jpeg(each.picture))
            pictures.append(
                service.NewPicture(
                    id=_id(thumbnail, path),
                    request_id=thumbnail.request_id,
                    video_id=thumbnail.video_id,
                    number=number,
                    language=language,
                    headline=each.headline,
                    layout=each.layout,
                    score=each.score,
                    engine=engine,
                    path=path,
                )
            )
        async with self.database.transaction(thumbnail.library_id) as connection:
            await service.put_pictures(connection, thumbnail.library_id, pictures, now=self.clock())
            if thumbnail.wanted.promotes and first_number == 0:
                await service.promote(connection, thumbnail.library_id, thumbnail.video_id, path=pictures[0].path)

    async def _headline(self, thumbnail: ThumbnailRef) -> tuple[str | None, str, str | None]:
        """The words to show, their language, and what is to be said of how they came about."""
        wanted, transcript = thumbnail.wanted, await self._transcript(thumbnail)
        asked = wanted.overlay or (quoted_in(wanted.prompt) if wanted.mode is Mode.PROMPT else None)
        if wanted.omits_overlay:
            return None, transcript.language, None
        if asked is not None:
            guess = await asyncio.to_thread(self.engines.language_identifier().identify, asked)
            return asked, transcript.language if guess is None else guess.language, None
        if not transcript.segments:
            return None, transcript.language, "Nobody speaks in this video, so there is no headline."
        async with self.database.transaction(thumbnail.library_id) as connection:
            brand = await service.brand_of(connection, thumbnail.library_id, wanted.brand_voice_id)
        writer = await asyncio.to_thread(self.engines.writer)
        written = await asyncio.to_thread(writer.headline, material_of(transcript, guidelines=brand.guidelines))
        return written.text, transcript.language, written.note

    async def _design(self, thumbnail: ThumbnailRef) -> ThumbnailSpec:
        """Everything but the headline."""
        wanted = thumbnail.wanted
        async with self.database.transaction(thumbnail.library_id) as connection:
            brand = await service.brand_of(connection, thumbnail.library_id, wanted.brand_voice_id)
            found, decision = await service.detected_for(connection, thumbnail.library_id, thumbnail.request_id)
        picked = (decision or {}).get("ids")
        chosen = [await self._own(each["path"]) for each in found if picked is None or each["id"] in picked]
        seen = [each.picture for each in await self._seen(thumbnail)]
        plates = [await self._fetched(thumbnail, url) for url in wanted.plate_urls]
        figures = [figure for each in wanted.characters for figure in await self._figures(thumbnail, each)]
        if wanted.detects_characters:
            count = int(thumbnail.plan.get("characterCount") or 1)
            figures += [Figure(picture) for picture in chosen[:count]]
        if wanted.detects_content:
            plates += chosen[: wanted.slots]
        is_precise = wanted.pipeline is wanted.pipeline.PRECISION
        if is_precise and not plates:
            plates = seen[: wanted.slots]
        return ThumbnailSpec(
            pipeline=wanted.pipeline,
            frames=tuple(seen if is_precise else plates + seen),
            figures=tuple(figures),
            plates=tuple(plates) if is_precise else (),
            style=await self._maybe(thumbnail, wanted.style_url),
            brand=await self._maybe(thumbnail, wanted.brand_url),
            influence=await self._maybe(thumbnail, wanted.influence_url),
            brand_influence=wanted.brand_influence,
            colors=brand.colors,
            prompt=wanted.prompt,
        )

    async def _figures(self, thumbnail: ThumbnailRef, character: CharacterRef) -> list[Figure]:
        """One figure for each character; who is only described is not drawn by us."""
        pictures = [await self._fetched(thumbnail, url) for url in character.urls[:1]]
        if not pictures:
            async with self.database.transaction(thumbnail.library_id) as connection:
                paths = await service.images_of(connection, thumbnail.library_id, character)
            pictures = [await self._untrusted(path) for path in paths[:1]]
        return [Figure(picture, character.name, character.position, character.action) for picture in pictures]

    async def _maybe(self, thumbnail: ThumbnailRef, url: str | None) -> "Image | None":
        return None if url is None else await self._fetched(thumbnail, url)

    async def _fetched(self, thumbnail: ThumbnailRef, url: str) -> "Image":
        return await self._untrusted(thumbnail.path(_given(url)))

    async def _untrusted(self, path: str) -> "Image":
        async with self.workbench.fetch(path) as copy:
            with self.workbench.drawer() as drawer:
                return await decode_picture(copy.path, scratch=drawer, sandbox=self.sandbox)

    async def _own(self, path: str) -> "Image":
        """A picture that an earlier step wrote: decoded apart all the same, since somebody's film is in it."""
        return await self._untrusted(path)

    async def _seen(self, thumbnail: ThumbnailRef) -> list[DetectedSubject]:
        told = json.loads(await self._read(thumbnail.path(FRAMES)))
        return [
            DetectedSubject(each["seconds"], await self._own(thumbnail.path(f"frame-{number}.png")))
            for number, each in enumerate(told)
        ]

    async def _transcript(self, thumbnail: ThumbnailRef) -> NewTranscript:
        async with self.database.transaction(thumbnail.library_id) as connection:
            return await transcript_of(connection, thumbnail.library_id, thumbnail.video_id)

    async def _read(self, path: str) -> bytes:
        return b"".join([chunk async for chunk in self.storage.read(path)])

    def _working(self, ref: JobRef, stage: str, *, progress: int) -> AbstractAsyncContextManager[ReportProgress]:
        return job_step(self.database, self.clock, ref, stage, progress=progress)


def _given(url: str) -> str:
    return f"given-{hashlib.sha256(url.encode()).hexdigest()[:32]}"


def _id(thumbnail: ThumbnailRef, path: str) -> str:
    return hashlib.sha256(f"{thumbnail.library_id}/{path}".encode()).hexdigest()[:26]
