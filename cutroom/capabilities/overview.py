"""Describes everything that can be made now, from the same functions that validate requests."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.capabilities.pairs import LanguagePair, language_pairs
from cutroom.capabilities.rules import AvailableVoice, spoken_languages
from cutroom.capabilities.schemas import (
    Capabilities,
    LanguageCapability,
    LimitCapability,
    ModelCapability,
    PairCapability,
    ProductCapability,
    VoiceCapability,
)
from cutroom.capabilities.service import advertised_translators, available_voices
from cutroom.platform.db import Connection
from cutroom.platform.settings import Settings
from cutroom.text.language_tags import display_name, is_language, language_of
from cutroom.web.body import MAX_BODY_BYTES
from cutroom.web.paging import MAX_PAGE
from cutroom.web.products import CallerContext, ProductInfo
from cutroom.web.schema import MAX_LANGUAGES


async def describe_capabilities(
    connection: Connection, principal: Principal, *, products: Sequence[ProductInfo], settings: Settings, now: datetime
) -> Capabilities:
    """Return what the caller's library can make now."""
    voices = await available_voices(connection, now=now)
    spoken = [code for code in spoken_languages(voices) if is_language(code)]
    translators = tuple(await advertised_translators(connection, now=now))
    # In a thread, because it takes a while when the routes have changed.
    pairs = await asyncio.to_thread(language_pairs, translators, frozenset(map(language_of, spoken)))
    context = CallerContext(
        principal=principal,
        settings=settings,
        caption_languages=[pair.target for pair in pairs],
        dub_languages=[pair.target for pair in pairs if pair.is_dubbed],
        spoken_languages=spoken,
    )
    return Capabilities(
        languages=_languages(pairs, spoken),
        pairs=[
            PairCapability(source=pair.source, target=pair.target, quality=pair.quality, dubs=pair.is_dubbed)
            for pair in pairs
        ],
        voices=[_voice(each) for each in voices],
        models=[ModelCapability(id=model, product=each.name) for each in products for model in each.models],
        limits=LimitCapability(
            requests_per_minute=principal.plan.requests_per_minute,
            concurrent_requests=principal.plan.concurrent_requests,
            unfinished_jobs=principal.plan.unfinished_jobs,
            body_bytes=MAX_BODY_BYTES,
            languages=MAX_LANGUAGES,
            page_items=MAX_PAGE,
        ),
        refuses_drafts=principal.refuses_drafts,
        products=[_product(each, context) for each in products],
    )


def _languages(pairs: Sequence[LanguagePair], spoken: Sequence[str]) -> list[LanguageCapability]:
    sources, targets = {pair.source for pair in pairs}, {pair.target for pair in pairs}
    dubbed = {pair.target for pair in pairs if pair.is_dubbed}
    return [
        LanguageCapability(
            code=code,
            name=display_name(code),
            source=code in sources,
            captions=code in targets,
            dubs=code in dubbed,
            speech=code in spoken,
        )
        for code in sorted(sources | targets | set(spoken))
    ]


def _voice(voice: AvailableVoice) -> VoiceCapability:
    return VoiceCapability(id=voice.id, name=voice.title, language=voice.language, gender=voice.gender, age=voice.age)


def _product(info: ProductInfo, context: CallerContext) -> ProductCapability:
    reason = info.refusal(context)
    return ProductCapability(name=info.name, enabled=reason is None, reason=reason, limits=dict(info.limits))
