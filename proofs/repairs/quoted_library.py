"""A library in which quotes and creations of random bodies are compared."""

import random
from dataclasses import dataclass

from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from proofs.repairs.stage import RepairsStage
from tests.support.priced_bodies import BodyGenerator, QuoteComparison
from tests.support.transcribed_videos import insert_video

DURATIONS = (None, 9.0, 14.9, 15.0, 32.0, 44.9, 45.0, 299.9, 300.0, 4000.0)
TRANSCRIPTS = ("ready", "ready", "ready", "processing", "failed")


@dataclass(frozen=True)
class QuotedLibrary:
    """A library with credits, and videos of several lengths and states. Nothing is created in it for good."""

    comparison: QuoteComparison
    videos: dict[tuple[float | None, str], str]

    @classmethod
    async def open(cls, stage: RepairsStage, runtime: Runtime) -> "QuotedLibrary":
        connection, now = stage.connection, system_clock()
        person = await stage.running.accounts.person()
        key = await stage.running.accounts.key(person)
        await ledger.grant(connection, person.library_id, millicredits=10**9, reference="proof", now=now)
        async with runtime.database.connection() as scoped:
            principal = await runtime.authenticator.authenticate(scoped, key.secret, now=now, speech=False)
        videos = {
            (seconds, transcript): await insert_video(
                connection, person.library_id, duration_seconds=seconds, transcript=transcript
            )
            for seconds in DURATIONS
            for transcript in set(TRANSCRIPTS)
        }
        return cls(QuoteComparison(runtime, principal, now), videos)

    async def compare(self, bodies: int, languages: list[str], *, rng: random.Random) -> list[str]:
        generator, found = BodyGenerator(rng, languages=languages), []
        for _ in range(bodies):
            seconds, transcript = rng.choice(DURATIONS), rng.choice(TRANSCRIPTS)
            disagreement = await self.comparison.compare(
                self.videos[seconds, transcript],
                generator.body(),
                is_waiting=seconds is None or transcript == "processing",
            )
            if disagreement is not None:
                found.append(f"{seconds} s, transcript {transcript}: {disagreement}")
        return found
