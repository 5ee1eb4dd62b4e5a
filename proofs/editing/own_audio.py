"""After random edits and a regeneration, every line of a dub plays its own audio, and nothing else is heard in it."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import numpy as np

from cutroom.engines.registry import Engines
from cutroom.engines.samples import resample
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from cutroom.products.dubs.mixing import HEADROOM, LINE_RATE, MIX_RATE, overlay_lines
from cutroom.products.dubs.script import PlacedLine
from cutroom.products.speech.encoding import from_pcm
from proofs.editing.dubbed_video import EditedDub
from proofs.stage.report import Report

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

MAX_REGENERATED = 6  # lines
ROUNDING = 2 / 32_768  # of samples that are stored with 16 bits, twice
CLEAR_DIFFERENCE = 0.15  # of likeness, by which another text has to be closer


async def prove_own_audio(report: Report, edited: EditedDub, engines: Engines, *, removed_samples: int) -> None:
    """Some lines are made again; then the audio of all lines is compared with what each says."""
    rng, read = random.Random(5), await edited.read()
    stale = [each["id"] for each in read["segments"] if each["stale"]]
    chosen = sorted(rng.sample(stale, min(len(stale), MAX_REGENERATED)))
    quote, charged = await edited.regenerate(chosen)
    lines, published = await edited.schedule(), (await edited.read())["segments"]
    heard = [each for each in published if each.get("published")]
    texts = {round(each["published"]["start"], 3): each["published"]["text"] for each in heard}
    speech = {each.number: from_pcm(await edited.line_audio(each.key)) for each in lines}
    mixed = await _differing(edited, lines, speech)
    recognizer = await asyncio.to_thread(engines.recognizer)
    others = 0
    for line in lines:
        said = await asyncio.to_thread(_recognized, recognizer, speech[line.number], edited.language)
        others += line.text != texts.get(round(line.start_seconds, 3)) or _is_another(
            said, line.text, [*texts.values()]
        )
    report.claim(
        f"{len(lines)} lines, {len(chosen)} made again: in how many something else is heard",
        expected="0",
        measured=f"{mixed} by their samples, {others} by recognition",
        holds=mixed == others == 0 and len(lines) == len(heard) and charged == round(quote["credits"] * 1000),
    )
    report.figures(foreign_audio=removed_samples + mixed + others, lines_compared=len(lines))


async def _differing(edited: EditedDub, lines: Sequence[PlacedLine], speech: "Mapping[int, Samples]") -> int:
    """Lines in whose time the lossless mix is not the background with the lines that are placed there."""
    mix, background = await edited.mix(), await edited.background()
    spoken = [(each, speech[each.number] * HEADROOM) for each in lines]
    expected = overlay_lines(background, spoken, start_seconds=0.0)
    wrong = np.any(np.abs(mix - np.clip(expected, -1, 1)) > ROUNDING, axis=0)
    spans = [
        (round(each.start_seconds * MIX_RATE), round((each.start_seconds + each.seconds) * MIX_RATE)) for each in lines
    ]
    return sum(bool(wrong[first:last].any()) for first, last in spans) or int(wrong.any())


def _recognized(recognizer: Any, samples: "Samples", language: str) -> str:  # noqa: ANN401 (an engine)
    recording = resample(samples, LINE_RATE, SAMPLE_RATE)
    span = TimeSpan(0.0, len(recording) / SAMPLE_RATE)
    words = recognizer.transcribe(recording, language=language, speech=[span]).words
    return " ".join(each.text for each in words)


def _is_another(said: str, own: str, texts: Sequence[str]) -> bool:
    """Whether the audio is clearly closer to the text of another line than to its own."""
    return max((likeness(said, text) for text in texts), default=0.0) > likeness(said, own) + CLEAR_DIFFERENCE


def likeness(one: str, other: str) -> float:
    """How much two texts have in common, from 0 to 1."""
    first, second = ("".join(each for each in text.casefold() if each.isalnum()) for text in (one, other))
    return SequenceMatcher(None, first, second, autojunk=False).ratio()
