"""Thumbnail activities. Each writes to object names derived from the request, so retries overwrite their own output."""

import asyncio
import hashlib
import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from temporalio import activity

from cutroom.engines.registry import Engines
from cutroom.engines.thumbnails.port import CharacterSpec, RenderedThumbnail, ThumbnailSpec
from cutroom.errors import Code
from cutroom.glossary.service import load_glossary
from cutroom.jobs.lifecycle import JobRef, require_running
from cutroom.jobs.step_progress import ReportProgress
from cutroom.jobs.steps import failure, job_step
from cutroom.library.branding import character_image_paths, load_brand
from cutroom.library.service import has_picture
from cutroom.library.videos import publish_update, set_poster
from cutroom.media.images import decode_image, encode_jpeg, encode_png
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.probe import probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.egress.client import Egress, TooLargeError, UnreachableError
from cutroom.platform.storage.objects import Storage
from cutroom.products.thumbnails import service
from cutroom.products.thumbnails.detection import VideoFrame, find_content, find_people, select_best_frames
from cutroom.products.thumbnails.headlines import (
    find_spoken_segment,
    frames_of_headline_first,
    translate_headline,
)
from cutroom.products.thumbnails.inputs import ThumbnailRef, writing_input
from cutroom.products.thumbnails.rules import CANDIDATES, CharacterRef, ThumbnailMode, quoted_text
from cutroom.products.thumbnails.staleness import SPOKEN_RANGE
from cutroom.products.transcripts.kept_terms import VideoTerms, load_kept_terms
from cutroom.products.transcripts.service import StoredTranscript, load_transcript
from cutroom.products.transcripts.staleness.query import TRANSCRIPT_REVISION
from cutroom.text.glossary.rules import BrokenTerm, TermFinder, TermRule

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MAX_IMAGE_BYTES = 20 * 1024 * 1024
BEST = "best.json"  # layout and headline of the best candidate, for its translations
FRAMES = "frames.json"
SELECTED_PERCENT, DETECTED_PERCENT, RENDERED_PERCENT = 35.0, 40.0, 97.0  # progress after each step


@dataclass(frozen=True, slots=True)
class ThumbnailActivities:
    """Activities of the thumbnail and packaging workflows."""

    database: Database
    storage: Storage
    media_cache: LocalMediaCache
    sandbox: Sandbox
    engines: Engines
    egress: Egress
    clock: Clock

    @activity.defn(name="fetch_thumbnail_images")
    async def fetch_images(self, ref: JobRef, thumbnail: ThumbnailRef) -> None:
        """Downloads the images that the request references."""
        async with self._step(ref, "fetching images", progress=10):
            for url in thumbnail.options.urls:
                try:
                    data = await self.egress.fetch(url, max_bytes=MAX_IMAGE_BYTES)
                except (UnreachableError, TooLargeError) as error:
                    message = f"A referenced image could not be used. {error}"
                    raise failure(Code.UNSUPPORTED_SOURCE, message, reason="UNAVAILABLE", retry=False) from error
                await self.storage.put(thumbnail.path(_fetched_name(url)), data)

    @activity.defn(name="select_thumbnail_frames")
    async def select_frames(self, ref: JobRef, thumbnail: ThumbnailRef) -> None:
        """Stores the best frames of the video; audio has none."""
        async with self._step(ref, "selecting frames", progress=SELECTED_PERCENT) as report_progress:
            frames: list[VideoFrame] = []
            async with self.database.transaction(thumbnail.library_id) as connection:
                has_video = await has_picture(connection, thumbnail.library_id, thumbnail.video_id)
            if has_video:
                async with self.media_cache.fetch(thumbnail.video_file("source")) as source:
                    info = await probe_header(source.path, sandbox=self.sandbox)
                    with self.media_cache.temp_dir() as temp_dir:
                        frames = await select_best_frames(
                            source.path,
                            info,
                            output=temp_dir,
                            sandbox=self.sandbox,
                            engines=self.engines,
                            report_progress=report_progress,
                        )
            for number, each in enumerate(frames):
                await self.storage.put(thumbnail.path(f"frame-{number}.png"), encode_png(each.image))
            index = [{"seconds": each.seconds, "score": each.score} for each in frames]
            await self.storage.put(thumbnail.path(FRAMES), json.dumps(index).encode())

    @activity.defn(name="detect_thumbnail_subjects")
    async def detect_subjects(self, ref: JobRef, thumbnail: ThumbnailRef) -> None:
        """Finds people or content in the video that the thumbnail could show, and stores them for review."""
        options = thumbnail.options
        async with self._step(ref, "detecting", progress=DETECTED_PERCENT):
            frames = await self._frames(thumbnail)
            if options.detects_characters:
                count = int(thumbnail.plan.get("characterCount") or 1)
                found = await asyncio.to_thread(find_people, frames, self.engines, count=count)
            else:
                transcript = await self._transcript(thumbnail)
                found = await asyncio.to_thread(
                    find_content, frames, self.engines, segments=transcript.segments, prompt=options.detect_prompt
                )
            if not found:
                what = "people" if options.detects_characters else "images"
                message = f"No {what} that could be shown were found in this video."
                raise failure(Code.UNSUPPORTED_SOURCE, message, reason="NOTHING_DETECTED", retry=False)
            detections = []
            for number, each in enumerate(found):
                path = thumbnail.path(f"detected-{number}.png")
                await self.storage.put(path, encode_png(each.image))
                kind = "character" if options.detects_characters else "content"
                detections.append({"id": _id(thumbnail, path), "kind": kind, "seconds": each.seconds, "path": path})
            async with self.database.transaction(ref.library_id) as connection:
                await require_running(connection, ref)
                await service.store_detections(connection, ref.library_id, thumbnail.request_id, detections)

    @activity.defn(name="render_thumbnails")
    async def render_candidates(self, ref: JobRef, thumbnail: ThumbnailRef) -> dict[str, Any]:
        """Renders the candidates, and sets the best one as poster if requested."""
        share = _image_share(thumbnail)
        async with self._step(ref, "rendering", progress=RENDERED_PERCENT, share=share) as report_progress:
            transcript = await self._transcript(thumbnail)  # before anything else that reads it
            headline, language, note = await self._headline(thumbnail)
            kept = await self._kept_terms(thumbnail, transcript)
            spoken = find_spoken_segment(headline or "", transcript.segments, language=transcript.language)
            spec = replace(await self._spec(thumbnail, headline), headline=headline, language=language)
            renderer = await asyncio.to_thread(self.engines.thumbnail_renderer)
            rendered = await asyncio.to_thread(renderer.render, spec, count=CANDIDATES, on_progress=report_progress)
            await self._store(ref, thumbnail, rendered, engine=renderer.name)
            best = {"layout": rendered[0].layout, "headline": headline, "language": language}
            await self.storage.put(thumbnail.path(BEST), json.dumps(best).encode())
        shown = rendered[0].headline
        result = {
            **kept.report([shown] if shown is not None else []),
            "images": len(rendered),
            "engine": renderer.name,
            "headline": shown,
            "note": note,
            TRANSCRIPT_REVISION: transcript.revision,
            SPOKEN_RANGE: [spoken["start"], spoken["end"]] if spoken is not None else None,
        }
        return {name: value for name, value in result.items() if value is not None}

    @activity.defn(name="translate_thumbnail")
    async def render_translation(
        self, ref: JobRef, thumbnail: ThumbnailRef, language: str, number: int
    ) -> list[dict[str, Any]] | None:
        """Renders the best candidate again with a translated headline; with its own one if the translation is bad.

        Returns the terms of the glossary that the headline breaks; workers of 0.1.0 return nothing.
        """
        share = _image_share(thumbnail)
        async with self._step(ref, "translating", progress=RENDERED_PERCENT, share=share) as report_progress:
            best = json.loads(await self._read(thumbnail.path(BEST)))
            headline, drawn_language, broken = best["headline"], best["language"], list[BrokenTerm]()
            if headline is not None and language != best["language"]:
                rules = await self._term_rules(thumbnail, source=best["language"], target=language)
                translated = await asyncio.to_thread(
                    translate_headline,
                    self.engines,
                    headline,
                    source=best["language"],
                    target=language,
                    glossary=rules,
                )
                headline, drawn_language = (translated, language) if translated else (headline, best["language"])
                broken = TermFinder(rules).broken(best["headline"], headline)
            spec = await self._spec(thumbnail, best["headline"])
            spec = replace(spec, headline=headline, language=drawn_language)
            renderer = await asyncio.to_thread(self.engines.thumbnail_renderer)
            rendered = await asyncio.to_thread(renderer.render, spec, count=CANDIDATES, on_progress=report_progress)
            same_layout = [each for each in rendered if each.layout == best["layout"]] or rendered
            await self._store(
                ref,
                thumbnail,
                same_layout[:1],
                engine=renderer.name,
                language=language,
                first_number=CANDIDATES + number,
            )
        return [{"language": language, "term": each.term, "expected": each.expected} for each in broken]

    async def _term_rules(self, thumbnail: ThumbnailRef, *, source: str, target: str) -> tuple[TermRule, ...]:
        async with self.database.transaction(thumbnail.library_id) as connection:
            glossary = await load_glossary(
                connection, thumbnail.library_id, thumbnail.video_id, source=source, target=target
            )
        return glossary.rules

    async def _store(
        self,
        ref: JobRef,
        thumbnail: ThumbnailRef,
        rendered: list[RenderedThumbnail],
        *,
        engine: str,
        language: str | None = None,
        first_number: int = 0,
    ) -> None:
        images = []
        for number, each in enumerate(rendered, start=first_number):
            path = thumbnail.path(f"thumbnail-{number}.jpg")
            await self.storage.put(path, encode_jpeg(each.image))
            images.append(
                service.NewThumbnailImage(
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
            await require_running(connection, ref)
            await service.store_images(connection, thumbnail.library_id, images, now=self.clock())
            if thumbnail.options.promotes and first_number == 0:
                await set_poster(connection, thumbnail.library_id, thumbnail.video_id, path=images[0].path)
                await publish_update(connection, thumbnail.library_id, thumbnail.video_id, now=self.clock())

    async def _headline(self, thumbnail: ThumbnailRef) -> tuple[str | None, str, str | None]:
        """The headline, its language, and a note for the job result."""
        options, transcript = thumbnail.options, await self._transcript(thumbnail)
        requested = options.overlay or (quoted_text(options.prompt) if options.mode is ThumbnailMode.PROMPT else None)
        if options.omits_overlay:
            return None, transcript.language, None
        if requested is not None:
            guess = await asyncio.to_thread(self.engines.language_identifier().identify, requested)
            return requested, transcript.language if guess is None else guess.language, None
        if not transcript.segments:
            return None, transcript.language, "This video contains no speech, so the thumbnail has no headline."
        async with self.database.transaction(thumbnail.library_id) as connection:
            brand = await load_brand(connection, thumbnail.library_id, options.brand_voice_id)
        kept = await self._kept_terms(thumbnail, transcript)
        writer = await asyncio.to_thread(self.engines.writer)
        source = writing_input(transcript, guidelines=brand.guidelines, names=kept.terms.names)
        written = await asyncio.to_thread(writer.headline, source)
        return written.text, transcript.language, written.note

    async def _kept_terms(self, thumbnail: ThumbnailRef, transcript: StoredTranscript) -> VideoTerms:
        async with self.database.transaction(thumbnail.library_id) as connection:
            return await load_kept_terms(connection, thumbnail.library_id, thumbnail.video_id, transcript)

    async def _spec(self, thumbnail: ThumbnailRef, headline: str | None) -> ThumbnailSpec:
        """The rendering spec without its headline; frames of the moment at which the headline is said come first."""
        options = thumbnail.options
        async with self.database.transaction(thumbnail.library_id) as connection:
            brand = await load_brand(connection, thumbnail.library_id, options.brand_voice_id)
            found, decision = await service.load_detections(connection, thumbnail.library_id, thumbnail.request_id)
        approved_ids = (decision or {}).get("ids")
        approved = [
            await self._decode(each["path"]) for each in found if approved_ids is None or each["id"] in approved_ids
        ]
        transcript = await self._transcript(thumbnail)
        spoken = find_spoken_segment(headline or "", transcript.segments, language=transcript.language)
        frames = [each.image for each in frames_of_headline_first(await self._frames(thumbnail), spoken)]
        plates = [await self._fetched(thumbnail, url) for url in options.plate_urls]
        characters = [spec for each in options.characters for spec in await self._character_specs(thumbnail, each)]
        if options.detects_characters:
            count = int(thumbnail.plan.get("characterCount") or 1)
            characters += [CharacterSpec(image) for image in approved[:count]]
        if options.detects_content:
            plates += approved[: options.slots]
        is_precise = options.pipeline is options.pipeline.PRECISION
        if is_precise and not plates:
            plates = frames[: options.slots]
        return ThumbnailSpec(
            pipeline=options.pipeline,
            frames=tuple(frames if is_precise else plates + frames),
            characters=tuple(characters),
            plates=tuple(plates) if is_precise else (),
            style=await self._maybe(thumbnail, options.style_url),
            brand=await self._maybe(thumbnail, options.brand_url),
            influence=await self._maybe(thumbnail, options.influence_url),
            brand_influence=options.brand_influence,
            colors=brand.colors,
            prompt=options.prompt,
        )

    async def _character_specs(self, thumbnail: ThumbnailRef, character: CharacterRef) -> list[CharacterSpec]:
        """One spec per character with an image; characters that are only described are skipped."""
        images = [await self._fetched(thumbnail, url) for url in character.urls[:1]]
        if not images:
            async with self.database.transaction(thumbnail.library_id) as connection:
                paths = await character_image_paths(
                    connection,
                    thumbnail.library_id,
                    character_id=character.character_id,
                    image_ids=character.image_ids,
                )
            images = [await self._decode(path) for path in paths[:1]]
        return [CharacterSpec(image, character.name, character.position, character.action) for image in images]

    async def _maybe(self, thumbnail: ThumbnailRef, url: str | None) -> "Image | None":
        return None if url is None else await self._fetched(thumbnail, url)

    async def _fetched(self, thumbnail: ThumbnailRef, url: str) -> "Image":
        return await self._decode(thumbnail.path(_fetched_name(url)))

    async def _decode(self, path: str) -> "Image":
        """Decodes in the sandbox; even images stored by earlier steps derive from untrusted media."""
        async with self.media_cache.fetch(path) as copy:
            with self.media_cache.temp_dir() as temp_dir:
                return await decode_image(copy.path, scratch=temp_dir, sandbox=self.sandbox)

    async def _frames(self, thumbnail: ThumbnailRef) -> list[VideoFrame]:
        index = json.loads(await self._read(thumbnail.path(FRAMES)))
        return [
            VideoFrame(each["seconds"], await self._decode(thumbnail.path(f"frame-{number}.png")), each["score"])
            for number, each in enumerate(index)
        ]

    async def _transcript(self, thumbnail: ThumbnailRef) -> StoredTranscript:
        async with self.database.transaction(thumbnail.library_id) as connection:
            return await load_transcript(connection, thumbnail.library_id, thumbnail.video_id)

    async def _read(self, path: str) -> bytes:
        return b"".join([chunk async for chunk in self.storage.read(path)])

    def _step(
        self, ref: JobRef, stage: str, *, progress: float, share: float | None = None
    ) -> AbstractAsyncContextManager[ReportProgress]:
        return job_step(self.database, self.clock, ref, stage, progress=progress, share=share)


def _image_share(thumbnail: ThumbnailRef) -> float:
    """What the candidates, and each translation of the best one, add to the progress of the job."""
    return (RENDERED_PERCENT - DETECTED_PERCENT) / (1 + len(thumbnail.options.languages))


def _fetched_name(url: str) -> str:
    return f"fetched-{hashlib.sha256(url.encode()).hexdigest()[:32]}"


def _id(thumbnail: ThumbnailRef, path: str) -> str:
    return hashlib.sha256(f"{thumbnail.library_id}/{path}".encode()).hexdigest()[:26]
