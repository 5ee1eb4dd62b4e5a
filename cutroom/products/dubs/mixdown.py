"""Mixes synthesized lines with the background, verifies them by ASR, and writes the track."""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE, OnProgress, TimeSpan
from cutroom.media.dubbing import AudioRange, join_flac, measure_loudness, write_track
from cutroom.media.formats import Container
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.line_levels import LineLevel
from cutroom.products.dubs.mixing import (
    HEADROOM,
    LINE_RATE,
    MIX_RATE,
    insert_original,
    matching_gain,
    overlay_lines,
    render_speech,
    speech_level,
)
from cutroom.products.dubs.report import intelligibility
from cutroom.products.dubs.script import AssignedVoice, DubChunk, DubLine, DubScript, PlacedLine, SynthesizedLine
from cutroom.products.dubs.source_separation import source_levels
from cutroom.products.dubs.synthesis import read_line
from cutroom.products.speech.encoding import from_pcm, resample_speech
from cutroom.products.speech.rules import fingerprint

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

_log = logging.getLogger(__name__)

MAX_PARALLEL_READS = 16
PEAK = 0.82  # -1.7 dB: leaves room for encoder overshoot below -1 dBTP


async def measure_lines(
    artifacts: DubArtifacts,
    *,
    dub: DubRef,
    script: DubScript,
    lines: Sequence[DubLine],
    voices: Mapping[str, AssignedVoice],
) -> list[tuple[SynthesizedLine, LineLevel]]:
    """The synthesized lines with their levels, and the gains that match their source lines."""
    numbers = [line.number for line in lines]
    sources = await source_levels(artifacts, dub=dub, script=script, numbers=numbers)

    async def measure(line: DubLine) -> tuple[SynthesizedLine, LineLevel]:
        synthesized = await read_line(artifacts, dub=dub, line=line, voice=voices[line.voice_key])
        level = speech_level(from_pcm(await artifacts.read(dub.line_path(synthesized.key))))
        return synthesized, LineLevel(line.speaker, level, matching_gain(sources[line.number], level))

    measured: list[tuple[SynthesizedLine, LineLevel]] = []
    for first in range(0, len(lines), MAX_PARALLEL_READS):
        measured += await asyncio.gather(*map(measure, lines[first : first + MAX_PARALLEL_READS]))
    return measured


async def mix_chunk(
    artifacts: DubArtifacts,
    *,
    dub: DubRef,
    script: DubScript,
    index: int,
    lines: Sequence[PlacedLine],
    path: str,
    original: Sequence[tuple[float, float]] = (),
) -> None:
    """Overlay lines on the background of one chunk and store the result; in `original` spans, the source is heard."""
    chunk = DubChunk.of(script, index)
    speech = await _read_lines(artifacts, dub, lines, gain=HEADROOM)
    audio_range = AudioRange(0.0, chunk.seconds + 1, rate=MIX_RATE, channels=2)
    background = await artifacts.read_audio(dub.background_path(script, index), Container.FLAC, audio_range)
    if original:
        whole = AudioRange(chunk.start_seconds, chunk.seconds, rate=MIX_RATE, channels=2)
        source = await artifacts.read_audio(await artifacts.source_audio(dub, "mix.mka"), Container.MATROSKA, whole)
        spans = [(start - chunk.start_seconds, end - chunk.start_seconds) for start, end in original]
        background = await asyncio.to_thread(insert_original, background, source * HEADROOM, spans)
    mixed = await asyncio.to_thread(overlay_lines, background, speech, start_seconds=chunk.start_seconds)
    await artifacts.put_audio(path, mixed, rate=MIX_RATE, headroom=1.0)  # already applied to the background


async def transcribe_lines(
    artifacts: DubArtifacts,
    engines: Engines,
    *,
    dub: DubRef,
    lines: Sequence[PlacedLine],
    start_seconds: float,
    on_progress: OnProgress | None = None,
) -> dict[str, str]:
    """The ASR text of each line, by line number."""
    speech = await _read_lines(artifacts, dub, lines, gain=1.0)
    return await asyncio.to_thread(_transcribe, engines, speech, start_seconds, dub.language, on_progress=on_progress)


async def read_back(
    artifacts: DubArtifacts, engines: Engines, *, dub: DubRef, lines: Sequence[PlacedLine]
) -> dict[str, str]:
    """The ASR text, by line number, of those lines that are read exactly as they are written.

    Each is recognized by itself, which takes a fraction of the time. What is read differently says nothing about the
    line: it has to be transcribed by the recognizer.
    """
    recognizer = await asyncio.to_thread(engines.utterance_recognizer)
    if recognizer is None:
        return {}
    recognized: dict[str, str] = {}
    for line, speech in await _read_lines(artifacts, dub, lines, gain=1.0):
        recording = resample_speech(SynthesizedSpeech(speech, LINE_RATE), SAMPLE_RATE)
        try:
            text = await asyncio.to_thread(recognizer.transcribe, recording, language=dub.language)
        except EngineError:
            continue  # `transcribe_lines` says why
        if text and intelligibility(line.text, text) == 1.0:
            recognized[str(line.number)] = text
    return recognized


def _transcribe(
    engines: Engines,
    speech: "Sequence[tuple[PlacedLine, Samples]]",
    start: float,
    language: str,
    *,
    on_progress: OnProgress | None,
) -> dict[str, str]:
    if not speech:
        return {}
    end = max(line.start_seconds + line.seconds for line, _ in speech)
    rendered = render_speech(speech, start_seconds=start, seconds=end - start)
    recording = resample_speech(SynthesizedSpeech(rendered, LINE_RATE), SAMPLE_RATE)
    spans = [TimeSpan(line.start_seconds - start, line.start_seconds + line.seconds - start) for line, _ in speech]
    try:
        recognizer = engines.recognizer()
        words = recognizer.transcribe(recording, language=language, speech=spans, on_progress=on_progress).words
    except EngineUnavailableError:
        raise  # retried by the activity
    except EngineError as error:  # for example, the recognizer does not support the language
        _log.warning("dub chunk transcription skipped", extra={"language": language, "error": str(error)})
        return {}
    recognized: dict[str, list[str]] = {str(line.number): [] for line, _ in speech}
    for word in words:
        index = _nearest_span(spans, (word.start_seconds + word.end_seconds) / 2)
        recognized[str(speech[index][0].number)].append(word.text)
    return {number: " ".join(texts) for number, texts in recognized.items()}


async def _read_lines(
    artifacts: DubArtifacts, dub: DubRef, lines: Sequence[PlacedLine], *, gain: float
) -> "list[tuple[PlacedLine, Samples]]":
    return [(line, from_pcm(await artifacts.read(dub.line_path(line.key))) * gain) for line in lines]


async def publish_track(
    artifacts: DubArtifacts,
    *,
    dub: DubRef,
    chunks: Sequence[str],
    name: str,
    seconds: float | None,
    gain_db: float | None = None,
) -> tuple[str, float]:
    """Join mixed chunks into a track, and return its storage path and its gain.

    Unless the gain is given, it is the one that makes the track as loud as the source.
    """
    with artifacts.media_cache.temp_dir() as temp_dir:
        files = []
        for number, path in enumerate(chunks):
            file = temp_dir / f"chunk-{number:05}.flac"
            with file.open("wb") as output:
                async for block in artifacts.storage.read(path):
                    output.write(block)
            files.append(file)
        sandbox = artifacts.sandbox
        joined = await join_flac(files, output=temp_dir, sandbox=sandbox)
        if gain_db is None:
            target_lufs = await _source_loudness(artifacts, dub=dub, seconds=seconds)
            lufs = await measure_loudness(joined, container=Container.FLAC, sandbox=sandbox, output=temp_dir)
            gain_db = target_lufs - lufs
        track = await write_track(
            joined, gain_db=gain_db, peak=PEAK, language=dub.language, output=temp_dir, sandbox=sandbox
        )
        stored = dub.path(f"{fingerprint({'chunks': list(chunks)})[:16]}-{name}")
        await artifacts.put(stored, track)
    return stored, gain_db


async def _source_loudness(artifacts: DubArtifacts, *, dub: DubRef, seconds: float | None) -> float:
    """Loudness of the video, measured once: an edit must not need the original."""
    path = dub.shared_path(f"loudness/{'all' if seconds is None else round(seconds)}.json")
    if await artifacts.exists(path):
        return float(json.loads(await artifacts.read(path))["lufs"])
    async with artifacts.media_cache.fetch(await artifacts.source_audio(dub, "mix.mka")) as source:
        with artifacts.media_cache.temp_dir() as temp_dir:
            lufs = await measure_loudness(
                source.path, container=Container.MATROSKA, sandbox=artifacts.sandbox, output=temp_dir, seconds=seconds
            )
    await artifacts.put(path, json.dumps({"lufs": lufs}).encode())
    return lufs


def _nearest_span(spans: Sequence[TimeSpan], at_seconds: float) -> int:
    def distance(index: int) -> float:
        return max(spans[index].start_seconds - at_seconds, at_seconds - spans[index].end_seconds, 0.0)

    return min(range(len(spans)), key=distance)
