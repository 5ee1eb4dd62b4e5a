"""Validation, canonical URLs and fingerprints of sources, and validation of file names and content types."""

import hashlib
import re
import unicodedata
from enum import StrEnum
from urllib.parse import parse_qs, unquote, urlencode

from cutroom.platform.egress.urls import HTTPS_PORT, Target, UrlError, parse_url, url_error

DEFAULT_FILE_NAME = "upload.mp4"
MAX_FILE_NAME = 255
MAX_CONTENT_TYPE = 255
MAX_QUERY_FIELDS = 64
IS_UPLOAD = "is_upload"  # in the plan of an import whose file is in the object store when it starts


class SourceType(StrEnum):
    """Where a video is imported from."""

    YOUTUBE = "youtube"
    DROPBOX = "dropbox"
    GOOGLE_DRIVE = "google_drive"
    HTTPS = "https"
    UPLOAD = "upload"


class MediaKind(StrEnum):
    """Whether a file is imported as video or as audio."""

    VIDEO = "video"
    AUDIO = "audio"


# Matched exactly: matching suffixes would admit evilyoutube.com.
YOUTUBE_HOSTS = frozenset(
    {"youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com", "www.youtube-nocookie.com"}
)
YOUTUBE_SHORT_HOSTS = frozenset({"youtu.be", "www.youtu.be"})
DROPBOX_HOSTS = frozenset({"dropbox.com", "www.dropbox.com", "dl.dropbox.com", "dl.dropboxusercontent.com"})
DRIVE_HOSTS = frozenset({"drive.google.com", "docs.google.com", "drive.usercontent.google.com"})

_YOUTUBE_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_YOUTUBE_PATH = re.compile(r"/(?:shorts|live|embed|v|e)/([^/]+)/?")
# A file by its own link, or a file inside a shared folder.
_DROPBOX_FILE = re.compile(r"(?:/e)?(/s/[\w-]+/[^/]+|/scl/fi/[\w-]+/[^/]+|/s(?:h|cl/fo)/[\w-]+/[\w-]+/[^/]+)", re.ASCII)
_DRIVE_FILE = re.compile(r"(?:/a/[\w.-]+)?/file(?:/u/[0-9]+)?/d/([^/]+)(?:/(?:view|edit|preview)?)?", re.ASCII)
_DRIVE_BY_QUERY = re.compile(r"(?:/a/[\w.-]+)?(?:/u/[0-9]+)?/(?:open|uc|download)", re.ASCII)
_DRIVE_ID = re.compile(r"[A-Za-z0-9_-]{20,128}")
_DRIVE_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")

_TOKEN = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"  # noqa: S105 - `token` as in the MIME grammar
_MIME_TYPE = re.compile(rf'({_TOKEN}/{_TOKEN})(?:[ \t]*;[ \t]*{_TOKEN}=(?:{_TOKEN}|"[ !#-\[\]-~]*"))*')
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def source_url_error(source: SourceType, url: str) -> str | None:
    """Returns what is wrong with a source URL, or None, without fetching it."""
    if (error_text := url_error(url)) is not None:
        return error_text
    try:
        canonical_source(source, url)
    except UrlError as error:
        return str(error)
    return None


def source_fingerprint(source: SourceType, url: str) -> str:
    """Hashes the canonical URL, so that equivalent URLs match and no secrets of links are stored."""
    return f"{source}:{hashlib.sha256(canonical_source(source, url).encode()).hexdigest()}"


def canonical_source(source: SourceType, url: str) -> str:
    """Returns the canonical URL of a source; raises UrlError if it does not belong to the provider."""
    if source is SourceType.YOUTUBE:
        return youtube_url(youtube_id(url))
    if source is SourceType.GOOGLE_DRIVE:
        return f"https://drive.google.com/file/d/{drive_id(url)}"
    if source is SourceType.DROPBOX:
        return dropbox_url(url)
    if source is SourceType.HTTPS:
        return _ESCAPE.sub(_plain_escape, parse_url(url).url)
    raise UrlError("An upload has no URL.")


def youtube_url(video_id: str) -> str:
    return f"https://www.youtube.com/watch?v={video_id}"


def youtube_id(url: str) -> str:
    target, path, query = _read(url)
    video_id: str | None = None
    if target.host in YOUTUBE_SHORT_HOSTS:
        video_id = path.strip("/")
    elif target.host in YOUTUBE_HOSTS and path.rstrip("/") == "/watch":
        video_id = query.get("v")
    elif target.host in YOUTUBE_HOSTS and (match := _YOUTUBE_PATH.fullmatch(path)):
        video_id = match[1]
    if video_id is None or not _YOUTUBE_ID.fullmatch(video_id):
        raise UrlError("This is not the URL of a YouTube video.")
    return video_id


def drive_id(url: str) -> str:
    target, path, query = _read(url)
    file_id: str | None = None
    if target.host in DRIVE_HOSTS:
        if match := _DRIVE_FILE.fullmatch(path):
            file_id = match[1]
        elif _DRIVE_BY_QUERY.fullmatch(path):
            file_id = query.get("id")
    if file_id is None or not _DRIVE_ID.fullmatch(file_id):
        raise UrlError("This is not the URL of a file in Google Drive.")
    return file_id


def drive_download_url(url: str) -> str:
    """Returns Drive's download URL; old links need their resource key."""
    query = {"id": drive_id(url), "export": "download"}
    key = _read(url)[2].get("resourcekey", "")
    if _DRIVE_KEY.fullmatch(key):
        query["resourcekey"] = key
    return f"https://drive.google.com/uc?{urlencode(query)}"


def dropbox_url(url: str) -> str:
    """Returns a share link reduced to the parts that identify the file."""
    target, path, query = _read(url)
    match = _DROPBOX_FILE.fullmatch(path) if target.host in DROPBOX_HOSTS else None
    if match is None:
        raise UrlError("This is not the URL of a file in Dropbox.")
    key = query.get("rlkey")
    path = _ESCAPE.sub(_plain_escape, match[1])
    return f"https://www.dropbox.com{path}" + (f"?{urlencode({'rlkey': key})}" if key else "")


def dropbox_download_url(url: str) -> str:
    canonical = dropbox_url(url)
    return f"{canonical}{'&' if '?' in canonical else '?'}dl=1"


def file_name_error(name: str) -> str | None:
    """Returns what is wrong with a file name, or None."""
    if not 1 <= len(name) <= MAX_FILE_NAME:
        return f"A file name has 1 to {MAX_FILE_NAME} characters."
    if "/" in name or "\\" in name or name in {".", ".."}:
        return "A file name is not a path."
    # Cc: control characters; Cs: lone surrogates; Zl and Zp: Unicode line separators.
    if any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in name):
        return "A file name has no control characters."
    return None


def safe_file_name(name: str | None) -> str | None:
    """Strips the path from an untrusted file name; None if the rest is unusable."""
    if name is None:
        return None
    name = name.replace("\\", "/").rpartition("/")[2].strip()[-MAX_FILE_NAME:]
    return None if file_name_error(name) else name


def file_name_in_url(url: str) -> str | None:
    path = parse_url(url).path.partition("?")[0]
    return safe_file_name(unquote(path))


def content_type_error(content_type: str) -> str | None:
    if len(content_type) > MAX_CONTENT_TYPE or not _MIME_TYPE.fullmatch(content_type):
        return "This is not a MIME type."
    return None


def media_type(content_type: str | None) -> str:
    """Returns type and subtype in lower case without parameters; empty if there is none."""
    match = _MIME_TYPE.match(content_type or "")
    return match[1].lower() if match else ""


def media_kind(content_type: str | None) -> MediaKind:
    return MediaKind.AUDIO if media_type(content_type).startswith("audio/") else MediaKind.VIDEO


def _read(url: str) -> tuple[Target, str, dict[str, str]]:
    target = parse_url(url)
    path, _, query = target.path.partition("?")
    if target.port != HTTPS_PORT or query.count("&") > MAX_QUERY_FIELDS:
        raise UrlError("No provider has such URLs.")
    # Providers use the first of repeated values, so the id must be taken from it as well.
    return target, path, {name: values[0] for name, values in parse_qs(query).items()}


def _plain_escape(match: re.Match[str]) -> str:
    """Percent-encoding normalization of RFC 3986, section 6.2.2."""
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()
