"""Where somebody speaks, by the Silero network in onnxruntime; a stream of any length in constant memory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.types import SAMPLE_RATE, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

SPEECH_THRESHOLD = 0.5  # from this probability on a frame starts speech
SILENCE_THRESHOLD = 0.35  # below it speech may end; what lies between goes on as it was
MIN_SPEECH_SECONDS = 0.25  # a click or a cough is shorter
MIN_SILENCE_SECONDS = 0.3  # shorter pauses are inside a sentence
PADDING_SECONDS = 0.1  # soft beginnings and ends of words; less than half a silence, so that spans never touch

FRAME_SAMPLES = 512
FRAME_SECONDS = FRAME_SAMPLES / SAMPLE_RATE
_CONTEXT_SAMPLES = 64  # the network sees the end of the frame before
_STATE_SHAPE = (1, 1, 128)
# Frames go through the network in groups that lie at the same places however the blocks are cut, since the last bits
# of a result depend on the size of the group. One group is some 2 s.
_GROUP_FRAMES = 64
_GROUP_SAMPLES = _GROUP_FRAMES * FRAME_SAMPLES


class SileroDetector:
    """One network for any number of recordings, also at once: each call has a state of its own."""

    name = "silero"

    def __init__(self, model: Path | None = None) -> None:
        """The network in the given file, or the one inside the installed faster-whisper."""
        path = model or _bundled_model()
        try:
            # The API process must be able to import this room without it.
            import onnxruntime  # type: ignore[import-untyped]  # noqa: PLC0415
        except ImportError as error:
            raise EngineUnavailableError("onnxruntime is not installed.") from error
        options = onnxruntime.SessionOptions()
        # The network is too small to be shared between cores.
        options.inter_op_num_threads = 1
        options.intra_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime's own errors have no public class in common
            raise EngineUnavailableError(f"The model {path.name} cannot be loaded.") from error

    def detect(self, blocks: Iterable["Samples"]) -> Iterator[TimeSpan]:
        """Each stretch of speech as soon as the silence after it is long enough."""
        spans, state = _Spans(), _State.blank()
        samples = 0
        for group in _groups(blocks):
            samples += len(group)
            for probability in self._probabilities(group, state):
                yield from spans.hear(probability)
        yield from spans.finish(samples / SAMPLE_RATE)

    def _probabilities(self, group: "Samples", state: "_State") -> list[float]:
        import numpy as np  # noqa: PLC0415 - as above

        missing = -len(group) % FRAME_SAMPLES
        frames = np.pad(group, (0, missing)).reshape(-1, FRAME_SAMPLES)
        before = np.concatenate([state.context, frames[:-1, -_CONTEXT_SAMPLES:]])
        given = {"input": np.concatenate([before, frames], axis=1), "h": state.hidden, "c": state.cell}
        heard, state.hidden, state.cell = self._session.run(None, given)
        state.context = frames[-1:, -_CONTEXT_SAMPLES:]
        return [float(each) for each in heard.reshape(-1)]


@dataclass(slots=True)
class _State:
    """What the network remembers of the frames before."""

    hidden: "Samples"
    cell: "Samples"
    context: "Samples"

    @classmethod
    def blank(cls) -> "_State":
        import numpy as np  # noqa: PLC0415 - as above

        return cls(
            np.zeros(_STATE_SHAPE, np.float32),
            np.zeros(_STATE_SHAPE, np.float32),
            np.zeros((1, _CONTEXT_SAMPLES), np.float32),
        )


@dataclass(slots=True)
class _Spans:
    """Turns the probability of each frame into stretches of speech."""

    frame: int = 0
    start: int | None = None
    quiet_since: int | None = None

    def hear(self, probability: float) -> Iterator[TimeSpan]:
        frame = self.frame
        self.frame += 1
        if probability >= SPEECH_THRESHOLD:
            self.start = frame if self.start is None else self.start
            self.quiet_since = None
        elif self.start is not None and probability < SILENCE_THRESHOLD:
            self.quiet_since = frame if self.quiet_since is None else self.quiet_since
        if self.quiet_since is not None and (self.frame - self.quiet_since) * FRAME_SECONDS >= MIN_SILENCE_SECONDS:
            yield from self._close(self.quiet_since * FRAME_SECONDS, limit_seconds=self.frame * FRAME_SECONDS)

    def finish(self, duration_seconds: float) -> Iterator[TimeSpan]:
        end = self.frame if self.quiet_since is None else self.quiet_since
        yield from self._close(end * FRAME_SECONDS, limit_seconds=duration_seconds)

    def _close(self, end_seconds: float, *, limit_seconds: float) -> Iterator[TimeSpan]:
        start, self.start, self.quiet_since = self.start, None, None
        if start is None or end_seconds - start * FRAME_SECONDS < MIN_SPEECH_SECONDS:
            return
        start_seconds = max(0.0, start * FRAME_SECONDS - PADDING_SECONDS)
        yield TimeSpan(round(start_seconds, 3), round(min(limit_seconds, end_seconds + PADDING_SECONDS), 3))


def _groups(blocks: Iterable["Samples"]) -> Iterator["Samples"]:
    """The same samples in groups of one size, the last one shorter."""
    import numpy as np  # noqa: PLC0415 - as above

    waiting: list[Samples] = []
    count = 0
    for block in blocks:
        if block.ndim != 1 or block.dtype != np.float32:
            raise EngineError("A block of samples is one row of float32.")
        at = 0
        while at < len(block):
            part = block[at : at + _GROUP_SAMPLES - count]
            waiting.append(part)
            at += len(part)
            count += len(part)
            if count == _GROUP_SAMPLES:
                yield np.concatenate(waiting)
                waiting, count = [], 0
    if waiting:
        yield np.concatenate(waiting)


def _bundled_model() -> Path:
    # The package is looked up, not imported: importing it would load all of its engine.
    found = find_spec("faster_whisper")
    folders = found.submodule_search_locations if found else None
    for folder in folders or ():
        path = Path(folder) / "assets" / "silero_vad_v6.onnx"
        if path.is_file():
            return path
    raise EngineUnavailableError("The model silero_vad_v6.onnx, a part of faster-whisper, is not installed.")
