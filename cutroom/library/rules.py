"""Folder name rules, limits and storage paths."""

import re

RESERVED_FOLDER = "All Videos"
MAX_FOLDER_NAME = 120
MAX_FOLDER_DEPTH = 3
MAX_FOLDERS = 1_000  # per library; the list is not paginated
MAX_NAME = 120  # of a character or a brand voice
MAX_CHARACTER_IMAGES = 10
MAX_GUIDELINES = 4_000
MAX_COLORS = 8
MAX_TITLE = 500
MAX_DESCRIPTION = 20_000
MAX_VIDEO_FOLDERS = 20  # that one video is in
MAX_LABELS = 20  # of one video
MAX_LABEL = 50


def is_reserved(name: str) -> bool:
    """Return whether a folder name is reserved, ignoring case and whitespace."""
    return " ".join(name.split()).casefold() == RESERVED_FOLDER.casefold()


def folder_name_error(name: str) -> str | None:
    """Return why a trimmed folder name is invalid, if it is."""
    if not 1 <= len(name) <= MAX_FOLDER_NAME:
        return f"A folder's name has 1 to {MAX_FOLDER_NAME} characters."
    if is_reserved(name):
        return f"`{RESERVED_FOLDER}` is reserved."
    return None


def video_path(library_id: str, video_id: str, name: str) -> str:
    """Return the storage path of a file; names are ours and contain no user input."""
    return f"libraries/{library_id}/videos/{video_id}/{name}"


def source_path(library_id: str, video_id: str) -> str:
    """Return the path of the original file."""
    return video_path(library_id, video_id, "source")


def poster_path(library_id: str, video_id: str) -> str:
    """Return the path of the poster that the import makes; a thumbnail may replace it."""
    return video_path(library_id, video_id, "poster.jpg")


def character_path(library_id: str, image_id: str) -> str:
    return f"libraries/{library_id}/characters/{image_id}.png"


def uploaded_image_path(library_id: str, image_id: str) -> str:
    """Return the path of an uploaded image before it has been validated."""
    return f"libraries/{library_id}/characters/{image_id}.sent"


def is_color(text: str) -> bool:
    """Return whether this is a hex color such as #12ab9f."""
    return re.fullmatch(r"#[0-9a-fA-F]{6}", text) is not None
