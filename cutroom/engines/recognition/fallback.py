"""Speech recognizer that tries several engines in order."""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.recognition.port import SpeechRecognizer, Transcription
from cutroom.engines.types import OnProgress, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

_log = logging.getLogger(__name__)


class FallbackRecognizer:
    """Falls back to the next engine on EngineUnavailableError; permanent errors propagate."""

    def __init__(self, factories: Sequence[Callable[[], SpeechRecognizer]]) -> None:
        if not factories:
            raise EngineUnavailableError("No speech recognition engine is configured.")
        self._factories = factories
        self.name = "none yet"  # name of the engine that served the last call

    def transcribe(
        self,
        samples: "Samples",
        *,
        language: str | None,
        speech: Sequence[TimeSpan],
        on_progress: OnProgress | None = None,
    ) -> Transcription:
        unavailable: EngineUnavailableError | None = None
        for build in self._factories:
            try:
                engine = build()
                transcription = engine.transcribe(samples, language=language, speech=speech, on_progress=on_progress)
            except EngineUnavailableError as error:
                _log.warning("speech recognizer unavailable", extra={"reason": str(error)})
                unavailable = error
            else:
                self.name = engine.name
                return transcription
        assert unavailable is not None
        raise unavailable
