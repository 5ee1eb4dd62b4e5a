"""Local voice cloning: transfers timbre and pitch of a reference to a stock voice, frame by frame.

Whisper encoder features are nearly speaker-independent, so each frame of the stock voice is matched to the reference
frames with the most similar phonetic content, and a filter moves its spectral envelope toward theirs. The waveform is
filtered, not synthesized again by a vocoder, which would cost words and similarity. Pitch changes by resampling a
voice that speaks slower or faster in turn. This is an approximation: prosody stays that of the stock voice.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom.engines.errors import EngineError, EngineUnavailableError, UnsuitableInputError
from cutroom.engines.recognition.whisper import load_whisper
from cutroom.engines.samples import resample
from cutroom.engines.synthesis.port import DurationPredictor, Gender, SpeechSynthesizer, StockVoice, SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE
from cutroom.engines.voice_conversion.port import REFERENCE_RATE, ReferenceAudio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Samples

    Floats = NDArray[np.floating[Any]]

MAX_REFERENCE_SECONDS = 30.0
MIN_REFERENCE_SECONDS = 3.0  # shorter references lack too many phonemes
CACHED_REFERENCES = 8  # about 20 MB each
CHUNK_SECONDS = 28.0  # Whisper's input is 30 s
JOIN_SECONDS = 0.02

# Interpolation weights from the stock voice to the reference, tuned: higher values hurt intelligibility.
ENVELOPE_SHARE = 0.8
TIMBRE_SHARE = 1.0  # of the mean spectral difference between the voices
UNVOICED_TIMBRE_SHARE = 0.5
SMOOTH_SECONDS = 0.03  # faster changes are not timbre
MAX_BAND_HZ = 7_600.0  # many references have no content above
MAX_GAIN = 3.0  # natural logarithm of the amplitude, 26 dB
NEIGHBORS = 6
SHARPNESS = 8.0
VOICING_PENALTY = 0.3
PITCH_SHARE = 0.5  # of the difference in pitch: resampling moves the formants too
MIN_PITCH_FACTOR, MAX_PITCH_FACTOR = 0.85, 1.18

MIN_PITCH_HZ, MAX_PITCH_HZ = 60.0, 500.0
FEMALE_PITCH_HZ = 160.0  # threshold between male and female voices
PEAK = 0.85

_FRAME_SECONDS = 0.01
_FILTER_WINDOW = 1_024  # samples
_FEATURE_SECONDS = 0.02
_WINDOW_FRAMES = 3_000
_QUIET_QUANTILE = 0.2
_FLOOR = 1e-12


@dataclass(frozen=True, slots=True)
class VoiceFeatures:
    """WORLD analysis and content features of a recording, one row per 10 ms frame."""

    pitch_hz: "Floats"  # 0 in unvoiced frames
    envelope: "Floats"  # log spectral envelope, minus loudness
    loudness: "Floats"  # mean log envelope, one column
    features: "Floats"  # unit rows, normalized per speaker

    @property
    def is_voiced(self) -> "NDArray[np.bool_]":
        voiced: NDArray[np.bool_] = self.pitch_hz > 0
        return voiced


class SpectralTransferCloner:
    """Thread-safe: calls are serialized; features of recent references are cached."""

    is_approximate = True

    def __init__(self, synthesizer: SpeechSynthesizer, whisper_folder: Path, *, cpu_threads: int) -> None:
        self.name = f"transfer-2-{synthesizer.name}-{whisper_folder.name}"
        self._synthesizer = synthesizer
        self._world = _import_world()
        self._whisper, _ = load_whisper(whisper_folder, cpu_threads)
        self._references: OrderedDict[str, VoiceFeatures] = OrderedDict()
        self._lock = threading.Lock()

    def languages(self) -> Sequence[str]:
        return sorted({voice.language for voice in self._synthesizer.voices()})

    def synthesize(
        self, text: str, *, reference: ReferenceAudio, language: str, speed: float = 1.0
    ) -> SynthesizedSpeech:
        with self._lock:
            target = self._reference_features(reference)
            voice, factor = self._nearest_voice(reference, target, language)
            speech = self._synthesizer.synthesize(text, voice=voice.name, language=language, speed=speed / factor)
            samples = resample(speech.samples, round(speech.sample_rate * factor), REFERENCE_RATE)
            return SynthesizedSpeech(self._convert(samples, target), REFERENCE_RATE)

    def predict_seconds(
        self, text: str, *, reference: ReferenceAudio, language: str, speed: float = 1.0
    ) -> float | None:
        """The transfer keeps the duration of the stock voice, apart from the shift of its pitch."""
        if not isinstance(self._synthesizer, DurationPredictor):
            return None
        with self._lock:
            voice, factor = self._nearest_voice(reference, self._reference_features(reference), language)
        seconds = self._synthesizer.predict_seconds(text, voice=voice.name, language=language, speed=speed / factor)
        return seconds / factor if seconds is not None else None

    def _nearest_voice(
        self, reference: ReferenceAudio, target: VoiceFeatures, language: str
    ) -> tuple[StockVoice, float]:
        """The stock voice that is transferred, and by how much its pitch is raised."""
        pitch_hz = reference.pitch_hz or median_pitch(target.pitch_hz)
        voice = nearest_voice(self._synthesizer.voices(), language=language, pitch_hz=pitch_hz)
        return voice, pitch_factor(voice.pitch_hz, pitch_hz)

    def _reference_features(self, reference: ReferenceAudio) -> VoiceFeatures:
        if reference.fingerprint not in self._references:
            samples = reference.samples[: round(MAX_REFERENCE_SECONDS * REFERENCE_RATE)]
            _check(samples)
            self._references[reference.fingerprint] = self._analyze(samples)
        self._references.move_to_end(reference.fingerprint)
        while len(self._references) > CACHED_REFERENCES:
            self._references.popitem(last=False)
        features = self._references[reference.fingerprint]
        if not features.is_voiced.any():
            raise UnsuitableInputError("no_speech", "No voice was found in the recording.")
        return features

    def _convert(self, samples: "Samples", target: VoiceFeatures) -> "Samples":
        import numpy as np  # noqa: PLC0415 - the API process imports this module without it

        chunks = [apply_gain(chunk, envelope_gain(self._analyze(chunk), target)) for chunk in _chunks(samples)]
        audio = np.concatenate(chunks)
        audio = audio * (PEAK / max(float(np.abs(audio).max()), _FLOOR))
        if not np.isfinite(audio).all():
            raise EngineError("Voice transfer produced no audio.")
        return audio.astype(np.float32)

    def _analyze(self, samples: "Samples") -> VoiceFeatures:
        import numpy as np  # noqa: PLC0415 - see above

        audio = np.ascontiguousarray(samples, dtype=np.float64)
        step = 1000 * _FRAME_SECONDS
        pitch, times = self._world.harvest(
            audio, REFERENCE_RATE, f0_floor=MIN_PITCH_HZ, f0_ceil=MAX_PITCH_HZ, frame_period=step
        )
        envelope = np.log(self._world.cheaptrick(audio, pitch, times, REFERENCE_RATE) + _FLOOR)
        loudness = _mean_in_band(envelope)
        features = self._content_features(resample(samples, REFERENCE_RATE, SAMPLE_RATE), frames=len(pitch))
        return VoiceFeatures(
            pitch,
            (envelope - loudness).astype(np.float32),
            loudness,
            _speaker_normalized(features),
        )

    def _content_features(self, samples: "Samples", *, frames: int) -> "Floats":
        """Whisper encoder features, interpolated to our frame rate."""
        import numpy as np  # noqa: PLC0415 - see above

        mel = self._whisper.feature_extractor(samples)[:, :_WINDOW_FRAMES]
        mel = np.pad(mel, ((0, 0), (0, _WINDOW_FRAMES - mel.shape[1])))
        try:
            features = np.array(self._whisper.encode(mel), dtype=np.float32)[0]
        except (RuntimeError, ValueError) as error:
            raise EngineError("The Whisper encoder failed.") from error
        features = features[: max(1, -(-len(samples) // round(_FEATURE_SECONDS * SAMPLE_RATE)))]
        at = np.minimum(np.arange(frames) * (_FRAME_SECONDS / _FEATURE_SECONDS), len(features) - 1)
        left = at.astype(int)
        right = np.minimum(left + 1, len(features) - 1)
        weight = (at - left)[:, np.newaxis].astype(np.float32)
        interpolated: Floats = features[left] * (1 - weight) + features[right] * weight
        return interpolated


def nearest_voice(voices: Sequence[StockVoice], *, language: str, pitch_hz: float) -> StockVoice:
    """The voice closest in pitch that speaks the language, preferably of the same gender."""
    code = language.lower()
    candidates = [voice for voice in voices if voice.language.lower() == code]
    candidates = candidates or [
        voice for voice in voices if voice.language.lower().partition("-")[0] == code.partition("-")[0]
    ]
    if not candidates:
        raise UnsuitableInputError("no_voice", f"No voice speaks the language {language}.")
    gender = Gender.FEMALE if pitch_hz >= FEMALE_PITCH_HZ else Gender.MALE
    same_gender = [voice for voice in candidates if voice.gender is gender] or candidates
    return min(same_gender, key=lambda voice: abs(voice.pitch_hz - pitch_hz))


def pitch_factor(pitch_hz: float, wanted_hz: float) -> float:
    """The factor that brings a voice nearer to the wanted pitch, as far as it stays natural."""
    if pitch_hz <= 0 or wanted_hz <= 0:
        return 1.0
    factor: float = (wanted_hz / pitch_hz) ** PITCH_SHARE
    return min(max(factor, MIN_PITCH_FACTOR), MAX_PITCH_FACTOR)


def envelope_gain(source: VoiceFeatures, target: VoiceFeatures) -> "Floats":
    """What moves the source's envelope toward the target's, as logarithm of the amplitude, per frame and frequency."""
    import numpy as np  # noqa: PLC0415 - see above

    nearest, weights = _nearest_frames(source, target)
    matched = np.einsum("nk,nkf->nf", weights, target.envelope[nearest])
    voiced = source.is_voiced
    hertz = np.linspace(0, REFERENCE_RATE / 2, source.envelope.shape[1])
    in_band = smooth((hertz < MAX_BAND_HZ).astype(np.float64), 10.0)

    envelope = source.envelope.astype(np.float64)
    if voiced.any():
        timbre = target.envelope[target.is_voiced].mean(axis=0) - source.envelope[voiced].mean(axis=0)
        timbre = smooth(timbre, 6.0) * in_band
        envelope = envelope + np.where(voiced, TIMBRE_SHARE, UNVOICED_TIMBRE_SHARE)[:, np.newaxis] * timbre
    loudness = source.loudness[:, 0]
    audible = loudness > np.quantile(loudness, _QUIET_QUANTILE)
    share = smooth(ENVELOPE_SHARE * (voiced & audible), 1.0)  # unvoiced frames carry words more than voice identity
    difference = smooth(matched - envelope, SMOOTH_SECONDS / _FRAME_SECONDS)
    envelope = envelope + share[:, np.newaxis] * in_band * difference
    envelope = envelope - _mean_in_band(envelope)
    gain: Floats = np.clip((envelope - source.envelope) / 2, -MAX_GAIN, MAX_GAIN)  # envelopes are of the power
    return gain


def apply_gain(samples: "Samples", gain: "Floats") -> "Floats":
    """Filters each frame of the audio by its gain: windows are transformed, multiplied and added."""
    import numpy as np  # noqa: PLC0415 - see above

    hop = round(_FRAME_SECONDS * REFERENCE_RATE)
    window = np.hanning(_FILTER_WINDOW + 1)[:-1]
    padded = np.pad(samples.astype(np.float64), (_FILTER_WINDOW // 2, _FILTER_WINDOW + hop))
    filtered, weight = np.zeros(len(padded)), np.zeros(len(padded))
    bins = np.linspace(0, gain.shape[1] - 1, _FILTER_WINDOW // 2 + 1)
    for at in range(-(-len(samples) // hop) + 1):
        part = slice(at * hop, at * hop + _FILTER_WINDOW)  # centered on the frame
        amplitude = np.exp(np.interp(bins, np.arange(gain.shape[1]), gain[min(at, len(gain) - 1)]))
        filtered[part] += np.fft.irfft(np.fft.rfft(padded[part] * window) * amplitude) * window
        weight[part] += window**2
    start = _FILTER_WINDOW // 2
    result: Floats = (filtered / np.maximum(weight, _FLOOR))[start : start + len(samples)]
    return result


def _nearest_frames(source: VoiceFeatures, target: VoiceFeatures) -> "tuple[NDArray[np.intp], Floats]":
    """The target frames most similar in content, with their weights."""
    import numpy as np  # noqa: PLC0415 - see above

    loudness = target.loudness[:, 0]
    is_quiet = loudness <= np.quantile(loudness, _QUIET_QUANTILE)
    similarity = source.features @ target.features.T
    similarity[:, is_quiet] -= 10
    similarity -= VOICING_PENALTY * (source.is_voiced[:, np.newaxis] != target.is_voiced)
    count = min(NEIGHBORS, similarity.shape[1] - 1)
    nearest = np.argpartition(-similarity, count, axis=1)[:, :count]
    weights = np.exp(SHARPNESS * np.take_along_axis(similarity, nearest, axis=1))
    return nearest, weights / weights.sum(axis=1, keepdims=True)


def _mean_in_band(envelope: "Floats") -> "Floats":
    """Mean of each row below MAX_BAND_HZ."""
    mean: Floats = envelope[:, : int(envelope.shape[1] * MAX_BAND_HZ / (REFERENCE_RATE / 2))].mean(
        axis=1, keepdims=True
    )
    return mean


def _speaker_normalized(features: "Floats") -> "Floats":
    """Standardizes features over time, which removes the speaker, and scales rows to unit length."""
    import numpy as np  # noqa: PLC0415 - see above

    rows = (features - features.mean(axis=0)) / (features.std(axis=0) + 1e-5)
    units: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _FLOOR)
    return units.astype(np.float32)


def median_pitch(pitch_hz: "Floats") -> float:
    import numpy as np  # noqa: PLC0415 - see above

    return float(np.median(pitch_hz[pitch_hz > 0])) if (pitch_hz > 0).any() else 0.0


def smooth(values: "Floats", width: float) -> "Floats":
    """Gaussian smoothing along the first axis with edge padding."""
    import numpy as np  # noqa: PLC0415 - see above

    radius = round(4 * width)
    kernel = np.exp(-0.5 * (np.arange(-radius, radius + 1) / width) ** 2)
    kernel /= kernel.sum()
    padded = np.pad(values, [(radius, radius)] + [(0, 0)] * (values.ndim - 1), mode="edge")
    smoothed: Floats = sum(weight * padded[at : at + len(values)] for at, weight in enumerate(kernel))
    return smoothed


def _chunks(samples: "Samples") -> "Iterator[Samples]":
    """Chunks of at most CHUNK_SECONDS, cut at quiet points."""
    import numpy as np  # noqa: PLC0415 - see above

    longest, frame = round(CHUNK_SECONDS * REFERENCE_RATE), round(JOIN_SECONDS * REFERENCE_RATE)
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
        raise EngineError("The reference must be one-dimensional and finite.")
    if len(samples) < MIN_REFERENCE_SECONDS * REFERENCE_RATE:
        message = f"The recording is shorter than {MIN_REFERENCE_SECONDS:.0f} seconds."
        raise UnsuitableInputError("too_short", message)


def _import_world() -> Any:  # noqa: ANN401 - a module
    try:
        import pyworld  # noqa: PLC0415 - see above
    except ImportError as error:
        raise EngineUnavailableError("pyworld is not installed.") from error
    return pyworld
