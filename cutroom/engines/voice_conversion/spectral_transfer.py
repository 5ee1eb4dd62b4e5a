"""Speaks after a sample on this machine: a service voice, moment by moment given the colour and pitch of the sample.

What both say is compared by the features of Whisper's encoder, which are much the same for all who say the same sound.
So each moment of the service voice finds the moments of the sample with a like sound, and moves towards their envelope.
It is an approximation: the manner of speaking stays that of the service voice.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.recognition.whisper import load_whisper
from cutroom.engines.samples import resampled
from cutroom.engines.synthesis.port import Gender, SpeechSynthesizer, StockVoice, SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE
from cutroom.engines.voice_conversion.port import REFERENCE_RATE, ReferenceAudio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Samples

    Floats = NDArray[np.floating[Any]]

MAX_REFERENCE_SECONDS = 30.0
MIN_REFERENCE_SECONDS = 3.0  # of less, too many sounds are missing
KEPT_REFERENCES = 8  # some 20 MB each
STRETCH_SECONDS = 28.0  # what Whisper hears at once is 30 s
JOIN_SECONDS = 0.02

# How far each moment goes from the service voice to the sample. Further, words get lost; found by measuring both.
ENVELOPE_SHARE = 0.8
UNVOICED_SHARE = 0.3  # of that, where no pitch is heard: hisses and bursts carry words more than voices
COLOUR_SHARE = 0.5  # of the mean difference between the two voices
BREATH_SHARE = 0.3
SMOOTH_SECONDS = 0.02  # what changes quicker than that is not the voice
MAX_BAND_HZ = 7_600.0  # above, many samples have nothing
NEIGHBOURS = 4
SHARPNESS = 8.0
VOICING_PENALTY = 0.3
MIN_PITCH_RANGE, MAX_PITCH_RANGE = 0.7, 1.3  # of the service voice's own

MIN_PITCH_HZ, MAX_PITCH_HZ = 60.0, 500.0
FEMALE_PITCH_HZ = 160.0  # from here on most voices are women's
PEAK = 0.85

_FRAME_SECONDS = 0.01
_FEATURE_SECONDS = 0.02
_WINDOW_FRAMES = 3_000
_QUIET_QUANTILE = 0.2
_FLOOR = 1e-12


@dataclass(frozen=True, slots=True)
class Voiced:
    """A stretch of sound taken apart, a row for each hundredth of a second."""

    pitch_hz: "Floats"  # 0 where there is none
    envelope: "Floats"  # logarithms, without the loudness
    loudness: "Floats"  # the mean of the logarithms, in one column
    breath: "Floats"  # from 0 to 1
    features: "Floats"  # rows of length 1, without what is the voice's alone

    @property
    def is_voiced(self) -> "NDArray[np.bool_]":
        voiced: NDArray[np.bool_] = self.pitch_hz > 0
        return voiced


class TransferCloner:
    """Works on one text at a time; what it knows of the last few samples is kept."""

    is_approximate = True

    def __init__(self, speaker: SpeechSynthesizer, whisper_folder: Path, *, cpu_threads: int) -> None:
        self.name = f"transfer-1-{speaker.name}-{whisper_folder.name}"
        self._speaker = speaker
        self._world = _import_world()
        self._whisper, _ = load_whisper(whisper_folder, cpu_threads)
        self._references: OrderedDict[str, Voiced] = OrderedDict()
        self._working = threading.Lock()

    def languages(self) -> Sequence[str]:
        return sorted({voice.language for voice in self._speaker.voices()})

    def speak(self, text: str, *, reference: ReferenceAudio, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        with self._working:
            target = self._known(reference)
            pitch_hz = reference.pitch_hz or median_pitch(target.pitch_hz)
            voice = nearest_voice(self._speaker.voices(), language=language, pitch_hz=pitch_hz)
            said = self._speaker.speak(text, voice=voice.name, language=language, speed=speed)
            if said.sample_rate != REFERENCE_RATE:
                said = SynthesizedSpeech(resampled(said.samples, said.sample_rate, REFERENCE_RATE), REFERENCE_RATE)
            return SynthesizedSpeech(self._convert(said.samples, target), REFERENCE_RATE)

    def _known(self, reference: ReferenceAudio) -> Voiced:
        if reference.fingerprint not in self._references:
            samples = reference.samples[: round(MAX_REFERENCE_SECONDS * REFERENCE_RATE)]
            _check(samples)
            self._references[reference.fingerprint] = self._take_apart(samples)
        self._references.move_to_end(reference.fingerprint)
        while len(self._references) > KEPT_REFERENCES:
            self._references.popitem(last=False)
        known = self._references[reference.fingerprint]
        if not known.is_voiced.any():
            raise EngineError("No voice is heard in the sample.")
        return known

    def _convert(self, samples: "Samples", target: Voiced) -> "Samples":
        import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

        converted = [self._put_together(transferred(self._take_apart(part), target)) for part in _stretches(samples)]
        whole = np.concatenate(converted)
        whole = whole[: len(samples)] * (PEAK / max(float(np.abs(whole).max()), _FLOOR))
        if not np.isfinite(whole).all():
            raise EngineError("The transfer of the voice gave no sound.")
        return whole.astype(np.float32)

    def _take_apart(self, samples: "Samples") -> Voiced:
        import numpy as np  # noqa: PLC0415 - see above

        sound = np.ascontiguousarray(samples, dtype=np.float64)
        step = 1000 * _FRAME_SECONDS
        pitch, times = self._world.harvest(
            sound, REFERENCE_RATE, f0_floor=MIN_PITCH_HZ, f0_ceil=MAX_PITCH_HZ, frame_period=step
        )
        envelope = np.log(self._world.cheaptrick(sound, pitch, times, REFERENCE_RATE) + _FLOOR)
        loudness = _mean_in_band(envelope)
        breath = self._world.d4c(sound, pitch, times, REFERENCE_RATE)
        features = self._listen(resampled(samples, REFERENCE_RATE, SAMPLE_RATE), frames=len(pitch))
        return Voiced(
            pitch, (envelope - loudness).astype(np.float32), loudness, breath.astype(np.float32), _told_apart(features)
        )

    def _listen(self, samples: "Samples", *, frames: int) -> "Floats":
        """Whisper's features, drawn out to our frames."""
        import numpy as np  # noqa: PLC0415 - see above

        heard = self._whisper.feature_extractor(samples)[:, :_WINDOW_FRAMES]
        heard = np.pad(heard, ((0, 0), (0, _WINDOW_FRAMES - heard.shape[1])))
        try:
            features = np.array(self._whisper.encode(heard), dtype=np.float32)[0]
        except (RuntimeError, ValueError) as error:
            raise EngineError("The model that compares the sounds failed.") from error
        features = features[: max(1, -(-len(samples) // round(_FEATURE_SECONDS * SAMPLE_RATE)))]
        at = np.minimum(np.arange(frames) * (_FRAME_SECONDS / _FEATURE_SECONDS), len(features) - 1)
        left = at.astype(int)
        right = np.minimum(left + 1, len(features) - 1)
        weight = (at - left)[:, np.newaxis].astype(np.float32)
        drawn: Floats = features[left] * (1 - weight) + features[right] * weight
        return drawn

    def _put_together(self, voiced: Voiced) -> "Floats":
        import numpy as np  # noqa: PLC0415 - see above

        envelope = np.ascontiguousarray(np.exp(voiced.envelope.astype(np.float64) + voiced.loudness))
        breath = np.ascontiguousarray(voiced.breath, dtype=np.float64)
        sound: Floats = self._world.synthesize(voiced.pitch_hz, envelope, breath, REFERENCE_RATE, 1000 * _FRAME_SECONDS)
        return sound


def nearest_voice(voices: Sequence[StockVoice], *, language: str, pitch_hz: float) -> StockVoice:
    """The voice of the language whose pitch is nearest, of the same gender if there is one."""
    code = language.lower()
    spoken = [voice for voice in voices if voice.language.lower() == code]
    spoken = spoken or [voice for voice in voices if voice.language.lower().partition("-")[0] == code.partition("-")[0]]
    if not spoken:
        raise EngineError(f"There is no voice that speaks the language {language}.")
    gender = Gender.FEMALE if pitch_hz >= FEMALE_PITCH_HZ else Gender.MALE
    same = [voice for voice in spoken if voice.gender is gender] or spoken
    return min(same, key=lambda voice: abs(voice.pitch_hz - pitch_hz))


def transferred(source: Voiced, target: Voiced) -> Voiced:
    """The source with the voice of the target: what it says and how loud stays."""
    import numpy as np  # noqa: PLC0415 - see above

    nearest, weights = _neighbours(source, target)
    wanted = np.einsum("nk,nkf->nf", weights, target.envelope[nearest])
    breath = np.einsum("nk,nkf->nf", weights, target.breath[nearest])
    voiced = source.is_voiced
    hertz = np.linspace(0, REFERENCE_RATE / 2, source.envelope.shape[1])
    in_band = smooth((hertz < MAX_BAND_HZ).astype(np.float64), 10.0)

    envelope = source.envelope.astype(np.float64)
    if voiced.any():
        colour = target.envelope[target.is_voiced].mean(axis=0) - source.envelope[voiced].mean(axis=0)
        colour = smooth(colour, 6.0) * (hertz < MAX_BAND_HZ)
        envelope = envelope + COLOUR_SHARE * np.where(voiced, 1.0, 0.5)[:, np.newaxis] * colour
    loudness = source.loudness[:, 0]
    heard = loudness > np.quantile(loudness, _QUIET_QUANTILE)
    share = smooth(ENVELOPE_SHARE * np.where(voiced, 1.0, UNVOICED_SHARE) * heard, 1.0)
    difference = smooth(wanted - envelope, SMOOTH_SECONDS / _FRAME_SECONDS)
    envelope = envelope + share[:, np.newaxis] * in_band * difference
    envelope = envelope - _mean_in_band(envelope)
    mixed = np.clip((1 - BREATH_SHARE) * source.breath + BREATH_SHARE * breath, 0.0, 1.0)
    return Voiced(_pitched(source, target), envelope, source.loudness, mixed, source.features)


def _neighbours(source: Voiced, target: Voiced) -> "tuple[NDArray[np.intp], Floats]":
    """The moments of the target with the most alike sounds, and how much each of them counts."""
    import numpy as np  # noqa: PLC0415 - see above

    loudness = target.loudness[:, 0]
    is_quiet = loudness <= np.quantile(loudness, _QUIET_QUANTILE)
    alike = source.features @ target.features.T
    alike[:, is_quiet] -= 10
    alike -= VOICING_PENALTY * (source.is_voiced[:, np.newaxis] != target.is_voiced)
    count = min(NEIGHBOURS, alike.shape[1] - 1)
    nearest = np.argpartition(-alike, count, axis=1)[:, :count]
    weights = np.exp(SHARPNESS * np.take_along_axis(alike, nearest, axis=1))
    return nearest, weights / weights.sum(axis=1, keepdims=True)


def _pitched(source: Voiced, target: Voiced) -> "Floats":
    """The melody of the source at the height of the target, and about as lively."""
    import numpy as np  # noqa: PLC0415 - see above

    voiced = source.is_voiced
    pitch: Floats = source.pitch_hz.copy()
    if voiced.any():
        here, there = np.log(pitch[voiced]), np.log(target.pitch_hz[target.is_voiced])
        lively = np.clip(there.std() / max(float(here.std()), 1e-3), MIN_PITCH_RANGE, MAX_PITCH_RANGE)
        moved = np.exp((here - here.mean()) * lively + there.mean())
        pitch[voiced] = np.clip(moved, MIN_PITCH_HZ, MAX_PITCH_HZ)
    return pitch


def _mean_in_band(envelope: "Floats") -> "Floats":
    """Of each row, without the bands where many samples have nothing."""
    mean: Floats = envelope[:, : int(envelope.shape[1] * MAX_BAND_HZ / (REFERENCE_RATE / 2))].mean(
        axis=1, keepdims=True
    )
    return mean


def _told_apart(features: "Floats") -> "Floats":
    """Without what is the same all along, which is the speaker; each row of length 1."""
    import numpy as np  # noqa: PLC0415 - see above

    rows = (features - features.mean(axis=0)) / (features.std(axis=0) + 1e-5)
    units: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _FLOOR)
    return units.astype(np.float32)


def median_pitch(pitch_hz: "Floats") -> float:
    import numpy as np  # noqa: PLC0415 - see above

    return float(np.median(pitch_hz[pitch_hz > 0])) if (pitch_hz > 0).any() else 0.0


def smooth(values: "Floats", width: float) -> "Floats":
    """A bell over the rows; the ends go on as they are."""
    import numpy as np  # noqa: PLC0415 - see above

    reach = round(4 * width)
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    bell /= bell.sum()
    padded = np.pad(values, [(reach, reach)] + [(0, 0)] * (values.ndim - 1), mode="edge")
    smoothed: Floats = sum(part * padded[at : at + len(values)] for at, part in enumerate(bell))
    return smoothed


def _stretches(samples: "Samples") -> "Iterator[Samples]":
    """Not longer than can be heard at once, cut where it is quiet."""
    import numpy as np  # noqa: PLC0415 - see above

    longest, frame = round(STRETCH_SECONDS * REFERENCE_RATE), round(JOIN_SECONDS * REFERENCE_RATE)
    while len(samples) > longest:
        half = samples[longest // 2 : longest]
        frames = half[: len(half) // frame * frame].reshape(-1, frame)
        cut = longest // 2 + int(np.square(frames).mean(axis=1).argmin()) * frame + frame // 2
        yield samples[:cut]
        samples = samples[cut:]
    yield samples


def _check(samples: "Samples") -> None:
    import numpy as np  # noqa: PLC0415 - see above

    if samples.ndim != 1 or not np.isfinite(samples).all():
        raise EngineError("The sample is not one row of numbers.")
    if len(samples) < MIN_REFERENCE_SECONDS * REFERENCE_RATE:
        raise EngineError(f"The sample is shorter than {MIN_REFERENCE_SECONDS:.0f} seconds.")


def _import_world() -> Any:  # noqa: ANN401 - a module
    try:
        import pyworld  # noqa: PLC0415 - see above
    except ImportError as error:
        raise EngineUnavailableError("pyworld is not installed.") from error
    return pyworld
