"""The baseline: minimal code for `GET /videos/{id}` with a key lookup (Starlette and asyncpg)."""

import hmac
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cutroom.library.service import GET_VIDEO

FIELDS = {
    "id": "id",
    "status": "status",
    "title": "title",
    "duration": "duration_seconds",
    "mediaType": "media_type",
    "defaultLanguageCode": "default_language_code",
}


def build(database_url: str, hash_key: bytes) -> Starlette:
    """Two queries; no limits, error envelope or log."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with asyncpg.create_pool(database_url, max_size=20) as pool:
            app.state.pool = pool
            yield

    async def get_video(request: Request) -> JSONResponse:
        key = request.headers["authorization"].removeprefix("Bearer ")
        async with request.app.state.pool.acquire() as connection:
            hashed = hmac.digest(hash_key, key.encode(), "sha256")
            caller = await connection.fetchrow("SELECT * FROM authenticate_key($1)", hashed)
            row = await connection.fetchrow(GET_VIDEO, caller["library_id"], request.path_params["id"])
        video = {name: row[column] for name, column in FIELDS.items()}
        return JSONResponse({**video, "createdAt": row["created_at"].isoformat()})

    return Starlette(routes=[Route("/v1/videos/{id}", get_video)], lifespan=lifespan)


if __name__ == "__main__":
    uvicorn.run(
        build(os.environ["CUTROOM_DATABASE_URL"], bytes.fromhex(os.environ["BARE_HASH_KEY"])),
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        log_level="warning",
        access_log=False,
    )
