"""What there is of a video: the files that a bundle packs, and the tracks that a language video carries."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.media.formats import HEAD_BYTES, Container, sniff_head
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.downloads.archive import Entry
from cutroom.products.downloads.rules import safe_name, stem_of
from cutroom.products.transcripts.service import UNKNOWN_LANGUAGE, subtitle_path

MAX_SHORTS = 200
_ENDINGS: Mapping[Container, str] = {
    Container.MOV: "mp4",
    Container.MATROSKA: "mkv",
    Container.MPEGTS: "ts",
    Container.MPEG: "mpg",
    Container.ASF: "wmv",
}
_TITLE = """SELECT v.title, v.poster_path, v.default_language_code, v.media_type, v.duration_seconds,
        s.storage_path, s.file_name, s.size_bytes
    FROM videos v LEFT JOIN sources s ON s.library_id = v.library_id AND s.video_id = v.id
    WHERE v.library_id = $1 AND v.id = $2"""
_DUBS = """SELECT d.language, d.product, d.audio_path, j.result FROM dubs d
    JOIN jobs j ON j.library_id = d.library_id AND j.video_id = d.video_id AND j.type = 'dub'
        AND j.language = d.language AND j.product = d.product AND j.status = 'ready'
    WHERE d.library_id = $1 AND d.video_id = $2 AND d.completion = 'complete' AND d.audio_path IS NOT NULL
    ORDER BY d.language, d.product"""
_CAPTIONS = """SELECT c.language, j.result FROM captions c
    LEFT JOIN jobs j ON j.library_id = c.library_id AND j.id = 'captions_' || c.video_id || '_' || c.language
    WHERE c.library_id = $1 AND c.video_id = $2 ORDER BY c.language"""
_SHORTS = """SELECT id, number, title, video_path, thumbnail_path FROM shorts_outputs
    WHERE library_id = $1 AND video_id = $2 AND deleted_at IS NULL ORDER BY request_id, number LIMIT $3"""


@dataclass(frozen=True, slots=True)
class Subtitled:
    """A language in which there are subtitles."""

    language: str
    srt_path: str
    vtt_path: str
    engines: Sequence[str]


@dataclass(frozen=True, slots=True)
class DubTrack:
    """A finished dub."""

    language: str
    product: str
    path: str
    engines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Holdings:
    """Everything that belongs to one video."""

    title: str
    language: str
    media_type: str | None
    duration_seconds: float | None
    source_path: str | None
    source_bytes: int
    file_name: str | None
    poster_path: str | None
    transcript: dict[str, Any] | None
    subtitles: Sequence[Subtitled]
    dubs: Sequence[DubTrack]
    shorts: Sequence[Mapping[str, Any]]


async def holdings_of(connection: Connection, library_id: str, video_id: str) -> Holdings:
    video = await connection.fetchrow(_TITLE, library_id, video_id)
    assert video is not None
    told = await connection.fetchrow(
        """SELECT language, segments, speakers, alignment_path, engine FROM transcripts
           WHERE library_id = $1 AND video_id = $2""",
        library_id,
        video_id,
    )
    subtitles = []
    if told is not None and told["segments"]:
        subtitles.append(_subtitled(library_id, video_id, told["language"], [told["engine"]]))
    translated = await connection.fetch(_CAPTIONS, library_id, video_id)
    subtitles += [_subtitled(library_id, video_id, row["language"], _engines(row["result"])) for row in translated]
    dubs = [
        DubTrack(row["language"], row["product"], row["audio_path"], _engines(row["result"]))
        for row in await connection.fetch(_DUBS, library_id, video_id)
    ]
    return Holdings(
        title=stem_of(video["title"]),
        language=video["default_language_code"] or UNKNOWN_LANGUAGE,
        media_type=video["media_type"],
        duration_seconds=video["duration_seconds"],
        source_path=video["storage_path"],
        source_bytes=video["size_bytes"] or 0,
        file_name=video["file_name"],
        poster_path=video["poster_path"],
        transcript=dict(told) if told is not None else None,
        subtitles=subtitles,
        dubs=dubs,
        shorts=[dict(row) for row in await connection.fetch(_SHORTS, library_id, video_id, MAX_SHORTS)],
    )


def _subtitled(library_id: str, video_id: str, language: str, engines: Sequence[str]) -> Subtitled:
    paths = [subtitle_path(library_id, video_id, language=language, format_=each) for each in ("srt", "vtt")]
    return Subtitled(language, paths[0], paths[1], engines)


def _engines(result: Mapping[str, Any] | None) -> list[str]:
    return list((result or {}).get("engines", ()))


async def source_name(held: Holdings, storage: Storage) -> str:
    """The source's name, with the ending of what it really is."""
    ending = (held.file_name or "").rpartition(".")[2].lower()
    assert held.source_path is not None
    head = b"".join([chunk async for chunk in storage.read(held.source_path, span=(0, HEAD_BYTES))])
    found = Container.MP3 if head.startswith(b"ID3") else sniff_head(head)
    if found is None:
        return f"{held.title}.bin"
    usual = _ENDINGS.get(found, found.value)
    known = {usual, *({"mov", "m4v", "m4a", "webm", "mka", "oga", "ogv", "m2ts", "aif", "wma"} if ending else ())}
    return f"{held.title}.{ending if ending in known else usual}"


def derived_entries(held: Holdings) -> list[Entry]:
    """All that was made of a video, under names of ours."""
    entries = []
    if held.poster_path is not None:
        entries.append(Entry("poster.jpg", "poster", held.poster_path))
    if held.transcript is not None and held.transcript["segments"]:
        spoken, engines = held.transcript["language"], [held.transcript["engine"]]
        written = {name: held.transcript[name] for name in ("language", "speakers", "segments")}
        content = json.dumps(written, ensure_ascii=False, indent=1).encode()
        entries.append(
            Entry("transcript/transcript.json", "transcript", content=content, language=spoken, engines=engines)
        )
        path = held.transcript["alignment_path"]
        entries.append(Entry("transcript/words.json", "words", path, language=spoken, engines=engines))
    for each in held.subtitles:
        for path, ending in ((each.srt_path, "srt"), (each.vtt_path, "vtt")):
            name = f"subtitles/{each.language}.{ending}"
            entries.append(Entry(name, "subtitles", path, language=each.language, engines=each.engines))
    for dub in held.dubs:
        name = f"dubs/{dub.language}-{dub.product}.m4a"
        entries.append(Entry(name, "dub", dub.path, language=dub.language, engines=dub.engines))
    for at, short in enumerate(held.shorts, 1):
        name = f"shorts/{at:03}-{safe_name(short['title'])}"
        entries.append(Entry(f"{name}.mp4", "short", short["video_path"]))
        entries.append(Entry(f"{name}.jpg", "thumbnail", short["thumbnail_path"]))
    return entries
