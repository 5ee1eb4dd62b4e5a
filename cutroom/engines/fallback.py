"""Several recognisers in the order to try them."""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.ports import Recognised, Recogniser, Span

if TYPE_CHECKING:
    from cutroom.engines.ports import Samples

_log = logging.getLogger(__name__)


class FallbackRecogniser:
    """Asks the next one where one is not there or does not answer; what one refuses, none is asked again."""

    def __init__(self, makers: Sequence[Callable[[], Recogniser]]) -> None:
        if not makers:
            raise EngineUnavailableError("No recogniser is set.")
        self._makers = makers
        self.name = "none yet"  # then that of the one which answered last

    def recognise(self, samples: "Samples", *, language: str | None, speech: Sequence[Span]) -> Recognised:
        unavailable: EngineUnavailableError | None = None
        for make in self._makers:
            try:
                engine = make()
                heard = engine.recognise(samples, language=language, speech=speech)
            except EngineUnavailableError as error:
                _log.warning("a recogniser is not available", extra={"why": str(error)})
                unavailable = error
            else:
                self.name = engine.name
                return heard
        assert unavailable is not None
        raise unavailable
