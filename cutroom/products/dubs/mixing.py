"""Sample-level audio processing for dubs: background, speech level, trimming and overlaying lines."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cutroom.engines.samples import resample
from cutroom.products.dubs.script import PlacedLine

if TYPE_CHECKING:
    from cutroom.engines.types import Samples, Stereo

MIX_RATE = 48_000
LINE_RATE = 24_000
SPEECH_MARGIN_SECONDS = 0.3  # around speech, where the background comes from source separation
FADE_SECONDS = 0.05
HEADROOM = 0.5  # gain applied to intermediate files so that peaks above full scale do not clip
QUIET = 1e-4
FRAME_SAMPLES = 1_200  # 50 ms at LINE_RATE
GATE_RATIO = 0.01  # of the power of the loudest frame
SILENCE_RATIO = 0.02  # below this share of the peak, a sample counts as silence
EDGE_SECONDS = 0.015
MIN_GAIN_DB, MAX_GAIN_DB = -12.0, 12.0


def blend_background(
    mix: "Stereo", residual: "Stereo", speech: Sequence[tuple[float, float]], *, rate: int
) -> "Stereo":
    """The original mix, crossfaded to the separated residual around speech; times are relative to the mix."""
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    length = mix.shape[-1]
    weight = np.zeros(length, np.float32)
    for start, end in speech:
        first = max(0, round((start - SPEECH_MARGIN_SECONDS) * rate))
        weight[first : max(0, round((end + SPEECH_MARGIN_SECONDS) * rate))] = 1.0
    width = round(FADE_SECONDS * rate)
    if weight.any() and not weight.all():  # a moving average turns each step into a linear fade
        padded = np.pad(weight, width, mode="edge")
        sums = np.cumsum(np.concatenate([[0.0], padded]))
        weight = ((sums[2 * width + 1 :] - sums[: -2 * width - 1]) / (2 * width + 1)).astype(np.float32)[:length]
    background: Stereo = mix + weight * (residual - mix)
    return background


def insert_original(background: "Stereo", source: "Stereo", spans: Sequence[tuple[float, float]]) -> "Stereo":
    """The background with the source in its place in the given spans, crossfaded at their edges."""
    import numpy as np  # noqa: PLC0415 - as above

    mixed = background.copy()
    length = min(background.shape[-1], source.shape[-1])
    for start, end in spans:
        first, last = max(0, round(start * MIX_RATE)), min(length, round(end * MIX_RATE))
        if last <= first:
            continue
        weight = np.ones(last - first, np.float32)
        fade = min(round(FADE_SECONDS * MIX_RATE), len(weight) // 2)
        ramp = np.linspace(0.0, 1.0, fade, dtype=np.float32)
        weight[:fade], weight[len(weight) - fade :] = ramp, ramp[::-1]
        mixed[:, first:last] += weight * (source[:, first:last] - mixed[:, first:last])
    return mixed


def trim_silence(samples: "Samples") -> "Samples":
    """Trim leading and trailing silence to a short margin, faded to prevent clicks."""
    import numpy as np  # noqa: PLC0415 - as above

    loud = np.nonzero(np.abs(samples) > SILENCE_RATIO * float(np.abs(samples).max(initial=0.0)))[0]
    if not len(loud):
        return samples
    margin = round(EDGE_SECONDS * LINE_RATE)
    trimmed: Samples = samples[max(0, int(loud[0]) - margin) : int(loud[-1]) + margin].copy()
    ramp = np.linspace(0.0, 1.0, min(margin, len(trimmed) // 2), dtype=np.float32)
    if len(ramp):
        trimmed[: len(ramp)] *= ramp
        trimmed[-len(ramp) :] *= ramp[::-1]
    return trimmed


def speech_level(samples: "Samples") -> float:
    """Gated RMS of a recording at LINE_RATE."""
    return gated_level(frame_powers(samples))


def frame_powers(samples: "Samples") -> list[float]:
    """Mean square of each frame of FRAME_SAMPLES; of the whole recording if it is shorter than one frame."""
    import numpy as np  # noqa: PLC0415 - as above

    if not len(samples):
        return []
    frame = min(FRAME_SAMPLES, len(samples))
    framed = len(samples) // frame * frame
    powers: list[float] = np.mean(np.square(samples[:framed].reshape(-1, frame)), axis=1).tolist()
    return powers


def gated_level(powers: Sequence[float]) -> float:
    """RMS of the frames, without those more than 20 dB below the loudest."""
    gate = max(max(powers, default=0.0) * GATE_RATIO, QUIET**2)
    loud = [power for power in powers if power > gate]
    return math.sqrt(sum(loud) / len(loud)) if loud else 0.0


def matching_gain(source_level: float, line_level: float) -> float:
    """Gain that brings a line to the level of its source line, limited to MIN_GAIN_DB and MAX_GAIN_DB."""
    if source_level <= QUIET or line_level <= QUIET:
        return 1.0
    low, high = 10 ** (MIN_GAIN_DB / 20), 10 ** (MAX_GAIN_DB / 20)
    return round(min(max(source_level / line_level, low), high), 4)


def overlay_lines(
    background: "Stereo", lines: Sequence[tuple[PlacedLine, "Samples"]], *, start_seconds: float
) -> "Stereo":
    """Mix mono lines into the center of the background, which starts at `start_seconds`; clip lines at its ends."""
    mixed = background.copy()
    for line, samples in lines:
        first = round((line.start_seconds - start_seconds) * MIX_RATE)
        speech = resample(samples, LINE_RATE, MIX_RATE) * line.gain
        skip, end = max(0, -first), min(len(speech), mixed.shape[-1] - first)
        if end > skip:
            mixed[:, first + skip : first + end] += speech[skip:end]
    return mixed


def render_speech(lines: Sequence[tuple[PlacedLine, "Samples"]], *, start_seconds: float, seconds: float) -> "Samples":
    """The lines at their start times without background, at LINE_RATE, as input for ASR."""
    import numpy as np  # noqa: PLC0415 - as above

    track = np.zeros(round(seconds * LINE_RATE), np.float32)
    for line, samples in lines:
        first = round((line.start_seconds - start_seconds) * LINE_RATE)
        skip, end = max(0, -first), min(len(samples), len(track) - first)
        if end > skip:
            track[first + skip : first + end] += samples[skip:end]
    return track
