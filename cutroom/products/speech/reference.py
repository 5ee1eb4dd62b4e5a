"""Extracts the reference audio of a voice clone from a recording, or explains why it is unusable."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.diarization.clustering import cluster_speakers
from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.types import TimeSpan
from cutroom.engines.voice_conversion.port import REFERENCE_RATE

if TYPE_CHECKING:
    from cutroom.engines.types import Samples, Vector

MIN_SECONDS = 3.0  # total speech
MAX_SECONDS = 30.0
MIN_SPAN_SECONDS = 0.4  # shorter spans are single words or false detections
MARGIN_SECONDS = 0.06  # kept around each span
PAUSE_SECONDS = 0.15  # between spans
MAX_OTHER_SPEAKER_SHARE = 0.2
LEVEL_DB = -23.0
PEAK = 0.89  # -1 dB


class UnusableSampleError(Exception):
    """A recording cannot be used for cloning; the message is shown to the user."""


@dataclass(frozen=True, slots=True)
class ReferenceSpans:
    """The spans of a recording selected as reference, and their total duration."""

    spans: tuple[TimeSpan, ...]
    seconds: float


def select_spans(speech: Sequence[TimeSpan]) -> ReferenceSpans:
    """Select speech spans from the start of the recording until there is enough."""
    spans, seconds = [], 0.0
    for span in speech:
        length = span.end_seconds - span.start_seconds
        if length < MIN_SPAN_SECONDS:
            continue
        used = min(length, MAX_SECONDS - seconds)
        spans.append(TimeSpan(span.start_seconds, span.start_seconds + used))
        seconds += used
        if seconds >= MAX_SECONDS:
            break
    if not spans:
        raise UnusableSampleError("No speech was found in the recording.")
    if seconds < MIN_SECONDS:
        raise UnusableSampleError(
            f"The recording contains only {seconds:.1f} seconds of speech; at least {MIN_SECONDS:.0f} are required."
        )
    return ReferenceSpans(tuple(spans), seconds)


def require_single_speaker(embeddings: Sequence[SpeakerEmbedding], *, same_speaker_threshold: float) -> None:
    counted = Counter(cluster_speakers(embeddings, same_speaker_threshold=same_speaker_threshold))
    if not counted:
        return
    others = 1 - counted.most_common(1)[0][1] / counted.total()
    if others > MAX_OTHER_SPEAKER_SHARE:
        raise UnusableSampleError("More than one person speaks in the recording. Use a recording of a single speaker.")


def extract_reference(samples: "Samples", selected: ReferenceSpans) -> "Samples":
    """Concatenate the selected spans of a recording at REFERENCE_RATE, with short pauses between them."""
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    pause = np.zeros(round(PAUSE_SECONDS * REFERENCE_RATE), np.float32)
    spans: list[Samples] = []
    for span in selected.spans:
        start = max(0, round((span.start_seconds - MARGIN_SECONDS) * REFERENCE_RATE))
        end = round((span.end_seconds + MARGIN_SECONDS) * REFERENCE_RATE)
        spans += [_faded(samples[start:end]), pause]
    return np.concatenate(spans[:-1])


def _faded(samples: "Samples") -> "Samples":
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    faded = samples.astype(np.float32).copy()
    length = min(round(0.01 * REFERENCE_RATE), len(faded) // 2)
    if length:
        ramp = np.linspace(0.0, 1.0, length, dtype=np.float32)
        faded[:length] *= ramp
        faded[-length:] *= ramp[::-1]
    return faded


def normalize_level(samples: "Samples") -> "Samples":
    """Scale to the reference RMS level without exceeding the peak limit."""
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    level = float(np.sqrt(np.mean(np.square(samples)))) if len(samples) else 0.0
    if level <= 0:
        return samples
    gain = 10 ** (LEVEL_DB / 20) / level
    peak = float(np.abs(samples).max()) * gain
    return np.asarray(samples * (gain if peak <= PEAK else gain * PEAK / peak), np.float32)


def mean_embedding(embeddings: Sequence[SpeakerEmbedding]) -> "Vector | None":
    """The normalized mean of speaker embeddings."""
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    if not embeddings:
        return None
    mean = np.mean([each.vector for each in embeddings], axis=0)
    return np.asarray(mean / (np.linalg.norm(mean) or 1.0), np.float32)
