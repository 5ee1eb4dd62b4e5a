"""Tools that cost credits. Each first returns its price, and spends only when it is called again with the token."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, Optional

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from cutroom_client import models
from cutroom_client.errors import SpendingLimitError
from cutroom_client.mcp.connection import SPEND, Connection
from cutroom_client.mcp.reading import JobId, VideoId
from cutroom_client.mcp.results import Spending, tool_errors
from cutroom_client.mcp.spending import NOTHING, Confirmed, credits_of

Language = Annotated[str, Field(min_length=2, max_length=20, description="A language tag such as pt-BR.")]
Languages = Annotated[list[Language], Field(min_length=1, max_length=50)]
Token = Annotated[
    Optional[str],  # noqa: UP045
    Field(
        max_length=500, description="Leave it out to get the price. Send it only after the person agreed to the price."
    ),
]
MAX_CLIPS = {"shorts": 10, "promo": 1, "clips": 4}


def register(server: MCPServer[None], connection: Connection) -> None:  # noqa: C901 (one function for each tool)
    """Add the tools to a server."""
    operations = connection.client.operations

    async def quoted(video_id: str, **work: Any) -> Decimal:  # noqa: ANN401 (the fields of a bundle)
        return credits_of((await operations.quote_credits(video_id, models.CreditBundle(**work))).total)

    async def job(job_id: str) -> Sequence[models.Job]:
        return [await operations.get_job(job_id)]

    @server.tool(annotations=SPEND)
    async def dub_video(
        video_id: VideoId,
        languages: Languages,
        product: Literal["plus", "premium"] = "plus",
        confirmation_token: Token = None,
    ) -> Spending:
        """Dub a video into languages; `premium` keeps the speakers' voices. Costs credits per minute and language."""
        work = {"languages": languages, "product": product}

        async def start(confirmed: Confirmed) -> Sequence[models.Job]:
            body = models.NewDubs(**work)
            return (
                await operations.create_dubs(video_id, body, max_credits=confirmed.price, idempotency_key=confirmed.key)
            ).jobs

        with tool_errors():
            return await connection.spend(
                "dub_video",
                {"video_id": video_id, **work},
                price=lambda: quoted(video_id, dubs=[models.DubWork(**work)]),
                token=confirmation_token,
                start=start,
            )

    @server.tool(annotations=SPEND)
    async def translate_captions(video_id: VideoId, languages: Languages, confirmation_token: Token = None) -> Spending:
        """Translate the captions of a video into languages. Costs credits, for each minute and language."""

        async def start(confirmed: Confirmed) -> Sequence[models.Job]:
            body = models.NewCaptions(languages=languages)
            return (
                await operations.create_captions(
                    video_id, body, max_credits=confirmed.price, idempotency_key=confirmed.key
                )
            ).jobs

        with tool_errors():
            return await connection.spend(
                "translate_captions",
                {"video_id": video_id, "languages": languages},
                price=lambda: quoted(video_id, caption_language_codes=languages),
                token=confirmation_token,
                start=start,
            )

    @server.tool(annotations=SPEND)
    async def make_shorts(
        video_id: VideoId,
        kind: Literal["shorts", "promo", "clips"] = "shorts",
        count: Annotated[int, Field(ge=1, le=10, description="Up to 10 shorts or 4 clips; a promo is one.")] = 1,
        confirmation_token: Token = None,
    ) -> Spending:
        """Cut shorts, a promo or long clips out of a video. Costs credits, for each of them."""
        body: dict[str, Any] = {"kind": kind}
        if kind != "promo":
            body["numClips"] = min(count, MAX_CLIPS[kind])

        async def start(confirmed: Confirmed) -> Sequence[models.Job]:
            asked = await operations.create_shorts(
                video_id, body, max_credits=confirmed.price, idempotency_key=confirmed.key
            )
            return await job(asked.job_id)

        with tool_errors():
            return await connection.spend(
                "make_shorts",
                {"video_id": video_id, "body": body},
                price=lambda: quoted(video_id, shorts=models.ShortsWork(**body)),
                token=confirmation_token,
                start=start,
            )

    @server.tool(annotations=SPEND)
    async def make_thumbnails(video_id: VideoId, confirmation_token: Token = None) -> Spending:
        """Make thumbnails from the transcript and the frames of a video. Costs credits."""

        async def start(confirmed: Confirmed) -> Sequence[models.Job]:
            body = {"zeroPromptThumbnail": {"enabled": True}}
            created = await operations.create_packaging(
                video_id, body, max_credits=confirmed.price, idempotency_key=confirmed.key
            )
            return created.jobs

        with tool_errors():
            return await connection.spend(
                "make_thumbnails",
                {"video_id": video_id},
                price=lambda: quoted(video_id, zero_prompt_thumbnail=models.ThumbnailWork(enabled=True)),
                token=confirmation_token,
                start=start,
            )

    @server.tool(annotations=SPEND)
    async def recognize_speech(video_id: VideoId, language: Language, confirmation_token: Token = None) -> Spending:
        """Recognize the speech of a video again, in a language, as a new revision of its transcript. Costs credits."""

        async def start(confirmed: Confirmed) -> Sequence[models.Job]:
            started = await connection.client.videos.handle(video_id).transcribe(language, max_credits=confirmed.price)
            return [started.data]

        with tool_errors():
            return await connection.spend(
                "recognize_speech",
                {"video_id": video_id, "language": language},
                price=lambda: quoted(video_id, transcript_only=True),
                token=confirmation_token,
                start=start,
            )

    @server.tool(annotations=SPEND)
    async def retry_job(job_id: JobId, confirmation_token: Token = None) -> Spending:
        """Run a failed job again, at its current price. A job that costs nothing starts at once."""
        cost = NOTHING

        async def price() -> Decimal:
            return cost

        async def start(confirmed: Confirmed) -> Sequence[models.Job]:
            return [await operations.retry_job(job_id, max_credits=confirmed.price, idempotency_key=confirmed.key)]

        with tool_errors():
            if confirmation_token is None:
                try:  # with a limit of 0, the service refuses with the price, unless there is none
                    started = await operations.retry_job(job_id, max_credits=0)
                    return connection.started(NOTHING, [started])
                except SpendingLimitError as refused:
                    cost = credits_of(refused.details["price"])
            return await connection.spend(
                "retry_job", {"job_id": job_id}, price=price, token=confirmation_token, start=start
            )
