"""Human file names made of titles: safe on every file system, and never a path."""

import re
import unicodedata

MAX_STEM_BYTES = 160  # leaves space for labels and an extension within the 255 bytes of common file systems
FALLBACK_STEM = "video"
# Windows reserves these names, with any extension; superscript digits count as digits.
_WINDOWS_DEVICE_NAMES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{name}{digit}" for name in ("com", "lpt") for digit in range(1, 10))}
)
_KEPT_CATEGORIES = frozenset("LMN")  # letters, marks and numbers of any script
_EXTENSION = re.compile(r"[A-Za-z0-9]{2,5}")


def file_name(title: str | None, *labels: str | int, extension: str) -> str:
    """`launch.mp4`, "pt" -> `launch-pt.mp4`."""
    return f"{'-'.join([title_stem(title), *map(str, labels)])}.{extension}"


def title_stem(title: str | None) -> str:
    """A title as a file name without an extension; titles of uploads are file names."""
    stem, dot, extension = (title or "").rpartition(".")
    return safe_stem(stem if dot and _EXTENSION.fullmatch(extension) else title)


def safe_stem(text: str | None) -> str:
    """Letters and digits of any script, dots and dashes; format characters such as bidirectional marks are removed."""
    characters = (_safe(each) for each in unicodedata.normalize("NFC", text or ""))
    name = re.sub(r"-*\.[-.]*", ".", re.sub(r"-{2,}", "-", "".join(characters))).lstrip("-.")
    name = name.encode()[:MAX_STEM_BYTES].decode(errors="ignore").rstrip("-.")
    if not name:
        return FALLBACK_STEM
    device = unicodedata.normalize("NFKC", name.partition(".")[0]).lower()
    return f"{FALLBACK_STEM}-{name}" if device in _WINDOWS_DEVICE_NAMES else name


def _safe(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return character if category[0] in _KEPT_CATEGORIES or character == "." else "-"
