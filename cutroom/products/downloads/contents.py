"""Collects a video's files for bundles and language videos."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.engines.errors import EngineError
from cutroom.engines.writing.extractive.analysis import analyze_transcript
from cutroom.engines.writing.extractive.chapters import build_chapters
from cutroom.media.formats import HEAD_BYTES, Container, sniff_header
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.downloads.archive import ArchiveEntry
from cutroom.products.downloads.rules import chapter_lines
from cutroom.products.thumbnails.inputs import writing_input
from cutroom.products.transcripts.editing.publishing import document_rows
from cutroom.products.transcripts.service import (
    UNKNOWN_LANGUAGE,
    StoredTranscript,
    find_transcript,
    subtitle_path,
    subtitle_paths,
)
from cutroom.text.file_names import safe_stem, title_stem

MAX_SHORTS = 200
MAX_THUMBNAILS = 200
_EXTENSIONS: Mapping[Container, str] = {
    Container.MOV: "mp4",
    Container.MATROSKA: "mkv",
    Container.MPEGTS: "ts",
    Container.MPEG: "mpg",
    Container.ASF: "wmv",
}
_VIDEO = """SELECT v.title, v.description, v.poster_path, v.default_language_code, v.media_type, v.duration_seconds,
        s.storage_path, s.file_name, s.size_bytes
    FROM videos v LEFT JOIN published_sources s ON s.library_id = v.library_id AND s.video_id = v.id
    WHERE v.library_id = $1 AND v.id = $2"""
_DUBS = """SELECT d.language, d.product, d.audio_path, j.result FROM published_dubs d
    JOIN jobs j ON j.library_id = d.library_id AND j.video_id = d.video_id AND j.type = 'dub'
        AND j.language = d.language AND j.product = d.product AND j.status = 'ready'
    WHERE d.library_id = $1 AND d.video_id = $2 AND d.completion = 'complete' AND d.audio_path IS NOT NULL
    ORDER BY d.language, d.product"""
_CAPTIONS = """SELECT c.language, j.result FROM published_captions c
    LEFT JOIN jobs j ON j.library_id = c.library_id AND j.id = 'captions_' || c.video_id || '_' || c.language
    WHERE c.library_id = $1 AND c.video_id = $2 ORDER BY c.language"""
_SHORTS = """SELECT id, number, title, video_path, thumbnail_path FROM published_shorts
    WHERE library_id = $1 AND video_id = $2 AND deleted_at IS NULL ORDER BY request_id, number LIMIT $3"""
_THUMBNAILS = """SELECT path, language, engine FROM published_thumbnails
    WHERE library_id = $1 AND video_id = $2 ORDER BY request_id, number LIMIT $3"""


@dataclass(frozen=True, slots=True)
class SubtitleFiles:
    """The subtitle files of one language, of every format."""

    language: str
    srt_path: str
    paths: Sequence[str]
    engines: Sequence[str]


@dataclass(frozen=True, slots=True)
class DubFile:
    """The audio file of a finished dub."""

    language: str
    product: str
    path: str
    engines: Sequence[str]


@dataclass(frozen=True, slots=True)
class VideoAssets:
    """All files of one video."""

    stem: str  # of file names
    title: str | None
    description: str | None
    language: str
    media_type: str | None
    duration_seconds: float | None
    source_path: str | None
    source_bytes: int
    file_name: str | None
    poster_path: str | None
    transcript: StoredTranscript | None
    subtitles: Sequence[SubtitleFiles]
    dubs: Sequence[DubFile]
    shorts: Sequence[Mapping[str, Any]]
    thumbnails: Sequence[Mapping[str, Any]]


async def load_assets(connection: Connection, library_id: str, video_id: str) -> VideoAssets:
    video = await connection.fetchrow(_VIDEO, library_id, video_id)
    assert video is not None
    transcript = await find_transcript(connection, library_id, video_id)
    subtitles = []
    if transcript is not None and transcript.segments:
        subtitles.append(_subtitle_files(library_id, video_id, transcript.language, [transcript.engine]))
    translated = await connection.fetch(_CAPTIONS, library_id, video_id)
    subtitles += [_subtitle_files(library_id, video_id, row["language"], _engines(row["result"])) for row in translated]
    dubs = [
        DubFile(row["language"], row["product"], row["audio_path"], _engines(row["result"]))
        for row in await connection.fetch(_DUBS, library_id, video_id)
    ]
    return VideoAssets(
        stem=title_stem(video["title"]),
        title=video["title"],
        description=video["description"],
        language=video["default_language_code"] or UNKNOWN_LANGUAGE,
        media_type=video["media_type"],
        duration_seconds=video["duration_seconds"],
        source_path=video["storage_path"],
        source_bytes=video["size_bytes"] or 0,
        file_name=video["file_name"],
        poster_path=video["poster_path"],
        transcript=transcript,
        subtitles=subtitles,
        dubs=dubs,
        shorts=[dict(row) for row in await connection.fetch(_SHORTS, library_id, video_id, MAX_SHORTS)],
        thumbnails=[dict(row) for row in await connection.fetch(_THUMBNAILS, library_id, video_id, MAX_THUMBNAILS)],
    )


def _subtitle_files(library_id: str, video_id: str, language: str, engines: Sequence[str]) -> SubtitleFiles:
    srt_path = subtitle_path(library_id, video_id, language=language, format_="srt")
    return SubtitleFiles(language, srt_path, subtitle_paths(library_id, video_id, language=language), engines)


def _engines(result: Mapping[str, Any] | None) -> list[str]:
    return list((result or {}).get("engines", ()))


async def source_name(assets: VideoAssets, storage: Storage) -> str:
    """The source's file name, with the extension of its detected format."""
    extension = (assets.file_name or "").rpartition(".")[2].lower()
    assert assets.source_path is not None
    head = b"".join([chunk async for chunk in storage.read(assets.source_path, span=(0, HEAD_BYTES))])
    container = Container.MP3 if head.startswith(b"ID3") else sniff_header(head)
    if container is None:
        return f"{assets.stem}.bin"
    default = _EXTENSIONS.get(container, container.value)
    allowed = {
        default,
        *({"mov", "m4v", "m4a", "webm", "mka", "oga", "ogv", "m2ts", "aif", "wma"} if extension else ()),
    }
    return f"{assets.stem}.{extension if extension in allowed else default}"


def derived_entries(assets: VideoAssets) -> list[ArchiveEntry]:
    """Archive entries of all derived files."""
    entries = _text_entries(assets)
    if assets.poster_path is not None:
        entries.append(ArchiveEntry("poster.jpg", "poster", assets.poster_path))
    if assets.transcript is not None and assets.transcript.segments:
        entries += _transcript_entries(assets.transcript)
    for each in assets.subtitles:
        for path in each.paths:
            name = f"subtitles/{path.rpartition('/')[2]}"
            entries.append(ArchiveEntry(name, "subtitles", path, language=each.language, engines=each.engines))
    for dub in assets.dubs:
        name = f"dubs/{dub.language}-{dub.product}.m4a"
        entries.append(ArchiveEntry(name, "dub", dub.path, language=dub.language, engines=dub.engines))
    for index, short in enumerate(assets.shorts, 1):
        name = f"shorts/{index:03}-{safe_stem(short['title'])}"
        entries.append(ArchiveEntry(f"{name}.mp4", "short", short["video_path"]))
        entries.append(ArchiveEntry(f"{name}.jpg", "short_poster", short["thumbnail_path"]))
    for index, image in enumerate(assets.thumbnails, 1):
        language, engines = image["language"], [image["engine"]]
        name = f"thumbnails/{index:03}{f'-{language}' if language else ''}.jpg"
        entries.append(ArchiveEntry(name, "thumbnail", image["path"], language=language, engines=engines))
    return entries


def _text_entries(assets: VideoAssets) -> list[ArchiveEntry]:
    texts = {"title": assets.title, "description": assets.description, "chapters": "\n".join(chapters(assets))}
    return [ArchiveEntry(f"{kind}.txt", kind, content=f"{text}\n".encode()) for kind, text in texts.items() if text]


def chapters(assets: VideoAssets) -> list[str]:
    """The chapters of the description, or else the topics of the transcript; videos under a minute have none."""
    if written := chapter_lines(assets.description):
        return written
    if assets.transcript is None:
        return []
    try:
        analysis = analyze_transcript(writing_input(assets.transcript, guidelines=None), embedder=None)
    except EngineError:  # too little speech
        return []
    return [each.line for each in build_chapters(analysis)]


def _transcript_entries(transcript: StoredTranscript) -> list[ArchiveEntry]:
    language, engines = transcript.language, [transcript.engine]
    document = {
        "language": transcript.language,
        "speakers": transcript.speakers,
        "segments": document_rows(transcript.segments),
    }
    content = json.dumps(document, ensure_ascii=False, indent=1).encode()
    name, words = "transcript/transcript.json", transcript.alignment_path
    return [
        ArchiveEntry(name, "transcript", content=content, language=language, engines=engines),
        ArchiveEntry("transcript/words.json", "words", words, language=language, engines=engines),
    ]
