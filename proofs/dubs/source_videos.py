"""The videos that the proof dubs, made in a thread while the worker dubs those that are ready."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from cutroom.engines.synthesis.port import SpeechSynthesizer
from eval.talks import Half
from proofs.dubs.talks import EXCERPTS, SHORT_EXCERPTS, render_excerpt
from tests.support.dialogue_video import DialogueVideo, make_dialogue_video

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A generated dialogue: its duration and the range of the pauses between its turns."""

    name: str
    seconds: float
    pause_seconds: tuple[float, float]


DIALOGUE = Dialogue("dialogue", 70.0, (0.5, 1.6))  # two chunks
SHORT_DIALOGUE = Dialogue("dialogue", 63.0, (8.0, 11.0))  # long enough for a preview, with few words
PREMIUM = Dialogue("premium", 63.0, (4.0, 6.0))  # few words: cloning is slow
# Memory depends on the duration, and the time of the proof on the number of lines and of chunks that have lines.
TEN_MINUTES, HOUR = Dialogue("ten", 600.0, (75.0, 90.0)), Dialogue("hour", 3600.0, (600.0, 700.0))


@dataclass(frozen=True, slots=True)
class SourceVideos:
    """Made in this order, one at a time."""

    dialogue: asyncio.Future[DialogueVideo]
    talks: list[asyncio.Future[tuple[Half, Path]]]
    long_form: list[asyncio.Future[DialogueVideo]]  # premium, ten minutes and an hour


@asynccontextmanager
async def source_videos(synthesizer: SpeechSynthesizer, folder: Path, *, short: bool) -> AsyncIterator[SourceVideos]:
    executor = ThreadPoolExecutor(max_workers=1)

    def start(make: Callable[[], T]) -> asyncio.Future[T]:
        return asyncio.get_running_loop().run_in_executor(executor, make)

    def dialogue(chosen: Dialogue) -> asyncio.Future[DialogueVideo]:
        name, seconds, pauses = chosen.name, chosen.seconds, chosen.pause_seconds
        return start(
            partial(make_dialogue_video, folder, synthesizer, name=name, seconds=seconds, pause_seconds=pauses)
        )

    try:
        yield SourceVideos(
            dialogue(SHORT_DIALOGUE if short else DIALOGUE),
            [
                start(partial(render_excerpt, each, synthesizer, folder=folder))
                for each in (SHORT_EXCERPTS if short else EXCERPTS)
            ],
            [] if short else [dialogue(each) for each in (PREMIUM, TEN_MINUTES, HOUR)],
        )
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
