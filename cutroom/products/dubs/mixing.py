"""Sound by the sample: what is not speech, how loud speech is, and spoken lines laid over the bed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cutroom.engines.samples import resampled
from cutroom.products.dubs.script import PlacedLine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Sound = NDArray[np.float32]

MIX_RATE = 48_000
LINE_RATE = 24_000
SPEECH_MARGIN_SECONDS = 0.3  # around speech, in which the bed is what was separated
FADE_SECONDS = 0.05
HEADROOM = 0.5  # of what is stored between the steps, so that a loud moment is not cut off
QUIET = 1e-4
EDGE = 0.02  # of its loudest moment: below this, speech has not begun or has ended
EDGE_SECONDS = 0.015
MIN_GAIN_DB, MAX_GAIN_DB = -12.0, 12.0


def blended(mix: "Sound", rest: "Sound", spans: Sequence[tuple[float, float]], *, rate: int) -> "Sound":
    """The mix itself where nobody speaks, and what was separated where somebody does; spans are of this stretch."""
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    length = mix.shape[-1]
    share = np.zeros(length, np.float32)
    for start, end in spans:
        first = max(0, round((start - SPEECH_MARGIN_SECONDS) * rate))
        share[first : max(0, round((end + SPEECH_MARGIN_SECONDS) * rate))] = 1.0
    width = round(FADE_SECONDS * rate)
    if share.any() and not share.all():
        padded = np.pad(share, width, mode="edge")
        sums = np.cumsum(np.concatenate([[0.0], padded]))
        share = ((sums[2 * width + 1 :] - sums[: -2 * width - 1]) / (2 * width + 1)).astype(np.float32)[:length]
    made: Sound = mix + share * (rest - mix)
    return made


def without_edges(sound: "Sound") -> "Sound":
    """Without the silence before and after it, but for a breath, and faded there so that it does not click."""
    import numpy as np  # noqa: PLC0415 - as above

    loud = np.nonzero(np.abs(sound) > EDGE * float(np.abs(sound).max(initial=0.0)))[0]
    if not len(loud):
        return sound
    margin = round(EDGE_SECONDS * LINE_RATE)
    kept: Sound = sound[max(0, int(loud[0]) - margin) : int(loud[-1]) + margin].copy()
    ramp = np.linspace(0.0, 1.0, min(margin, len(kept) // 2), dtype=np.float32)
    if len(ramp):
        kept[: len(ramp)] *= ramp
        kept[-len(ramp) :] *= ramp[::-1]
    return kept


def loudness_of(sound: "Sound") -> float:
    """The level of what sounds in it, silence apart: the root of the mean square over its louder parts."""
    import numpy as np  # noqa: PLC0415 - as above

    frame = 1_200
    whole = len(sound) // frame * frame
    if whole == 0:
        return float(np.sqrt(np.mean(np.square(sound)))) if len(sound) else 0.0
    powers = np.mean(np.square(sound[:whole].reshape(-1, frame)), axis=1)
    loud = powers[powers > max(powers.max() * 0.01, QUIET**2)]
    return float(np.sqrt(loud.mean())) if len(loud) else 0.0


def gain_for(source_level: float, line_level: float) -> float:
    """What makes a line as loud as the one that it replaces, within reason."""
    if source_level <= QUIET or line_level <= QUIET:
        return 1.0
    low, high = 10 ** (MIN_GAIN_DB / 20), 10 ** (MAX_GAIN_DB / 20)
    return round(min(max(source_level / line_level, low), high), 4)


def laid_over(bed: "Sound", lines: Sequence[tuple[PlacedLine, "Sound"]], *, start_seconds: float) -> "Sound":
    """Lines, which are mono, in the middle of a stereo bed that starts at this time; nothing sounds beyond its ends."""
    made = bed.copy()
    for line, sound in lines:
        first = round((line.start_seconds - start_seconds) * MIX_RATE)
        piece = resampled(sound, LINE_RATE, MIX_RATE) * line.gain
        skip, end = max(0, -first), min(len(piece), made.shape[-1] - first)
        if end > skip:
            made[:, first + skip : first + end] += piece[skip:end]
    return made


def speech_alone(lines: Sequence[tuple[PlacedLine, "Sound"]], *, start_seconds: float, seconds: float) -> "Sound":
    """The lines in their places with nothing around them, at their own rate: for a recogniser to hear."""
    import numpy as np  # noqa: PLC0415 - as above

    made = np.zeros(round(seconds * LINE_RATE), np.float32)
    for line, sound in lines:
        first = round((line.start_seconds - start_seconds) * LINE_RATE)
        skip, end = max(0, -first), min(len(sound), len(made) - first)
        if end > skip:
            made[first + skip : first + end] += sound[skip:end]
    return made
