"""Names of frameworks, programs, engines, tables and exceptions, which no caller should see."""

import re

INTERNAL_NAMES = re.compile(
    r"(?i:pydantic|fastapi|starlette|uvicorn|asyncpg|sqlalchemy|postgres|\bsql\b|temporal\b|obstore|redis|valkey"
    r"|ffmpeg|ffprobe|bubblewrap|espeak|kokoro|whisper|apertium|firefox|spleeter|onnx|numpy|opencv|yt-dlp|yt_dlp"
    r"|translation_routes|stock_voices|escrow_lines|idempotency_records|thumbnail_requests"
    r"|traceback|exception|site-packages|<class|(?:^|\s)/(?:usr|home|tmp|var|etc)/)"
    r"|<[A-Z]\w+\.|\b[A-Z]\w+Error\b|CUTROOM_|Input should|Value error|\bNone\b|\bTrue\b|\bFalse\b|NoneType",
)
