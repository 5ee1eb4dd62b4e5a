"""Finds speaker changes and overlapping speech with pyannote's segmentation model in onnxruntime.

The model labels at most three speakers within ten seconds, and its labels mean nothing outside a window. Therefore only
the borders are used; clustering of embeddings says who speaks.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.diarization.port import SpeakerSegmentation
from cutroom.engines.errors import EngineError
from cutroom.engines.models.device import Device
from cutroom.engines.models.onnx import open_session_with_weights
from cutroom.engines.types import SAMPLE_RATE, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

GRAPH = Path(__file__).with_name("pyannote-segmentation-3.0.onnx")
WINDOW_SECONDS = 10.0
HOP_SECONDS = 5.0  # the middle half of a window is used, where the model has context on both sides
FRAME_SECONDS = 270 / SAMPLE_RATE
MIN_RUN_SECONDS = 0.15  # shorter runs of one label are noise
MAX_CHANGE_SECONDS = 1.0  # between two speakers; across a longer gap the time of the change is not known
MIN_OVERLAP_SECONDS = 0.3
MIN_PIECE_SECONDS = 0.5  # of speech between two borders

# Speakers of each class: none, one of three, or two of them.
CLASSES: tuple[frozenset[int], ...] = tuple(map(frozenset, ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))))

_WINDOW, _HOP = round(WINDOW_SECONDS * SAMPLE_RATE), round(HOP_SECONDS * SAMPLE_RATE)


class PyannoteSegmenter:
    """Thread-safe: calls are serialized on one session."""

    def __init__(
        self,
        folder: Path,
        *,
        cpu_threads: int = 1,
        device: Device = Device.CPU,
        name: str = "pyannote-segmentation-3.0",
    ) -> None:
        """Takes the model folder as the store returns it."""
        self.name = name
        self._session = open_session_with_weights(GRAPH, folder, name=name, cpu_threads=cpu_threads, device=device)
        self._lock = threading.Lock()

    def segment(self, samples: "Samples", *, speech: Sequence[TimeSpan]) -> SpeakerSegmentation:
        changes: list[float] = []
        overlaps: list[TimeSpan] = []
        for start, used in _windows(len(samples) / SAMPLE_RATE, speech):
            labels = self._labels(samples, round(start * SAMPLE_RATE))
            runs = [TimedSpeakers(TimeSpan(start + a, start + b), speakers) for (a, b), speakers in _runs(labels)]
            changes += [at for at in speaker_changes(runs) if used.start_seconds <= at < used.end_seconds]
            overlaps += [clipped for each in overlapping_speech(runs) if (clipped := _clip(each, used)) is not None]
        return SpeakerSegmentation(tuple(changes), tuple(overlaps))

    def _labels(self, samples: "Samples", start: int) -> list[int]:
        """The most probable class of each frame of a window, which is padded with silence."""
        import numpy as np  # noqa: PLC0415 - the API process imports this module without it

        window = np.zeros((1, 1, _WINDOW), np.float32)
        audio = samples[start : start + _WINDOW]
        window[0, 0, : len(audio)] = audio
        if not np.isfinite(window).all():
            raise EngineError("The samples contain NaN or infinite values.")
        try:
            with self._lock:
                (classes,) = self._session.run(None, {"samples": window})
        except Exception as error:  # onnxruntime exposes no common error class
            raise EngineError(f"The model {self.name} failed.") from error
        labels: list[int] = classes[0].argmax(axis=1).tolist()
        return labels


@dataclass(frozen=True, slots=True)
class TimedSpeakers:
    """A run of frames with the same speakers, by the labels of one window."""

    span: TimeSpan
    speakers: frozenset[int]


def speaker_changes(runs: Sequence[TimedSpeakers]) -> list[float]:
    """Times between a run of one speaker and a run of another one shortly after it."""
    single = [run for run in runs if len(run.speakers) == 1]
    return [
        (left.span.end_seconds + right.span.start_seconds) / 2
        for left, right in pairwise(single)
        if left.speakers != right.speakers and right.span.start_seconds - left.span.end_seconds <= MAX_CHANGE_SECONDS
    ]


def overlapping_speech(runs: Sequence[TimedSpeakers]) -> list[TimeSpan]:
    return [
        run.span
        for run in runs
        if len(run.speakers) > 1 and run.span.end_seconds - run.span.start_seconds >= MIN_OVERLAP_SECONDS
    ]


def split_speech(speech: Sequence[TimeSpan], segmentation: SpeakerSegmentation) -> list[TimeSpan]:
    """Speech cut at speaker changes and without overlaps, so that a piece has one voice.

    Pieces that would be too short stay with the piece before them.
    """
    pieces: list[TimeSpan] = []
    for span in speech:
        borders = [span.start_seconds, span.end_seconds]
        for change in segmentation.changes:
            if all(abs(change - border) >= MIN_PIECE_SECONDS for border in borders) and _contains(span, change):
                borders.append(change)
        whole = [TimeSpan(start, end) for start, end in pairwise(sorted(borders))]
        single = [piece for each in whole for piece in _without(each, segmentation.overlaps)]
        pieces += single or whole
    return pieces


def _contains(span: TimeSpan, seconds: float) -> bool:
    return span.start_seconds < seconds < span.end_seconds


def _without(span: TimeSpan, overlaps: Sequence[TimeSpan]) -> Iterator[TimeSpan]:
    """The parts of a span outside the overlaps that are long enough for an embedding."""
    at = span.start_seconds
    for overlap in [*overlaps, TimeSpan(span.end_seconds, span.end_seconds)]:
        if overlap.end_seconds < at or overlap.start_seconds > span.end_seconds:
            continue
        end = min(overlap.start_seconds, span.end_seconds)
        if end - at >= MIN_PIECE_SECONDS or (at, end) == (span.start_seconds, span.end_seconds):
            yield TimeSpan(at, end)
        at = max(at, overlap.end_seconds)


def _windows(seconds: float, speech: Sequence[TimeSpan]) -> Iterator[tuple[float, TimeSpan]]:
    """Starts of windows with speech, and the part of each that is used; the parts cover the recording."""
    margin = (WINDOW_SECONDS - HOP_SECONDS) / 2
    last = max(0.0, seconds - WINDOW_SECONDS)
    start = 0.0
    while True:
        first, final = start == 0.0, start >= last
        used = TimeSpan(0.0 if first else start + margin, seconds if final else start + margin + HOP_SECONDS)
        if any(each.start_seconds < used.end_seconds and each.end_seconds > used.start_seconds for each in speech):
            yield start, used
        if final:
            return
        start += HOP_SECONDS


def _runs(labels: Sequence[int]) -> Iterator[tuple[tuple[float, float], frozenset[int]]]:
    """Runs of equal labels with their times in the window, without those that are too short."""
    at = 0
    for label, group in groupby(labels):
        count = sum(1 for _ in group)
        if count * FRAME_SECONDS >= MIN_RUN_SECONDS:
            yield (at * FRAME_SECONDS, (at + count) * FRAME_SECONDS), CLASSES[label]
        at += count


def _clip(span: TimeSpan, bounds: TimeSpan) -> TimeSpan | None:
    start = max(span.start_seconds, bounds.start_seconds)
    end = min(span.end_seconds, bounds.end_seconds)
    return TimeSpan(start, end) if start < end else None
