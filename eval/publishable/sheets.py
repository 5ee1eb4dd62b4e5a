"""Contact sheets and texts for readers: what a talk's thumbnails and shorts look like, and what is said in them."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from eval.publishable.pictures import TalkDecisions, TalkPictures
from eval.publishable.reference import reference_transcript
from eval.publishable.shorts import RenderedShort, described, spoken_words
from eval.publishable.verdicts import JudgedPicture, PictureKind

if TYPE_CHECKING:
    from cutroom.engines.types import Image

THUMBNAIL_SIZE, PREVIEW_SIZE = (640, 360), (168, 94)  # the second is that of a phone's list of videos
FRAME_SIZE = (270, 480)
EDGE_SECONDS = 0.5  # a viewer does not see single frames at the ends
MARGIN, LABEL = 16, 34  # pixels
SHEET_GRAY = 236
OVERVIEW_COLUMNS, OVERVIEW_QUALITY = 6, 72
OVERVIEW_CELLS: Mapping[PictureKind, tuple[int, int]] = {"thumbnail": (208, 117), "short": (117, 208)}
TEMPLATE = "verdicts.toml"


def write_sheets(pictures: TalkPictures, folder: Path) -> None:
    """The contact sheets, texts and decisions of one talk, and small pictures for the documentation."""
    slug = pictures.decisions.talk.slug
    write_image(draw_thumbnails(pictures), folder / f"{slug}-thumbnails.png")
    if pictures.shorts:
        write_image(draw_shorts(pictures), folder / f"{slug}-shorts.png")
    (folder / f"{slug}.txt").write_text(describe_talk(pictures.decisions), encoding="utf-8")
    judged = [asdict(each) for each in pictures.judged()]
    (folder / f"{slug}.json").write_text(json.dumps(judged, ensure_ascii=False, indent=1), encoding="utf-8")
    covers = {"thumbnail": [each.image for each in pictures.thumbnails]}
    covers["short"] = [read_image(each.cover_path) for each in pictures.shorts]
    for kind, images in covers.items():
        for number, image in enumerate(images, start=1):
            write_image(image, folder / f"{slug}-{kind}-{number}.jpg")


def read_judged(folder: Path) -> list[JudgedPicture]:
    """What `write_sheets` wrote about all talks."""
    files = sorted(folder.glob("*.json"))
    return [JudgedPicture(**row) for file in files for row in json.loads(file.read_text(encoding="utf-8"))]


def write_template(judged: Sequence[JudgedPicture], folder: Path) -> None:
    """An empty table for a reader to fill in."""
    blocks = [f'["{each.id}"]\nverdict = ""  # publish, edit or reject\nreason = ""\n' for each in judged]
    (folder / TEMPLATE).write_text("\n".join(blocks), encoding="utf-8")


def draw_thumbnails(pictures: TalkPictures) -> "Image":
    """Each draft large, and as small as in a list."""
    columns = []
    for number, each in enumerate(pictures.thumbnails, start=1):
        large, small = (cv2.resize(each.image, size, interpolation=cv2.INTER_AREA) for size in _SIZES)
        row = np.full((PREVIEW_SIZE[1], THUMBNAIL_SIZE[0], 3), SHEET_GRAY, np.uint8)
        row[:, : PREVIEW_SIZE[0]] = small
        label = _label(f"{pictures.decisions.talk.slug}: thumbnail {number}", THUMBNAIL_SIZE[0])
        columns.append(np.vstack([label, large, _gap(MARGIN, THUMBNAIL_SIZE[0]), row]).astype(np.uint8))
    return _side_by_side(columns)


_SIZES = (THUMBNAIL_SIZE, PREVIEW_SIZE)


def draw_shorts(pictures: TalkPictures) -> "Image":
    """One row per short: the cover and three frames."""
    rows = []
    for number, short in enumerate(pictures.shorts, start=1):
        cells = []
        for name, image in zip(("cover", "first", "middle", "last"), short_frames(short), strict=True):
            scaled = cv2.resize(image, FRAME_SIZE, interpolation=cv2.INTER_AREA)
            cells.append(np.vstack([_label(f"short {number}: {name}", FRAME_SIZE[0]), scaled]).astype(np.uint8))
        rows.append(_side_by_side(cells))
    return np.vstack(rows).astype(np.uint8)


def short_frames(short: RenderedShort) -> "list[Image]":
    """The cover, and frames near the start, in the middle and near the end."""
    seconds = short.planned.timeline.seconds
    times = (EDGE_SECONDS, seconds / 2, seconds - EDGE_SECONDS)
    return [read_image(short.cover_path), *(_frame_at(short.path, each) for each in times)]


def describe_talk(decisions: TalkDecisions) -> str:
    """The transcript, the headline, and each short with its words."""
    talk = decisions.talk
    names = {speaker.id: speaker.name for speaker in talk.speakers}
    transcript = reference_transcript(talk)
    lines = [f"{talk.title} ({talk.genre}, {talk.language}, {talk.half})", "", "TRANSCRIPT"]
    lines += [f"{each.start_seconds:6.1f}  {names[each.speaker]}: {each.text}" for each in transcript.segments]
    lines += ["", f"THUMBNAILS 1 and 2, headline: {decisions.headline}"]
    for number, short in enumerate(decisions.shorts, start=1):
        lines += ["", f"SHORT {number}, {described(short)}", f"Description: {short.description}"]
        lines += [f"Words: {spoken_words(talk, short)}"]
    return "\n".join(lines) + "\n"


def draw_overview(kind: PictureKind, judged: Sequence[JudgedPicture], folder: Path, *, path: Path) -> None:
    """A JPEG of all small pictures of a kind, in the order of their verdicts."""
    cell = OVERVIEW_CELLS[kind]
    images = [read_image(folder / f"{each.talk}-{kind}-{each.number}.jpg") for each in judged if each.kind == kind]
    small = [cv2.resize(image, cell, interpolation=cv2.INTER_AREA) for image in images]
    small += [_gap(cell[1], cell[0])] * (-len(small) % OVERVIEW_COLUMNS)
    rows = [np.hstack(small[at : at + OVERVIEW_COLUMNS]) for at in range(0, len(small), OVERVIEW_COLUMNS)]
    sheet = cv2.cvtColor(np.vstack(rows).astype(np.uint8), cv2.COLOR_RGB2BGR)
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), sheet, [cv2.IMWRITE_JPEG_QUALITY, OVERVIEW_QUALITY])


def write_image(image: "Image", path: Path) -> None:
    cv2.imwrite(str(path), cv2.cvtColor(image, cv2.COLOR_RGB2BGR))


def read_image(path: Path) -> "Image":
    image = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if image is None:
        raise ValueError(f"{path} is no image.")
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB).astype(np.uint8)


def _frame_at(path: Path, seconds: float) -> "Image":
    still = path.with_name(f"frame-{seconds:.2f}.png")
    command = ["ffmpeg", "-v", "error", "-y", "-ss", f"{seconds:.3f}", "-i", str(path), "-frames:v", "1"]
    subprocess.run([*command, str(still)], check=True)
    return read_image(still)


def _label(text: str, width: int) -> "Image":
    image = np.full((LABEL, width, 3), SHEET_GRAY, np.uint8)
    cv2.putText(image, text, (4, LABEL - 11), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (20, 20, 20), 1, cv2.LINE_AA)
    return image


def _gap(height: int, width: int) -> "Image":
    return np.full((height, width, 3), SHEET_GRAY, np.uint8)


def _side_by_side(columns: "Sequence[Image]") -> "Image":
    height = columns[0].shape[0]
    padded = [part for column in columns for part in (column, _gap(height, MARGIN))]
    return np.hstack(padded).astype(np.uint8)
