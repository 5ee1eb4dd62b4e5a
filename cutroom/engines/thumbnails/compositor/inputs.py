"""Prepares the inputs of layouts: color-graded images, their faces and cutouts, and palettes."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.thumbnails.compositor.cutouts import Cutout, cut_out_subject, detect_faces
from cutroom.engines.thumbnails.compositor.palette import Palette, candidate_palettes, color_graded
from cutroom.engines.thumbnails.port import CharacterSpec, ThumbnailSpec
from cutroom.engines.types import Box
from cutroom.engines.vision.port import BackgroundRemover, FaceDetector

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MAX_OBJECT_WIDTH = 0.8  # of the image
MAX_FRAMES = 3  # frames of the video that layouts use
MAX_CUTOUT_FRAMES = 2  # background removal takes seconds per frame


@dataclass(frozen=True)
class AnalyzedImage:
    """An image with its detected faces; the subject is cut out on first access."""

    pixels: "Image"
    faces: list[Box]  # in pixels, largest first
    _remover: BackgroundRemover | None = field(repr=False)

    @cached_property
    def cutout(self) -> Cutout | None:
        return cut_out_subject(self.pixels, self._remover, faces=self.faces) if self._remover else None

    @cached_property
    def object_box(self) -> Box | None:
        """Bounding box of the subject in an image without faces; None if it fills the image."""
        if self.faces or self.cutout is None:
            return None
        rows, columns = (np.flatnonzero((self.cutout.source_mask > 127).any(axis=axis)) for axis in (1, 0))
        box = Box(float(columns[0]), float(rows[0]), float(np.ptp(columns)), float(np.ptp(rows)))
        return box if box.width < MAX_OBJECT_WIDTH * self.pixels.shape[1] else None


@dataclass(frozen=True, slots=True)
class CompositorInputs:
    """Everything that layouts draw from."""

    spec: ThumbnailSpec
    frames: tuple[AnalyzedImage, ...]
    characters: tuple[tuple[CharacterSpec, AnalyzedImage], ...]
    plates: tuple[AnalyzedImage, ...]
    palettes: tuple[Palette, ...]
    backdrop: "Image | None" = None  # generated for this thumbnail, so it is blurred only lightly

    def palette(self, number: int) -> Palette:
        return self.palettes[number % len(self.palettes)]


def prepare_inputs(spec: ThumbnailSpec, detector: FaceDetector, remover: BackgroundRemover | None) -> CompositorInputs:
    def analyze(image: "Image", remover: BackgroundRemover | None) -> AnalyzedImage:
        return AnalyzedImage(image, detect_faces(image, detector), remover)

    return CompositorInputs(
        spec=spec,
        frames=tuple(
            analyze(color_graded(each, spec), remover if at < MAX_CUTOUT_FRAMES else None)
            for at, each in enumerate(spec.frames[:MAX_FRAMES])
        ),
        characters=tuple((each, analyze(color_graded(each.image, spec), remover)) for each in spec.characters),
        plates=tuple(analyze(each, None) for each in spec.plates),  # shown unchanged, including their colors
        palettes=tuple(candidate_palettes(spec)),
    )
