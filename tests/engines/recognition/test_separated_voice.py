"""Recognition on the separated voice: only doubtful speech is separated, and words stay ordered and inside speech."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.recognition.port import Transcription, Word
from cutroom.engines.recognition.separated_voice import CONTEXT_SECONDS, SeparatedVoiceRecognizer, separate_spans
from cutroom.engines.types import SAMPLE_RATE, OnProgress, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples, Stereo

SECONDS = 12
SPEECH = [TimeSpan(1.0, 3.0), TimeSpan(8.0, 10.0)]


def samples(*, background: float) -> "Samples":
    """Noise as loud as speech in the spans, and a background everywhere."""
    rng = np.random.default_rng(5)
    made = rng.normal(0, background, SECONDS * SAMPLE_RATE)
    for span in SPEECH:
        inside = slice(round(span.start_seconds * SAMPLE_RATE), round(span.end_seconds * SAMPLE_RATE))
        made[inside] += rng.normal(0, 0.1, inside.stop - inside.start)
    return made.astype(np.float32)


class ScriptedRecognizer:
    """Returns prepared words, and records what it was given."""

    name = "scripted"

    def __init__(self, *results: Sequence[Word]) -> None:
        self._results = list(results)
        self.given: list[tuple[Samples, list[TimeSpan], str | None]] = []

    def transcribe(
        self,
        samples: "Samples",
        *,
        language: str | None,
        speech: Sequence[TimeSpan],
        on_progress: OnProgress | None = None,
    ) -> Transcription:
        self.given.append((samples, list(speech), language))
        if on_progress:
            on_progress(1.0)
        return Transcription("en", 0.9, tuple(self._results.pop(0)))


class HalvingSeparator:
    """Takes half of the signal as speech."""

    name = "halving"
    sample_rate = 44_100

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def separate(self, stereo: "Stereo", *, on_progress: OnProgress | None = None) -> "tuple[Stereo, Stereo]":  # noqa: ARG002
        self.seconds.append(stereo.shape[1] / self.sample_rate)
        half = stereo * np.float32(0.5)
        return half, half


def unavailable() -> HalvingSeparator:
    raise EngineUnavailableError("The model is not installed.")


LOST = (Word("Almost", 1.0, 1.6, 0.7), Word("did.", 1.6, 2.0, 0.98))
HEARD = (Word("I", 1.0, 1.2, 0.8), Word("almost", 1.2, 1.6, 0.95), Word("did.", 1.6, 2.0, 0.98))
FINE = (Word("Certainly", 8.0, 8.6, 0.99), Word("fine.", 8.6, 9.2, 0.99))


def test_lost_first_word_is_restored_from_the_voice() -> None:
    recognizer, separator = ScriptedRecognizer([*LOST, *FINE], HEARD), HalvingSeparator()
    progress: list[float] = []
    found = SeparatedVoiceRecognizer(recognizer, lambda: separator).transcribe(
        samples(background=0.03), language=None, speech=SPEECH, on_progress=progress.append
    )
    assert [word.text for word in found.words] == ["I", "almost", "did.", "Certainly", "fine."]
    assert found.words[3:] == FINE
    assert recognizer.given[1][1:] == ([SPEECH[0]], "en")
    assert separator.seconds == pytest.approx([2.0 + 2 * CONTEXT_SECONDS])
    assert progress == sorted(progress)
    assert progress[-1] == 1.0


def test_merged_words_do_not_overlap() -> None:
    overlapping = (Word("I", 1.3, 1.8, 0.8), Word("almost", 1.7, 2.1, 0.95), Word("did.", 1.9, 3.4, 0.98))
    found = SeparatedVoiceRecognizer(ScriptedRecognizer([*LOST, *FINE], overlapping), HalvingSeparator).transcribe(
        samples(background=0.03), language="en", speech=SPEECH
    )
    times = [time for word in found.words for time in (word.start_seconds, word.end_seconds)]
    assert times == sorted(times)
    assert all(
        any(s.start_seconds <= w.start_seconds < w.end_seconds <= s.end_seconds for s in SPEECH) for w in found.words
    )


def test_clean_speech_is_recognized_once() -> None:
    recognizer = ScriptedRecognizer([*LOST, *FINE])
    found = SeparatedVoiceRecognizer(recognizer, unavailable).transcribe(
        samples(background=0.0001), language="en", speech=SPEECH
    )
    assert found.words == (*LOST, *FINE)
    assert len(recognizer.given) == 1


def test_words_are_kept_without_a_separator() -> None:
    found = SeparatedVoiceRecognizer(ScriptedRecognizer([*LOST, *FINE]), unavailable).transcribe(
        samples(background=0.03), language="en", speech=SPEECH
    )
    assert found.words == (*LOST, *FINE)


def test_only_the_spans_and_their_context_are_separated() -> None:
    original = samples(background=0.03)
    separator = HalvingSeparator()
    voice = separate_spans(original, SPEECH[:1], separator=separator)
    assert voice.shape == original.shape
    assert not voice[round((3.0 + CONTEXT_SECONDS) * SAMPLE_RATE) + 1 :].any()
    inside = slice(round(1.2 * SAMPLE_RATE), round(2.8 * SAMPLE_RATE))
    assert np.abs(voice[inside] - original[inside] / 2).max() < 0.02


def test_close_spans_are_separated_together() -> None:
    separator = HalvingSeparator()
    separate_spans(samples(background=0.03), [TimeSpan(1, 2), TimeSpan(2.5, 3)], separator=separator)
    assert separator.seconds == pytest.approx([2.0 + 2 * CONTEXT_SECONDS])
