"""The ffmpeg filter that burns in captions with libass."""

from pathlib import Path


def captions_filter(path: Path | str) -> str:
    """The filter that renders an ASS file.

    A bare file name in the output directory resolves with and without the sandbox. Fonts come from fontconfig, whose
    cache the sandbox exposes; libass would load a fontsdir into memory completely.
    """
    return f"ass=filename={escape_argument(str(path))}"


def escape_argument(text: str) -> str:
    """Escapes a filter argument twice: ffmpeg parses it as an option value and as part of a filter graph."""
    for mark in "\\':":
        text = text.replace(mark, f"\\{mark}")
    for mark in "\\'[],;":
        text = text.replace(mark, f"\\{mark}")
    return text
