"""Rules about facial expressions: open eyes, open mouths, and mouths that move."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import dist
from statistics import fmean, pstdev

from cutroom.engines.vision.port import Aperture, FaceLandmarks

# Calibrated on photographs of nine people: closed eyes measure 0.08 to 0.16, or 0.18 behind glasses; eyes narrowed by a
# laugh 0.17 to 0.22; open ones 0.22 to 0.36.
CLOSED_EYES = 0.165  # lid distance in eye widths
# A smile with teeth is wide and measures up to 0.25; the mouth of a speaker is open and narrow.
OPEN_MOUTH = 0.35  # lip distance in mouth widths
MIN_MOVEMENT = 0.012  # of a face's height; less is noise in the landmarks
MIN_MOVEMENT_SAMPLES = 4


@dataclass(frozen=True, slots=True)
class FaceExpression:
    """Measures of one face; None where it was not measured."""

    eye_openness: float | None = None
    mouth_openness: float | None = None
    mouth_aspect: float | None = None

    @property
    def has_closed_eyes(self) -> bool:
        return self.eye_openness is not None and self.eye_openness < CLOSED_EYES

    @property
    def is_mid_word(self) -> bool:
        return self.mouth_aspect is not None and self.mouth_aspect >= OPEN_MOUTH


UNKNOWN = FaceExpression()


def measure_expression(landmarks: FaceLandmarks | None, *, with_lids: bool = True) -> FaceExpression:
    """The measures of a face; without `with_lids` its eyes are not measured."""
    if landmarks is None:
        return UNKNOWN
    return FaceExpression(
        eye_openness(landmarks) if with_lids else None,
        mouth_openness(landmarks),
        _gap(landmarks.mouth) / max(1e-6, dist(*landmarks.mouth.corners)),
    )


def eye_openness(landmarks: FaceLandmarks) -> float:
    """Lid distance in eye widths, over both eyes; of a turned head, the nearer eye counts more."""
    widths = sum(dist(*eye.corners) for eye in landmarks.eyes)
    return sum(_gap(eye) for eye in landmarks.eyes) / max(1e-6, widths)


def mouth_openness(landmarks: FaceLandmarks) -> float:
    """Lip distance in face heights."""
    return _gap(landmarks.mouth) / max(1e-6, dist(landmarks.top, landmarks.chin))


def mouth_movement(openness: Sequence[float]) -> float | None:
    """Standard deviation of the mouth openness over a time; None if there are too few samples."""
    return pstdev(openness) if len(openness) >= MIN_MOVEMENT_SAMPLES else None


def _gap(aperture: Aperture) -> float:
    return fmean(dist(one, two) for one, two in zip(aperture.upper, aperture.lower, strict=True))
