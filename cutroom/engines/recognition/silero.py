"""Streaming voice activity detection with Silero VAD in onnxruntime."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.types import SAMPLE_RATE, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

SPEECH_THRESHOLD = 0.5  # probability at which speech starts
SILENCE_THRESHOLD = 0.35  # probability below which speech may end (hysteresis)
MIN_SPEECH_SECONDS = 0.25  # drops clicks and coughs
MIN_SILENCE_SECONDS = 0.3  # shorter pauses do not split a span
PADDING_SECONDS = 0.1  # keeps soft onsets and endings; under half of MIN_SILENCE_SECONDS, so spans never touch

FRAME_SAMPLES = 512
FRAME_SECONDS = FRAME_SAMPLES / SAMPLE_RATE
_CONTEXT_SAMPLES = 64  # tail of the previous frame, prepended to the input
_STATE_SHAPE = (1, 1, 128)
# Frames are batched in fixed groups of about 2 s, independent of block boundaries, because the batch size affects the
# last bits of a result.
_GROUP_FRAMES = 64
_GROUP_SAMPLES = _GROUP_FRAMES * FRAME_SAMPLES


class SileroVoiceActivityDetector:
    """Thread-safe: each call has its own recurrent state."""

    name = "silero"

    def __init__(self, model: Path | None = None) -> None:
        """Loads the given model file, or the one bundled with faster-whisper."""
        path = model or _bundled_model()
        try:
            # The API process imports this module without it.
            import onnxruntime  # type: ignore[import-untyped]  # noqa: PLC0415
        except ImportError as error:
            raise EngineUnavailableError("onnxruntime is not installed.") from error
        options = onnxruntime.SessionOptions()
        # The network is too small to benefit from more threads.
        options.inter_op_num_threads = 1
        options.intra_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime exposes no common error class
            raise EngineUnavailableError(f"The model {path.name} cannot be loaded.") from error

    def detect(self, blocks: Iterable["Samples"]) -> Iterator[TimeSpan]:
        """Yields each speech span as soon as the silence after it is long enough."""
        spans, state = _SpanBuilder(), _State.initial()
        samples = 0
        for group in _groups(blocks):
            samples += len(group)
            for probability in self._probabilities(group, state):
                yield from spans.push(probability)
        yield from spans.finish(samples / SAMPLE_RATE)

    def _probabilities(self, group: "Samples", state: "_State") -> list[float]:
        import numpy as np  # noqa: PLC0415 - as above

        missing = -len(group) % FRAME_SAMPLES
        frames = np.pad(group, (0, missing)).reshape(-1, FRAME_SAMPLES)
        contexts = np.concatenate([state.context, frames[:-1, -_CONTEXT_SAMPLES:]])
        inputs = {"input": np.concatenate([contexts, frames], axis=1), "h": state.hidden, "c": state.cell}
        probabilities, state.hidden, state.cell = self._session.run(None, inputs)
        state.context = frames[-1:, -_CONTEXT_SAMPLES:]
        return [float(each) for each in probabilities.reshape(-1)]


@dataclass(slots=True)
class _State:
    """Recurrent state and context carried between groups."""

    hidden: "Samples"
    cell: "Samples"
    context: "Samples"

    @classmethod
    def initial(cls) -> "_State":
        import numpy as np  # noqa: PLC0415 - as above

        return cls(
            np.zeros(_STATE_SHAPE, np.float32),
            np.zeros(_STATE_SHAPE, np.float32),
            np.zeros((1, _CONTEXT_SAMPLES), np.float32),
        )


@dataclass(slots=True)
class _SpanBuilder:
    """Converts frame probabilities to speech spans."""

    frame: int = 0
    start: int | None = None
    silence_start: int | None = None

    def push(self, probability: float) -> Iterator[TimeSpan]:
        frame = self.frame
        self.frame += 1
        if probability >= SPEECH_THRESHOLD:
            self.start = frame if self.start is None else self.start
            self.silence_start = None
        elif self.start is not None and probability < SILENCE_THRESHOLD:
            self.silence_start = frame if self.silence_start is None else self.silence_start
        if self.silence_start is not None and (self.frame - self.silence_start) * FRAME_SECONDS >= MIN_SILENCE_SECONDS:
            yield from self._close(self.silence_start * FRAME_SECONDS, limit_seconds=self.frame * FRAME_SECONDS)

    def finish(self, duration_seconds: float) -> Iterator[TimeSpan]:
        end = self.frame if self.silence_start is None else self.silence_start
        yield from self._close(end * FRAME_SECONDS, limit_seconds=duration_seconds)

    def _close(self, end_seconds: float, *, limit_seconds: float) -> Iterator[TimeSpan]:
        start, self.start, self.silence_start = self.start, None, None
        if start is None or end_seconds - start * FRAME_SECONDS < MIN_SPEECH_SECONDS:
            return
        start_seconds = max(0.0, start * FRAME_SECONDS - PADDING_SECONDS)
        yield TimeSpan(round(start_seconds, 3), round(min(limit_seconds, end_seconds + PADDING_SECONDS), 3))


def _groups(blocks: Iterable["Samples"]) -> Iterator["Samples"]:
    """Regroups blocks into fixed-size groups; the last may be shorter."""
    import numpy as np  # noqa: PLC0415 - as above

    pending: list[Samples] = []
    count = 0
    for block in blocks:
        if block.ndim != 1 or block.dtype != np.float32:
            raise EngineError("A block must be a one-dimensional float32 array.")
        at = 0
        while at < len(block):
            taken = block[at : at + _GROUP_SAMPLES - count]
            pending.append(taken)
            at += len(taken)
            count += len(taken)
            if count == _GROUP_SAMPLES:
                yield np.concatenate(pending)
                pending, count = [], 0
    if pending:
        yield np.concatenate(pending)


def _bundled_model() -> Path:
    # Located without importing the package, which would load the whole engine.
    found = find_spec("faster_whisper")
    folders = found.submodule_search_locations if found else None
    for folder in folders or ():
        path = Path(folder) / "assets" / "silero_vad_v6.onnx"
        if path.is_file():
            return path
    raise EngineUnavailableError("The model silero_vad_v6.onnx, bundled with faster-whisper, is not installed.")
