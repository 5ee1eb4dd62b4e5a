"""What the result of a captions job tells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from temporalio.testing import ActivityEnvironment

from cutroom.engines.registry import Engines
from cutroom.engines.translation.port import Quality, Route, Translator
from cutroom.jobs.lifecycle import JobRef
from cutroom.platform.clock import system_clock
from cutroom.products.captions.activities import CaptionActivities
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import Spoken


@dataclass(frozen=True)
class Echo:
    """Says everything again as it is."""

    name: str
    route: Route

    def routes(self) -> Sequence[Route]:
        return [self.route]

    def translate(self, sentences: Sequence[str], *, source: str, target: str) -> list[str]:
        assert (source, target) == (self.route.source, self.route.target)
        return list(sentences)


class FakeEngines(Engines):
    def __init__(self, *translators: Translator) -> None:
        self._fakes = translators

    def translators(self) -> Sequence[Translator]:
        return self._fakes


async def result(runtime: Runtime, spoken: Spoken, *translators: Translator, language: str = "pt") -> dict[str, Any]:
    acting = CaptionActivities(runtime.database, runtime.storage, FakeEngines(*translators), system_clock)
    ref = JobRef(spoken.library_id, f"captions_{spoken.video_id}_{language}", 1)
    return await ActivityEnvironment().run(acting.translate_captions, ref, spoken.video_id, language)


async def test_only_cues_that_are_read_too_fast_are_counted_as_such(
    runtime: Runtime, spoken: Spoken, accounts: Accounts
) -> None:
    route = Route("en", "pt", Quality.GOOD)
    assert (await result(runtime, spoken, Echo("one", route)))["readingSpeedExceptions"] == 0
    # The file ends before the last word does: its cue is too short, and too fast as well.
    await accounts.connection.execute("UPDATE videos SET duration_seconds = 2.0 WHERE id = $1", spoken.video_id)
    made = await result(runtime, spoken, Echo("one", route))
    assert made["readingSpeedExceptions"] == 1


async def test_what_went_through_two_engines_is_a_draft(runtime: Runtime, spoken: Spoken) -> None:
    first, second = Echo("one", Route("en", "pt", Quality.GOOD)), Echo("two", Route("pt", "es", Quality.GOOD))
    made = await result(runtime, spoken, first, second, language="es")
    assert (made["quality"], made["engines"], made["via"]) == ("draft", ["one", "two"], ["pt"])
    assert (await result(runtime, spoken, first, second))["quality"] == "good"
