"""Burns captions into a picture with libass."""

from pathlib import Path


def captions_filter(path: Path | str) -> str:
    """The ffmpeg filter that draws an ASS file.

    A bare name of a file in the output folder is found with and without the sandbox. Fonts come from fontconfig, whose
    cache the sandbox shows: a folder of fonts given here would be read into memory whole.
    """
    return f"ass=filename={escape_argument(str(path))}"


def escape_argument(text: str) -> str:
    """A value inside a filter graph: ffmpeg reads it twice, as a value of an option and before as a part of a graph."""
    for mark in "\\':":
        text = text.replace(mark, f"\\{mark}")
    for mark in "\\'[],;":
        text = text.replace(mark, f"\\{mark}")
    return text
