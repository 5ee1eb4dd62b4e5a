"""The sample after which a clone speaks: found in a recording, or refused with a sentence that says why."""

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

MIN_SECONDS = 3.0  # of speech in all
MAX_SECONDS = 30.0
SHORTEST_SECONDS = 0.4  # of one stretch of speech: less is a word, or no speech at all
MARGIN_SECONDS = 0.06  # kept around each stretch
PAUSE_SECONDS = 0.15  # between two
OTHER_VOICE_SHARE = 0.2  # how much of a recording may sound like somebody else
LEVEL_DB = -23.0
PEAK = 0.89  # -1 dB


class UnusableError(Exception):
    """Why a recording cannot be cloned from, as a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Where in a recording the sample lies."""

    spans: tuple[TimeSpan, ...]
    seconds: float


def choose(speech: Sequence[TimeSpan]) -> Chosen:
    """The first stretches of speech that are long enough together."""
    spans, seconds = [], 0.0
    for span in speech:
        length = span.end_seconds - span.start_seconds
        if length < SHORTEST_SECONDS:
            continue
        taken = min(length, MAX_SECONDS - seconds)
        spans.append(TimeSpan(span.start_seconds, span.start_seconds + taken))
        seconds += taken
        if seconds >= MAX_SECONDS:
            break
    if not spans:
        raise UnusableError("No speech was found in the recording.")
    if seconds < MIN_SECONDS:
        raise UnusableError(
            f"There are only {seconds:.1f} seconds of speech in the recording; {MIN_SECONDS:.0f} are needed."
        )
    return Chosen(tuple(spans), seconds)


def require_one_voice(prints: Sequence[SpeakerEmbedding], *, same_voice: float) -> None:
    counted = Counter(cluster_speakers(prints, same_voice=same_voice))
    if not counted:
        return
    others = 1 - counted.most_common(1)[0][1] / counted.total()
    if others > OTHER_VOICE_SHARE:
        raise UnusableError("More than one person speaks in the recording; send one with a single voice.")


def cut_out(samples: "Samples", chosen: Chosen) -> "Samples":
    """The chosen stretches of a recording at REFERENCE_RATE, with short pauses between them."""
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    pause = np.zeros(round(PAUSE_SECONDS * REFERENCE_RATE), np.float32)
    pieces: list[Samples] = []
    for span in chosen.spans:
        start = max(0, round((span.start_seconds - MARGIN_SECONDS) * REFERENCE_RATE))
        end = round((span.end_seconds + MARGIN_SECONDS) * REFERENCE_RATE)
        pieces += [_faded(samples[start:end]), pause]
    return np.concatenate(pieces[:-1])


def _faded(samples: "Samples") -> "Samples":
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    faded = samples.astype(np.float32).copy()
    length = min(round(0.01 * REFERENCE_RATE), len(faded) // 2)
    if length:
        ramp = np.linspace(0.0, 1.0, length, dtype=np.float32)
        faded[:length] *= ramp
        faded[-length:] *= ramp[::-1]
    return faded


def levelled(samples: "Samples") -> "Samples":
    """At the level of all samples, and never beyond full scale."""
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    loudness = float(np.sqrt(np.mean(np.square(samples)))) if len(samples) else 0.0
    if loudness <= 0:
        return samples
    gain = 10 ** (LEVEL_DB / 20) / loudness
    peak = float(np.abs(samples).max()) * gain
    return np.asarray(samples * (gain if peak <= PEAK else gain * PEAK / peak), np.float32)


def mean_voice(prints: Sequence[SpeakerEmbedding]) -> "Vector | None":
    """How the voice sounds on the whole: a vector of length 1."""
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    if not prints:
        return None
    mean = np.mean([each.vector for each in prints], axis=0)
    return np.asarray(mean / (np.linalg.norm(mean) or 1.0), np.float32)
