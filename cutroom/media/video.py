"""Sizes, frame rates and time bases of encoded video."""

from fractions import Fraction

from cutroom.media.probe import MediaInfo

UNKNOWN_RATE = Fraction(25)
RATE_DENOMINATOR = 1001
PREROLL_SECONDS = 15.0  # longer than the key frame interval of almost any broadcast
TIMESCALE = 10_000


def fit_size(info: MediaInfo, *, width: int, height: int) -> tuple[int, int]:
    """The display size (upright, square pixels) scaled down to fit; both sides even."""
    display_width = Fraction(info.width or 2) * info.pixel_aspect
    display_height = Fraction(info.height or 2)
    if info.rotation_degrees in (90, 270):
        display_width, display_height = display_height, display_width
    scale = min(Fraction(1), width / display_width, height / display_height)
    return _even(display_width * scale), _even(display_height * scale)


def _even(value: Fraction) -> int:
    return max(2, round(value / 2) * 2)


def bounded_frame_rate(info: MediaInfo, *, at_least: int, at_most: int) -> Fraction:
    """The source frame rate, halved or doubled into a range, so that frames stay evenly spaced."""
    rate = (info.frame_rate or UNKNOWN_RATE).limit_denominator(RATE_DENOMINATOR) or UNKNOWN_RATE
    while rate > at_most:
        rate /= 2
    while rate < at_least:
        rate *= 2
    return rate


def timescale(rate: Fraction) -> int:
    """A time base in which every frame lasts a whole number of ticks."""
    return rate.numerator * -(-TIMESCALE // rate.numerator)
