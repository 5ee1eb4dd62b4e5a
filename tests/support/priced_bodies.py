"""Random creation bodies of every priced product, each with the quote for the same content, and their comparison."""

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import Response
from pydantic import TypeAdapter, ValidationError

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import to_credits
from cutroom.credits.routes import quote
from cutroom.credits.schemas import CreditBundle, Quote
from cutroom.credits.service import get_balance
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection
from cutroom.products.captions.routes import create_captions
from cutroom.products.captions.schemas import NewCaptions
from cutroom.products.dubs.routes import create_dubs
from cutroom.products.dubs.schemas import NewDubs
from cutroom.products.packaging.routes import create_packaging
from cutroom.products.packaging.schemas import NewPackaging
from cutroom.products.shorts.routes import create_shorts
from cutroom.products.shorts.schemas import NewRequest
from cutroom.products.thumbnails.routes import create_thumbnail
from cutroom.products.thumbnails.schemas import NewThumbnail
from cutroom.web.middleware import RequestCall
from cutroom.web.runtime import Runtime

IMAGE = "https://images.example.com/reference.png"
REFERENCES = ("styleReferenceImageUrl", "brandReferenceImageUrl", "designInfluenceImageUrl")

Body = dict[str, Any]
Create = Callable[[RequestCall, str, Any], Awaitable[object]]


async def _create_thumbnail(call: RequestCall, video_id: str, body: NewThumbnail) -> object:
    return await create_thumbnail(call, video_id, body, Response())


CREATIONS: dict[str, tuple[TypeAdapter[Any], Create]] = {
    "dubs": (TypeAdapter(NewDubs), create_dubs),
    "captions": (TypeAdapter(NewCaptions), create_captions),
    "shorts": (TypeAdapter(NewRequest), create_shorts),
    "thumbnails": (TypeAdapter(NewThumbnail), _create_thumbnail),
    "packaging": (TypeAdapter(NewPackaging), create_packaging),
}


@dataclass(frozen=True)
class PricedBody:
    """A creation body, and the body of the quote for the same content."""

    product: str
    body: Body
    bundle: Body


@dataclass(frozen=True)
class BodyGenerator:
    """Generates bodies that mix what can be made with what cannot."""

    rng: random.Random
    languages: Sequence[str]  # that can be translated into
    other_languages: Sequence[str] = ("en", "xx", "tlh", "p", "")  # the source, without a route, or not languages

    def body(self) -> PricedBody:
        makers = (self._dubs, self._captions, self._shorts, self._thumbnail, self._packaging)
        return self.rng.choice(makers)()

    def _chance(self, share: float) -> bool:
        return self.rng.random() < share

    def _some_languages(self, most: int) -> list[str]:
        chosen = self.rng.sample(self.languages, min(len(self.languages), self.rng.randint(0, most)))
        if self._chance(0.15):
            chosen.append(self.rng.choice(self.other_languages))
        if chosen and self._chance(0.05):
            chosen.append(chosen[0].upper())  # the same language again
        return chosen

    def _dubs(self) -> PricedBody:
        body: Body = {"languages": self._some_languages(3)}
        if self._chance(0.5):
            body["product"] = self.rng.choice(["plus", "premium", "premium", "gold"])
        if self._chance(0.2):
            body["sourceVoiceover"] = self.rng.choice(["original", "original", "optimized"])
        accepts = self._accept_draft()
        return PricedBody("dubs", {**body, **accepts}, {"dubs": [body], **accepts})

    def _captions(self) -> PricedBody:
        languages, accepts = self._some_languages(3), self._accept_draft()
        return PricedBody(
            "captions", {"languages": languages, **accepts}, {"captionLanguageCodes": languages, **accepts}
        )

    def _accept_draft(self) -> Body:
        return {"acceptDraft": self._chance(0.7)} if self._chance(0.4) else {}

    def _shorts(self) -> PricedBody:
        kind = self.rng.choice(["shorts", "shorts", "promo", "clips", "clips", "gif"])
        shared: Body = {"kind": kind}
        for flag in ("includeWatermark", "includeSoundtrack", "includeGeneratedThumbnail"):
            if self._chance(0.3):
                shared[flag] = self._chance(0.7)
        own: Body = {}
        if kind != "promo" and self._chance(0.6):
            own["numClips"] = self.rng.choice([1, 2, 4, 5, 10, 11, 40])
        if kind == "shorts" and self._chance(0.4):
            own["minDuration"] = self.rng.choice([14, 15, 20, 45, 180, 181])
        body = {**shared, **own, **({"clipSelectionPrompt": "the launch"} if self._chance(0.2) else {})}
        default = {"numClips": 3} if kind == "shorts" else {}
        return PricedBody("shorts", body, {"shorts": {**default, **shared, **own}})

    def _thumbnail(self) -> PricedBody:
        options, work = self._thumbnail_options()
        return PricedBody("thumbnails", {"mode": "zero_prompt", **options}, {"zeroPromptThumbnail": work})

    def _packaging(self) -> PricedBody:
        options, work = self._thumbnail_options()
        work["enabled"] = self._chance(0.8)
        automations: Body = {"zeroPromptThumbnail": {**options, "enabled": work["enabled"]}}
        body = {"automationOptions": automations} if self._chance(0.5) else automations
        return PricedBody("packaging", body, {"zeroPromptThumbnail": work})

    def _thumbnail_options(self) -> tuple[Body, Body]:
        """The fields of a thumbnail, and the fields of a quote for them."""
        options: Body = {}
        work: Body = {"enabled": True}
        detects_content = self._chance(0.3)
        if detects_content:
            options |= {"pipelineMode": "thumbnail-precision", "referenceSchemaVersion": 2}
            options["autoDetectContentReferences"] = work["autoDetectContentMoments"] = True
        if self._chance(0.3):
            number = self.rng.randint(1, 4)
            options["characters"] = [{"name": f"Person {each}"} for each in range(number)]
            work["characterCount"] = number
        elif not detects_content and self._chance(0.3):
            number = self.rng.randint(1, 4)
            options |= {"autoDetectCharacters": True, "characterCount": number}
            work["characterCount"] = number
        references = [name for name in REFERENCES if self._chance(0.2)]
        options |= dict.fromkeys(references, IMAGE)
        work["referenceProducts"] = references
        if self._chance(0.5):
            is_used = options["autoTranslateThumbnail"] = self._chance(0.8)
            languages = self._some_languages(2) if is_used else list(self.languages[:1])
            options["thumbnailTranslationLanguageCodes"] = languages
            work["translateLanguageCodes"] = languages if is_used else []
        return options, work


@dataclass(frozen=True)
class Outcome:
    """What a request answered: its error code, or what it costs in credits."""

    code: Code | None
    credits: float | None = None
    is_sufficient: bool = True


@dataclass
class QuoteComparison:
    """Runs quotes and creations of the API in transactions that are rolled back, and compares them."""

    runtime: Runtime
    principal: Principal
    now: datetime
    compared: int = 0
    accepted: int = 0

    async def compare(self, video_id: str, priced: PricedBody, *, is_waiting: bool) -> str | None:
        """Describe the disagreement on one body, if any. What waits for duration or transcript is charged later."""
        async with self.runtime.database.transaction(self.principal.library_id) as connection:
            quoted = await self._quote(connection, video_id, priced.bundle)
            created = await self._create(connection, video_id, priced)
        self.compared += 1
        self.accepted += created.code is None
        if _agree(quoted, created, is_waiting=is_waiting):
            return None
        return f"{priced.product} {priced.body}: quoted {quoted}, created {created}"

    async def _quote(self, connection: Connection, video_id: str, bundle: Body) -> Outcome:
        try:
            found: Quote = await quote(self._call(connection), video_id, CreditBundle.model_validate(bundle))
        except (CutroomError, ValidationError) as error:
            return Outcome(_code(error))
        return Outcome(None, found.total, is_sufficient=found.sufficient)

    async def _create(self, connection: Connection, video_id: str, priced: PricedBody) -> Outcome:
        adapter, create = CREATIONS[priced.product]
        library_id = self.principal.library_id
        before = await get_balance(connection, library_id)
        savepoint = connection.transaction()
        await savepoint.start()
        try:
            await create(self._call(connection), video_id, adapter.validate_python(priced.body))
            return Outcome(None, to_credits(before - await get_balance(connection, library_id)))
        except (CutroomError, ValidationError) as error:
            return Outcome(_code(error))
        finally:
            await savepoint.rollback()

    def _call(self, connection: Connection) -> RequestCall:
        return RequestCall(principal=self.principal, connection=connection, runtime=self.runtime, now=self.now)


def _code(error: CutroomError | ValidationError) -> Code:
    return error.code if isinstance(error, CutroomError) else Code.INVALID_ARGUMENT


def _agree(quoted: Outcome, created: Outcome, *, is_waiting: bool) -> bool:
    """Both refuse for the same reason, or both accept at the same price; a creation may wait for what a quote needs."""
    if created.code is Code.INSUFFICIENT_CREDITS:
        return quoted.code is None and not quoted.is_sufficient
    if created.code is not None:
        return quoted.code == created.code
    if is_waiting:
        return quoted.code in {None, Code.DURATION_UNKNOWN}
    return quoted.code is None and quoted.is_sufficient and quoted.credits == created.credits
