"""Cleans subject masks, and rejects those that would make a poor cutout."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.types import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutroom.engines.vision.port import Mask

VISIBLE, SOLID, OPAQUE = 60, 127, 230  # alpha thresholds of 255
MIN_AREA, MAX_AREA = 0.03, 0.85  # share of the image that a usable subject covers
MIN_OPAQUE = 0.75  # share of near-opaque mask pixels; below that the segmentation is unreliable
COMPONENT_SHARE = 0.08  # minimum area of a mask component, relative to the largest
JOIN_SHARE = 0.012  # of the longer side: components closer than this belong together, such as a hand and its arm
MIN_MAIN_SHARE = 0.8  # of the mask, in the largest component and those with a face
MAX_HOLE_SHARE = 0.12  # of the subject; the gap between an arm and a body is smaller
MIN_FACE_COVER = 0.9  # share of the center of a face that the mask covers
FACE_CENTER = 0.7  # of a face box, without the corners, which are hair or background
MAX_STRAIGHT_SIDE = 0.45  # of the subject's height; a longer straight side is the edge of a picture in a picture


def clean_mask(mask: "Mask", faces: Sequence[Box]) -> "Mask":
    """Keeps the largest connected component, those with a face, and those above the size threshold."""
    labels, areas = _components(mask)
    if not areas.size:
        return mask
    kept = {1 + int(each) for each in np.flatnonzero(areas >= COMPONENT_SHARE * areas.max())}
    inside = np.isin(labels, list(kept | _labels_of_faces(labels, faces)))
    near = cv2.dilate(inside.astype(np.uint8), np.ones((5, 5), np.uint8))
    return (mask * near).astype(np.uint8)


def is_usable(mask: "Mask", faces: Sequence[Box]) -> bool:
    """Whether a clean mask has the right size, clear edges and few gaps, and covers the main face with its hair."""
    covered = float((mask > SOLID).mean())
    if not MIN_AREA <= covered <= MAX_AREA or float((mask[mask > 8] > OPAQUE).mean()) < MIN_OPAQUE:
        return False
    if _main_share(mask, faces) < MIN_MAIN_SHARE or _hole_share(mask) > MAX_HOLE_SHARE:
        return False
    return not _has_straight_side(mask) and (not faces or _covers_head(mask, faces[0]))


def covers_face(mask: "Mask", face: Box) -> bool:
    margin_x, margin_y = (1 - FACE_CENTER) / 2 * face.width, (1 - FACE_CENTER) / 2 * face.height
    part = mask[
        max(0, int(face.y + margin_y)) : int(face.y + face.height - margin_y),
        max(0, int(face.x + margin_x)) : int(face.x + face.width - margin_x),
    ]
    return bool(part.size) and float((part > SOLID).mean()) >= MIN_FACE_COVER


def _covers_head(mask: "Mask", face: Box) -> bool:
    """Whether the mask covers the face and reaches above its box, so that the hair is not missing."""
    if not covers_face(mask, face):
        return False
    middle = mask[:, max(0, int(face.x + 0.35 * face.width)) : max(1, int(face.x + 0.65 * face.width))]
    rows = np.flatnonzero((middle > SOLID).mean(axis=1) > 0.5)
    return bool(rows.size) and int(rows[0]) <= max(2.0, face.y)


def _components(mask: "Mask") -> "tuple[NDArray[np.int32], NDArray[np.int32]]":
    """Labels of the connected components, joined across small gaps, and the area of each but the background."""
    side = max(3, round(JOIN_SHARE * max(mask.shape)))
    visible = (mask > VISIBLE).astype(np.uint8)
    joined = cv2.morphologyEx(visible, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8))
    count, found = cv2.connectedComponents(joined, connectivity=8)
    labels = np.where(visible > 0, found, 0).astype(np.int32)
    return labels, np.bincount(labels.ravel(), minlength=count)[1:].astype(np.int32)


def _labels_of_faces(labels: "NDArray[np.int32]", faces: Sequence[Box]) -> set[int]:
    rows, columns = labels.shape
    centers = ((face.y + face.height / 2, face.x + face.width / 2) for face in faces)
    return {int(labels[min(rows - 1, int(y)), min(columns - 1, int(x))]) for y, x in centers} - {0}


def _main_share(mask: "Mask", faces: Sequence[Box]) -> float:
    labels, areas = _components(mask)
    main = {1 + int(areas.argmax())} | _labels_of_faces(labels, faces)
    return float(sum(areas[each - 1] for each in main) / areas.sum())


def _hole_share(mask: "Mask") -> float:
    solid = (mask > SOLID).astype(np.uint8)
    outlines, _ = cv2.findContours(solid, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = cv2.drawContours(np.zeros_like(solid), outlines, -1, 1, cv2.FILLED)
    return float(filled.sum() / max(1, int(solid.sum())) - 1)


def _has_straight_side(mask: "Mask") -> bool:
    """Whether a side is a vertical line away from the edges of the image."""
    solid = mask > SOLID
    rows, columns = np.flatnonzero(solid.any(axis=1)), np.flatnonzero(solid.any(axis=0))
    longest = MAX_STRAIGHT_SIDE * np.ptp(rows)
    slack = max(2, round(0.005 * mask.shape[1]))
    left, right = int(columns[0]), int(columns[-1])
    at_left = left > slack and solid[:, left : left + slack].any(axis=1).sum() > longest
    at_right = right < mask.shape[1] - 1 - slack and solid[:, right - slack + 1 : right + 1].any(axis=1).sum() > longest
    return bool(at_left or at_right)
