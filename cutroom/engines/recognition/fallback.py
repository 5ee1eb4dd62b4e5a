"""Several asr_engines in the order to try them."""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.recognition.port import SpeechRecognizer, Transcription
from cutroom.engines.types import TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

_log = logging.getLogger(__name__)


class FallbackRecognizer:
    """Asks the next one where one is not there or does not answer; what one refuses, none is asked again."""

    def __init__(self, makers: Sequence[Callable[[], SpeechRecognizer]]) -> None:
        if not makers:
            raise EngineUnavailableError("No recogniser is set.")
        self._makers = makers
        self.name = "none yet"  # then that of the one which answered last

    def transcribe(self, samples: "Samples", *, language: str | None, speech: Sequence[TimeSpan]) -> Transcription:
        unavailable: EngineUnavailableError | None = None
        for make in self._makers:
            try:
                engine = make()
                heard = engine.transcribe(samples, language=language, speech=speech)
            except EngineUnavailableError as error:
                _log.warning("a recogniser is not available", extra={"why": str(error)})
                unavailable = error
            else:
                self.name = engine.name
                return heard
        assert unavailable is not None
        raise unavailable
