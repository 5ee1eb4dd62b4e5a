"""What there is to make thumbnails of: pictures in the right tone, their faces, and subjects cut out of them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.thumbnails.compositor.palette import Palette, palettes, tinted
from cutroom.engines.thumbnails.compositor.subjects import Subject, cut_subject, find_faces
from cutroom.engines.thumbnails.port import Figure, ThumbnailSpec
from cutroom.engines.types import Box
from cutroom.engines.vision.port import BackgroundRemover, FaceDetector

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MAX_THING = 0.8  # of a picture's width
MAX_SHOTS = 3  # frames of the film that are worked with
MAX_CUT_FRAMES = 2  # of which so many are cut out, since each takes seconds


@dataclass(frozen=True)
class Shot:
    """A picture with what was found in it; the subject is cut out when it is first asked for."""

    picture: "Image"
    faces: list[Box]  # in pixels, the largest first
    _cutter: BackgroundRemover | None = field(repr=False)

    @cached_property
    def subject(self) -> Subject | None:
        return cut_subject(self.picture, self._cutter, faces=self.faces) if self._cutter else None

    @cached_property
    def thing(self) -> Box | None:
        """Where the subject is, in a picture without a face; nothing where it fills the picture."""
        if self.faces or self.subject is None:
            return None
        rows, columns = (np.flatnonzero((self.subject.whole > 127).any(axis=axis)) for axis in (1, 0))
        box = Box(float(columns[0]), float(rows[0]), float(np.ptp(columns)), float(np.ptp(rows)))
        return box if box.width < MAX_THING * self.picture.shape[1] else None


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that layouts take from."""

    design: ThumbnailSpec
    shots: tuple[Shot, ...]
    figures: tuple[tuple[Figure, Shot], ...]
    plates: tuple[Shot, ...]
    palettes: tuple[Palette, ...]
    backdrop: "Image | None" = None  # made for this, so it is shown rather than blurred away

    def palette(self, number: int) -> Palette:
        return self.palettes[number % len(self.palettes)]


def gather(design: ThumbnailSpec, finder: FaceDetector, cutter: BackgroundRemover | None) -> Material:
    def shot(picture: "Image", cutter: BackgroundRemover | None) -> Shot:
        return Shot(picture, find_faces(picture, finder), cutter)

    frames = design.frames[:MAX_SHOTS]
    return Material(
        design=design,
        shots=tuple(
            shot(tinted(each, design), cutter if at < MAX_CUT_FRAMES else None) for at, each in enumerate(frames)
        ),
        figures=tuple((figure, shot(tinted(figure.picture, design), cutter)) for figure in design.figures),
        # Plates are shown as they are: not even their colours are touched.
        plates=tuple(shot(each, None) for each in design.plates),
        palettes=tuple(palettes(design)),
    )
