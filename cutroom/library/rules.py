"""What a folder may be called and where it may stand, and where a video's files are."""

import re

RESERVED_FOLDER = "All Videos"
MAX_FOLDER_NAME = 120
MAX_FOLDER_DEPTH = 3
MAX_FOLDERS = 1_000  # in one library: the list is not paged
MAX_NAME = 120  # of a character or a brand voice
MAX_CHARACTER_IMAGES = 10
MAX_GUIDELINES = 4_000
MAX_COLORS = 8


def is_reserved(name: str) -> bool:
    """The name of the whole library is taken, however it is written."""
    return " ".join(name.split()).casefold() == RESERVED_FOLDER.casefold()


def fault_in_name(name: str) -> str | None:
    """What is wrong with a folder's name, if anything; the name has been trimmed."""
    if not 1 <= len(name) <= MAX_FOLDER_NAME:
        return f"A folder's name has 1 to {MAX_FOLDER_NAME} characters."
    if is_reserved(name):
        return f"`{RESERVED_FOLDER}` is reserved."
    return None


def video_path(library_id: str, video_id: str, name: str) -> str:
    """Where a file of a video is stored; the names are ours, nothing of the caller's is in them."""
    return f"libraries/{library_id}/videos/{video_id}/{name}"


def character_path(library_id: str, image_id: str) -> str:
    return f"libraries/{library_id}/characters/{image_id}.png"


def sent_picture_path(library_id: str, image_id: str) -> str:
    """Where a picture waits as it was sent, until it has been looked at."""
    return f"libraries/{library_id}/characters/{image_id}.sent"


def is_color(text: str) -> bool:
    """Colours of a brand are hex codes, such as #12ab9f."""
    return re.fullmatch(r"#[0-9a-fA-F]{6}", text) is not None
