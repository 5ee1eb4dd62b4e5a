"""Files that refer to other files or URLs: playlists, scripts, documents and container references."""

import gzip
import io
import struct
import zipfile

from proofs.hostile.file_cases import (
    Bait,
    Case,
    ExpectedOutcome,
    Workspace,
    WriteFile,
    from_bait,
    from_good,
    with_content,
)
from proofs.hostile.files_mp4 import box, full_box

GZIP_BOMB_BYTES = 200_000_000


def cases() -> list[Case]:
    return [*_playlists(), *_lists(), *_documents(), *_polyglots(), *_references()]


def _m3u8(*lines: str) -> str:
    return "\n".join(("#EXTM3U", "#EXT-X-TARGETDURATION:10", *lines, "#EXT-X-ENDLIST", ""))


def _playlists() -> list[Case]:
    def case(name: str, *lines: str) -> Case:
        def write(bait: Bait) -> str:
            return _m3u8(*(line.format(secret=bait.secret_path, url=bait.url) for line in lines))

        return Case(f"m3u8 {name}", from_bait(write))

    return [
        case("of a local file", "#EXTINF:10,", "{secret}"),
        case("of a file URL", "#EXTINF:10,", "file://{secret}"),
        case("of a neighboring file", "#EXTINF:10,", "canary.mp4"),
        case("of a path with ..", "#EXTINF:10,", "../../../../../../../../{secret}"),
        case("of a URL", "#EXTINF:10,", "{url}"),
        case("of concat:", "#EXTINF:10,", "concat:{url}|{secret}"),
        case("of subfile:", "#EXTINF:10,", "subfile,,start,0,end,64,,:{secret}"),
        case("of crypto:", "#EXTINF:10,", "crypto+file://{secret}"),
        case("of data:", "#EXTINF:10,", "data:text/plain;base64,I0VYVE0zVQ=="),
        case("of a gopher URL", "#EXTINF:10,", "gopher://127.0.0.1:1/_GET"),
        case("with a key in a file", '#EXT-X-KEY:METHOD=AES-128,URI="file://{secret}"', "#EXTINF:10,", "canary.mp4"),
        case("with a map in a file", '#EXT-X-MAP:URI="{secret}"', "#EXTINF:10,", "canary.mp4"),
        case("of playlists", "#EXT-X-STREAM-INF:BANDWIDTH=1", "{url}/a.m3u8"),
        case("of itself", "#EXT-X-STREAM-INF:BANDWIDTH=1", "input"),
    ]


def _lists() -> list[Case]:
    mpd = (
        '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static">'
        '<Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1"><BaseURL>{at}</BaseURL>'
        "</Representation></AdaptationSet></Period></MPD>"
    )
    return [
        Case("ffconcat of a file", from_bait(lambda b: f"ffconcat version 1.0\nfile '{b.secret_path}'\n")),
        Case("ffconcat of a URL", from_bait(lambda b: f"ffconcat version 1.0\nfile '{b.url}'\n")),
        Case("ffconcat of itself", with_content(b"ffconcat version 1.0\nfile input\n" * 50)),
        Case("concat list without a header", from_bait(lambda b: f"file '{b.secret_path}'\n")),
        Case(
            "sdp",
            from_bait(lambda _b: "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 1 RTP/AVP 96\n"),
        ),
        Case("mpd of a file", from_bait(lambda b: mpd.format(at=f"file://{b.secret_path}"))),
        Case("mpd of a URL", from_bait(lambda b: mpd.format(at=b.url))),
        Case("pls", from_bait(lambda b: f"[playlist]\nFile1={b.url}\nNumberOfEntries=1\n")),
        Case("asx", from_bait(lambda b: f'<asx version="3.0"><entry><ref href="{b.url}"/></entry></asx>')),
        Case("smil", from_bait(lambda b: f'<smil><body><video src="{b.url}"/></body></smil>')),
        Case("real audio metafile", from_bait(lambda b: f"{b.url}\n")),
        Case("avisynth script", from_bait(lambda b: f'FFVideoSource("{b.secret_path}")\n')),
        Case("lavfi graph", from_bait(lambda b: f"movie=filename={b.secret_path}\n")),
        Case(
            "composition playlist",
            from_bait(lambda b: f"<CompositionPlaylist><Path>{b.url}</Path></CompositionPlaylist>"),
        ),
        Case("image pattern", with_content(b"x"), file_name="canary%03d.png"),
    ]


def _documents() -> list[Case]:
    events = "[Events]\nDialogue: 0,0:00:00.00,0:00:09.00,,,,,,,{{\\fn{0}}}x\n"
    ass = "[Script Info]\nScriptType: v4.00+\n[Fonts]\nfontname: a.ttf\n" + events
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    svg = f"<svg {spaces}>" + '<image xlink:href="{0}"/></svg>'
    return [
        Case("ass subtitles", from_bait(lambda b: ass.format(b.secret_path))),
        Case("srt subtitles", with_content(b"1\n00:00:00,000 --> 00:00:09,000\nhello\n")),
        Case("webvtt subtitles", with_content(b"WEBVTT\n\n00:00.000 --> 00:09.000\nhello\n")),
        Case("svg", from_bait(lambda b: svg.format(b.url))),
        Case("svg of a file", from_bait(lambda b: svg.format(f"file://{b.secret_path}"))),
        Case("html", from_bait(lambda b: f'<!doctype html><video src="{b.url}"></video>')),
        Case("pdf", from_bait(lambda b: f"%PDF-1.7\n1 0 obj<</Type/Action/S/URI/URI({b.url})>>endobj\n%%EOF")),
        Case("postscript", from_bait(lambda b: f"%!PS\n({b.secret_path}) (r) file\n")),
        Case(
            "xml with an external entity",
            from_bait(lambda b: f'<!DOCTYPE a [<!ENTITY b SYSTEM "file://{b.secret_path}">]><a>&b;</a>'),
        ),
        Case("ELF program", with_content(b"\x7fELF\x02\x01\x01" + bytes(1000))),
        Case("windows program", with_content(b"MZ\x90\x00" + bytes(1000))),
        Case("shell script", from_bait(lambda b: f"#!/bin/sh\ncat {b.secret_path}\n")),
        Case("zip", with_content(_zip())),
        Case("gzip bomb", with_content(gzip.compress(bytes(GZIP_BOMB_BYTES), 9))),
        Case("text", with_content(b"hello\n" * 1000)),
        Case("ffmetadata", with_content(b";FFMETADATA1\ntitle=a\n" * 100)),
    ]


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../escape", bytes(10_000_000))
    return file.getvalue()


def _polyglots() -> list[Case]:
    """A playlist after the magic bytes of another format."""
    heads = {
        "mp4": box(b"ftyp", b"isom\x00\x00\x02\x00isom"),
        "an id3 tag": b"ID3\x03\x00\x00\x00\x00\x00\x0a" + bytes(10),
        "matroska": b"\x1a\x45\xdf\xa3\x80",
        "avi": b"RIFF\xff\xff\xff\x7fAVI ",
        "wav": b"RIFF\xff\xff\xff\x7fWAVE",
        "ogg": b"OggS\x00\x02",
        "amr": b"#!AMR\n",
        "flv": b"FLV\x01\x05\x00\x00\x00\x09",
        "mpeg": b"\x00\x00\x01\xba",
    }

    def write(head: bytes) -> WriteFile:
        return from_bait(lambda b: head + _m3u8("#EXTINF:10,", str(b.secret_path), "#EXTINF:10,", b.url).encode())

    # Any bytes after the first line are valid AMR, so these may be imported as noise.
    lenient = ("amr", "an id3 tag")
    return [
        Case(f"m3u8 after {name}", write(head), ExpectedOutcome.EITHER if name in lenient else ExpectedOutcome.REFUSED)
        for name, head in heads.items()
    ]


def _references() -> list[Case]:
    """Movies whose samples are in other files; ffmpeg is configured not to follow the references."""
    return [
        Case(
            "mov with a url data reference",
            _dref(lambda b: full_box(b"url ", 0, f"file://{b.secret_path}\0".encode())),
            ExpectedOutcome.EITHER,
        ),
        Case(
            "mov with an http data reference",
            _dref(lambda b: full_box(b"url ", 0, f"{b.url}\0".encode())),
            ExpectedOutcome.EITHER,
        ),
        Case(
            "mov with an alias",
            _dref(lambda b: full_box(b"alis", 0, _alias(str(b.secret_path)))),
            ExpectedOutcome.EITHER,
        ),
        Case("mov that refers to a movie", from_bait(_reference_movie)),
        Case("mov that refers to a movie, after a valid one", _behind_good(_reference_movie), ExpectedOutcome.EITHER),
    ]


def _dref(entry: object) -> WriteFile:
    def write(workspace: Workspace, path: object) -> None:
        def change(data: bytes) -> bytes:
            assert callable(entry)
            # Replaces self-contained data references and updates the sizes of the enclosing boxes.
            return _replace_dref(data, entry(workspace.bait))

        from_good("moov last", change)(workspace, path)  # type: ignore[arg-type]

    return write


def _replace_dref(data: bytes, entry: bytes) -> bytes:
    old = box(b"dref", b"\0\0\0\0\0\0\0\1" + full_box(b"url ", 1, b""))
    new = box(b"dref", b"\0\0\0\0\0\0\0\1" + entry)
    grown = len(new) - len(old)
    while (at := data.find(old)) >= 0:
        changed = bytearray(data[:at] + new + data[at + len(old) :])
        for kind in (b"dinf", b"minf", b"mdia", b"trak", b"moov"):
            size_at = data.rfind(kind, 0, at) - 4
            size = struct.unpack_from(">I", changed, size_at)[0]
            struct.pack_into(">I", changed, size_at, size + grown)
        data = bytes(changed)
    return data


def _alias(path: str) -> bytes:
    """The fields of a Macintosh alias record that ffmpeg reads: volume, name, and the path as entries 2 and 18."""
    name = path.rsplit("/", 1)[-1].encode()[:63]
    head = bytes(10) + bytes([1]) + b"/".ljust(27, b"\0") + bytes(12) + bytes([len(name)]) + name.ljust(63, b"\0")
    head += bytes(16) + struct.pack(">hh", 2, 2) + bytes(16)
    raw = path.encode()
    padded = raw + bytes(len(raw) % 2)
    return (
        head + b"".join(struct.pack(">HH", kind, len(raw)) + padded for kind in (2, 18)) + struct.pack(">HH", 0xFFFF, 0)
    )


def _reference_movie(bait: Bait) -> bytes:
    url = f"{bait.url}\0".encode()
    reference = full_box(b"rdrf", 0, b"url " + struct.pack(">I", len(url)) + url)
    return box(b"moov", box(b"rmra", box(b"rmda", reference)))


def _behind_good(content: object) -> WriteFile:
    def write(workspace: Workspace, path: object) -> None:
        assert callable(content)
        from_good("mp4", lambda data: data + content(workspace.bait))(workspace, path)  # type: ignore[arg-type]

    return write
