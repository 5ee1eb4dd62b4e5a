"""Canonical URLs, fingerprints, file names and content types."""

import pytest

from cutroom.platform.egress.urls import UrlError
from cutroom.products.ingest.rules import (
    MediaKind,
    SourceType,
    canonical_source,
    content_type_error,
    drive_download_url,
    dropbox_download_url,
    file_name_error,
    file_name_in_url,
    media_kind,
    safe_file_name,
    source_fingerprint,
    source_url_error,
)

YOUTUBE, DROPBOX, DRIVE, HTTPS = SourceType.YOUTUBE, SourceType.DROPBOX, SourceType.GOOGLE_DRIVE, SourceType.HTTPS
FILE_ID = "1IP0o8dHcQrIHGgVyp0Ofvx2cGfLzyO1x"

SAME = {
    (YOUTUBE, "https://www.youtube.com/watch?v=dQw4w9WgXcQ"): [
        "https://youtu.be/dQw4w9WgXcQ",
        "https://youtu.be/dQw4w9WgXcQ?si=AbCdEf&t=42",
        "https://youtube.com/watch?v=dQw4w9WgXcQ",
        "https://WWW.YouTube.com/watch?app=desktop&v=dQw4w9WgXcQ&list=PL123&index=2#t=1",
        "https://www.youtube.com/watch/?v=dQw4w9WgXcQ",
        "https://m.youtube.com/watch?v=dQw4w9WgXcQ",
        "https://music.youtube.com/watch?v=dQw4w9WgXcQ&si=x",
        "https://www.youtube.com/shorts/dQw4w9WgXcQ?feature=share",
        "https://www.youtube.com/live/dQw4w9WgXcQ",
        "https://www.youtube.com/embed/dQw4w9WgXcQ",
        "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?rel=0",
        "https://www.youtube.com:443/v/dQw4w9WgXcQ",
    ],
    (DRIVE, f"https://drive.google.com/file/d/{FILE_ID}"): [
        f"https://drive.google.com/file/d/{FILE_ID}/view?usp=sharing",
        f"https://drive.google.com/file/d/{FILE_ID}/view?usp=drive_link&resourcekey=0-abc",
        f"https://drive.google.com/file/d/{FILE_ID}/edit",
        f"https://drive.google.com/file/d/{FILE_ID}/preview",
        f"https://drive.google.com/file/u/0/d/{FILE_ID}/view",
        f"https://drive.google.com/a/school.org/file/d/{FILE_ID}/view",
        f"https://drive.google.com/open?id={FILE_ID}&authuser=0",
        f"https://drive.google.com/uc?export=download&id={FILE_ID}",
        f"https://drive.google.com/u/1/uc?id={FILE_ID}&export=download",
        f"https://docs.google.com/uc?id={FILE_ID}",
        f"https://docs.google.com/file/d/{FILE_ID}/edit",
        f"https://drive.usercontent.google.com/download?id={FILE_ID}&export=download&confirm=t",
    ],
    (DROPBOX, "https://www.dropbox.com/scl/fi/r2kd2skcy5ylbbta5y1pz/DJI_0003.MP4?rlkey=wcdg"): [
        "https://www.dropbox.com/scl/fi/r2kd2skcy5ylbbta5y1pz/DJI_0003.MP4?rlkey=wcdg&dl=0",
        "https://www.dropbox.com/scl/fi/r2kd2skcy5ylbbta5y1pz/DJI_0003.MP4?rlkey=wcdg&st=abc&dl=1",
        "https://dropbox.com/scl/fi/r2kd2skcy5ylbbta5y1pz/DJI_0003.MP4?rlkey=wcdg&raw=1",
        "https://www.dropbox.com/e/scl/fi/r2kd2skcy5ylbbta5y1pz/DJI_0003.MP4?rlkey=wcdg",
        "https://dl.dropboxusercontent.com/scl/fi/r2kd2skcy5ylbbta5y1pz/DJI%5F0003.MP4?rlkey=wcdg",
    ],
    (DROPBOX, "https://www.dropbox.com/s/nelirfsxnmcfbfh/a%20clip.mp4"): [
        "https://www.dropbox.com/s/nelirfsxnmcfbfh/a%20clip.mp4?dl=0",
        "https://dl.dropbox.com/s/nelirfsxnmcfbfh/a%20clip.mp4",
    ],
    (DROPBOX, "https://www.dropbox.com/scl/fo/zjfqse5txqfd7/AOfZzSYWUSKle/A-BEAT%20C.mp4?rlkey=6tg"): [
        "https://www.dropbox.com/scl/fo/zjfqse5txqfd7/AOfZzSYWUSKle/A-BEAT%20C.mp4?rlkey=6tg&dl=0",
    ],
    (HTTPS, "https://media.example.com/a/b.mp4?x=1"): [
        "https://MEDIA.example.com/a/b.mp4?x=1",
        "https://media.example.com:443/a/b.mp4?x=1#t=10",
        "HTTPS://media.example.com/%61/b%2Emp4?x=1",
    ],
    (HTTPS, "https://xn--bcher-kva.example.com/%C3%A9.mp4"): ["https://bücher.example.com/é.mp4"],
}

DIFFERENT = [
    (HTTPS, "https://a.example.com/x.mp4", "https://a.example.com/X.mp4"),
    (HTTPS, "https://a.example.com/x.mp4", "https://a.example.com:8443/x.mp4"),
    (HTTPS, "https://a.example.com/a%2Fb", "https://a.example.com/a/b"),
    (HTTPS, "https://a.example.com/?a=1&b=2", "https://a.example.com/?b=2&a=1"),
    (DROPBOX, "https://www.dropbox.com/scl/fi/a/b.mp4?rlkey=1", "https://www.dropbox.com/scl/fi/a/b.mp4?rlkey=2"),
]

REFUSED = {
    YOUTUBE: [
        "https://youtube.com.evil.example/watch?v=dQw4w9WgXcQ",
        "https://evilyoutube.com/watch?v=dQw4w9WgXcQ",
        "https://www.youtube.com@evil.example/watch?v=dQw4w9WgXcQ",
        "https://evil.example/www.youtube.com/watch?v=dQw4w9WgXcQ",
        "https://www.youtube.com:8443/watch?v=dQw4w9WgXcQ",
        "http://www.youtube.com/watch?v=dQw4w9WgXcQ",
        "https://www.youtube.com/watch",
        "https://www.youtube.com/watch?v=short",
        "https://www.youtube.com/watch?v=dQw4w9WgXcQ0",
        "https://www.youtube.com/watch?v=--dump-json%0a",
        "https://www.youtube.com/playlist?list=PL123",
        "https://www.youtube.com/@channel/live",
        "https://www.youtube.com/redirect?q=https://evil.example",
        "https://youtu.be/",
        "https://youtu.be/a/dQw4w9WgXcQ",
        "https://www.youtu\u3002be/dQw4w9WgXcQ",
        f"https://drive.google.com/file/d/{FILE_ID}/view",
    ],
    DROPBOX: [
        "https://www.dropbox.com/",
        "https://www.dropbox.com/home/a.mp4",
        "https://www.dropbox.com/scl/fo/abc/def?rlkey=1",
        "https://www.dropbox.com/sh/abc/def?dl=0",
        "https://dropbox.com.evil.example/s/abc/a.mp4",
        "https://evildropbox.com/s/abc/a.mp4",
        "https://www.dropbox.com/s/abc/../../a.mp4",
        "https://www.dropbox.com/s/abc/a.mp4?" + "&".join(["a=1"] * 100),
    ],
    DRIVE: [
        "https://drive.google.com/drive/folders/1dQ4sx0-__Nvg65rxTSgQrl7VyW_FZ9QI",
        "https://drive.google.com/open",
        "https://drive.google.com/uc?id=../../x",
        "https://drive.google.com/file/d/short/view",
        f"https://docs.google.com/document/d/{FILE_ID}/edit",
        f"https://drive.google.com.evil.example/file/d/{FILE_ID}/view",
        f"https://evildrive.google.com/file/d/{FILE_ID}/view",
        f"https://google.com/file/d/{FILE_ID}/view",
    ],
    HTTPS: ["http://a.example.com/", "https://127.0.0.1/", "https://a.example.com:22/", "file:///etc/passwd", ""],
    SourceType.UPLOAD: ["https://a.example.com/x.mp4"],
}


@pytest.mark.parametrize(
    ("source", "canonical", "spelling"), [(*key, url) for key, urls in SAME.items() for url in (key[1], *urls)]
)
def test_equivalent_urls_have_one_canonical_form(source: SourceType, canonical: str, spelling: str) -> None:
    assert source_url_error(source, spelling) is None
    assert canonical_source(source, spelling) == canonical
    assert source_fingerprint(source, spelling) == source_fingerprint(source, canonical)


@pytest.mark.parametrize(("source", "one", "other"), DIFFERENT)
def test_different_sources_have_different_fingerprints(source: SourceType, one: str, other: str) -> None:
    assert source_fingerprint(source, one) != source_fingerprint(source, other)


@pytest.mark.parametrize(("source", "url"), [(source, url) for source, urls in REFUSED.items() for url in urls])
def test_url_of_another_provider_is_rejected(source: SourceType, url: str) -> None:
    assert source_url_error(source, url) is not None


def test_fingerprint_is_short_and_reveals_nothing() -> None:
    print_ = source_fingerprint(HTTPS, "https://a.example.com/?token=secret" + "x" * 3000)
    assert len(print_) < 100
    assert "secret" not in print_


def test_upload_has_no_fingerprint() -> None:
    with pytest.raises(UrlError):
        source_fingerprint(SourceType.UPLOAD, "https://a.example.com/")


def test_download_urls_keep_resource_keys() -> None:
    assert (
        dropbox_download_url("https://www.dropbox.com/s/abc/a.mp4?dl=0") == "https://www.dropbox.com/s/abc/a.mp4?dl=1"
    )
    assert dropbox_download_url("https://www.dropbox.com/scl/fi/a/b.mp4?dl=0&rlkey=k") == (
        "https://www.dropbox.com/scl/fi/a/b.mp4?rlkey=k&dl=1"
    )
    assert drive_download_url(f"https://drive.google.com/file/d/{FILE_ID}/view?resourcekey=0-k") == (
        f"https://drive.google.com/uc?id={FILE_ID}&export=download&resourcekey=0-k"
    )


@pytest.mark.parametrize(
    "name", ["upload.mp4", "a", "a" * 255, "Ein Clip (1).mov", "映画.mkv", ".hidden", "...", "a..b"]
)
def test_valid_file_name_is_accepted(name: str) -> None:
    assert file_name_error(name) is None


@pytest.mark.parametrize(
    "name",
    ["", "a" * 256, ".", "..", "a/b", "/etc/passwd", "..\\a", "a\0.mp4", "a\nb", "a\x7f", "a\x85", "a\u2028", "\ud800"],
)
def test_invalid_file_name_is_rejected(name: str) -> None:
    assert file_name_error(name) is not None


@pytest.mark.parametrize(
    ("found", "safe"),
    [
        ("clip.mp4", "clip.mp4"),
        ("../../etc/passwd", "passwd"),
        ("C:\\clips\\a.mov", "a.mov"),
        ("a/..", None),
        ("a\nb.mp4", None),
        ("", None),
        (None, None),
    ],
)
def test_path_is_stripped_from_file_name(found: str | None, safe: str | None) -> None:
    assert safe_file_name(found) == safe


def test_file_name_is_last_path_segment() -> None:
    assert file_name_in_url("https://a.example.com/x/A%20clip.mp4?y=/z") == "A clip.mp4"
    assert file_name_in_url("https://a.example.com/") is None
    assert file_name_in_url("https://a.example.com/a%2F..%2Fb.mp4") == "b.mp4"


@pytest.mark.parametrize(
    "content_type", ["video/mp4", "audio/mpeg", 'video/mp4; codecs="avc1.42E01E, mp4a"', "a/b;c=d"]
)
def test_valid_content_type_is_accepted(content_type: str) -> None:
    assert content_type_error(content_type) is None


@pytest.mark.parametrize(
    "content_type", ["", "video", "video/", "/mp4", "video/mp4/x", "video/mp4;", "video/mp4\r\nX: y", "a/" + "b" * 300]
)
def test_invalid_content_type_is_rejected(content_type: str) -> None:
    assert content_type_error(content_type) is not None


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("audio/mpeg", MediaKind.AUDIO),
        ("AUDIO/wav; rate=8000", MediaKind.AUDIO),
        ("video/mp4", MediaKind.VIDEO),
        (None, MediaKind.VIDEO),
    ],
)
def test_audio_content_types_select_audio(content_type: str | None, kind: MediaKind) -> None:
    assert media_kind(content_type) == kind
