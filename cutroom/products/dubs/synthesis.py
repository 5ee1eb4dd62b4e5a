"""Assigns a voice to each speaker and synthesizes lines to fit their slots.

Synthesized audio is stored under a fingerprint of its inputs, so that unchanged lines are never synthesized twice.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cutroom.engines.diarization.pitch import median_pitch
from cutroom.engines.errors import UnsuitableInputError
from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from cutroom.engines.voice_conversion.port import REFERENCE_RATE
from cutroom.media.dubbing import AudioRange, change_tempo
from cutroom.media.formats import Container
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.cast.voices import CastChoice, assign_cast_voices
from cutroom.products.dubs.casting import SpeakerProfile, cast_voices, voices_for
from cutroom.products.dubs.line_speech import LineSpeech, pcm_seconds
from cutroom.products.dubs.line_sync import MAX_TEMPO, best_wording, fit_line, fits_slot, next_wording, speaking_rate
from cutroom.products.dubs.mixing import HEADROOM, LINE_RATE
from cutroom.products.dubs.script import CHUNK_SECONDS, AssignedVoice, DubLine, DubScript, SynthesizedLine
from cutroom.products.speech.encoding import resample_speech, to_pcm
from cutroom.products.speech.reference import (
    UnusableSampleError,
    extract_reference,
    normalize_level,
    select_spans,
)
from cutroom.products.speech.rules import fingerprint

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

PROFILE_SECONDS = 30.0  # audio analyzed per speaker
# A voice speaks less faster than it is asked to, since its pauses stay: a second request asks for more.
MAX_SPEEDS, MAX_PREDICTED_SPEEDS = 2, 4
MIN_SPEED, MAX_SPEED = 0.8, 1.3
MIN_PACED_SPEED, MAX_PACED_SPEED = 0.7, 1.4  # of takes that differ from the fitted one
MIN_TEMPO_CHANGE = 0.01  # smaller changes are inaudible and skipped
# How far the voice may be from the rate that it was asked for: FITTED_EXCESS leaves this much of SLOT_TOLERANCE.
MAX_RATE_ERROR = 0.025


async def assign_voices(
    artifacts: DubArtifacts,
    engines: Engines,
    *,
    dub: DubRef,
    script: DubScript,
    cast: Mapping[str, CastChoice] | None = None,
) -> dict[str, AssignedVoice]:
    """A voice per speaker: that of the cast, else a stock voice matched by gender, age and pitch.

    For premium dubs, speakers without a voice of the cast are cloned.
    """
    speakers = list(dict.fromkeys(line.speaker for line in script.lines))
    choices = {speaker: choice for speaker, choice in (cast or {}).items() if speaker in speakers}
    given = await assign_cast_voices(artifacts, engines, dub=dub, choices=choices)
    profiles = [
        await _profile_speaker(artifacts, dub=dub, script=script, speaker=speaker)
        for speaker in speakers
        if speaker not in given
    ]
    voices = await asyncio.to_thread(_assign_stock_voices, engines, profiles, dub.language, given.values())
    if dub.product != "premium":
        return {**voices, **given}
    return given | {
        profile.speaker: await _clone_speaker(
            artifacts, engines, dub=dub, script=script, profile=profile, fallback=voices[profile.speaker]
        )
        for profile in profiles
    }


async def _profile_speaker(artifacts: DubArtifacts, *, dub: DubRef, script: DubScript, speaker: str) -> SpeakerProfile:
    """Measure a speaker's pitch on their longest lines, once: an edit must not need the original."""
    lines = _longest_lines(script, speaker)
    spans = [(line.start_seconds, line.end_seconds) for line in _first_seconds(lines, PROFILE_SECONDS)]
    path = dub.shared_path(f"pitch/{fingerprint({'spans': spans})}.json")
    if await artifacts.exists(path):
        pitch = json.loads(await artifacts.read(path))["pitch"]
    else:
        pitch = await _measure_pitch(artifacts, dub=dub, spans=spans)
        await artifacts.put(path, json.dumps({"pitch": pitch}).encode())
    return SpeakerProfile(speaker, pitch, sum(line.end_seconds - line.start_seconds for line in lines))


async def _measure_pitch(artifacts: DubArtifacts, *, dub: DubRef, spans: Sequence[tuple[float, float]]) -> float | None:
    path, recordings = await artifacts.source_audio(dub, "speech.flac"), []
    for start, end in spans:
        audio_range = AudioRange(start, end - start, rate=SAMPLE_RATE, channels=1)
        recordings.append((await artifacts.read_audio(path, Container.FLAC, audio_range))[0])
    return await asyncio.to_thread(_pitch, recordings)


def _assign_stock_voices(
    engines: Engines, profiles: Sequence[SpeakerProfile], language: str, given: Iterable[AssignedVoice]
) -> dict[str, AssignedVoice]:
    """Voices that are given to others are the last choice."""
    if not profiles:
        return {}
    engine_of = {voice: each.name for each in engines.synthesizers() for voice in each.voices()}
    voices = voices_for(language, list(engine_of))
    if not voices:
        raise UnsuitableInputError("no_voice", f"No voice speaks the language {language}.")
    taken = {(each.engine, each.voice) for each in given}
    voices = [each for each in voices if (engine_of[each], each.name) not in taken] or voices
    return {
        speaker: AssignedVoice(engine_of[voice], voice.name, pitch_hz=voice.pitch_hz)
        for speaker, voice in cast_voices(profiles, voices).items()
    }


async def _clone_speaker(
    artifacts: DubArtifacts,
    engines: Engines,
    *,
    dub: DubRef,
    script: DubScript,
    profile: SpeakerProfile,
    fallback: AssignedVoice,
) -> AssignedVoice:
    """Clone a speaker from their longest lines; with too little audio, use the stock voice and record why."""
    lines = _first_seconds(_longest_lines(script, profile.speaker), PROFILE_SECONDS)
    recordings = [await _isolated_line(artifacts, dub=dub, script=script, line=line) for line in lines]
    try:
        pcm = await asyncio.to_thread(_reference_pcm, engines, recordings)
    except UnusableSampleError as error:
        return AssignedVoice(fallback.engine, fallback.voice, pitch_hz=fallback.pitch_hz, note=str(error))
    sha256 = hashlib.sha256(pcm).hexdigest()
    path = dub.shared_path(f"references/{sha256}.pcm")
    await artifacts.put(path, pcm)
    cloner = await asyncio.to_thread(engines.voice_cloner)
    return AssignedVoice(cloner.name, reference_path=path, reference_sha256=sha256, pitch_hz=profile.pitch_hz)


async def _isolated_line(artifacts: DubArtifacts, *, dub: DubRef, script: DubScript, line: DubLine) -> "Samples":
    """A source line without background, from the separated speech of the chunk in which it starts."""
    start = line.start_seconds - line.chunk * CHUNK_SECONDS
    audio_range = AudioRange(start, line.end_seconds - line.start_seconds, rate=REFERENCE_RATE, channels=1)
    speech = await artifacts.read_audio(dub.speech_path(script, line.chunk), Container.FLAC, audio_range)
    samples: Samples = speech[0]
    return samples * (1 / HEADROOM)


def _reference_pcm(engines: Engines, recordings: Sequence["Samples"]) -> bytes:
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    samples = np.concatenate(recordings)
    recording = resample_speech(SynthesizedSpeech(samples, REFERENCE_RATE), SAMPLE_RATE)
    selected = select_spans(list(engines.voice_activity_detector().detect([recording])))
    return to_pcm(normalize_level(extract_reference(samples, selected)))


def line_key(dub: DubRef, line: DubLine, voice: AssignedVoice) -> str:
    """Fingerprint of everything a line's audio depends on; the line number is not part of it."""
    if line.take is not None:
        return line.take
    slot = [round(line.slot.seconds, 3), round(line.slot.max_seconds, 3)]
    spoken = [line.spoken(index, reads_phonemes=voice.reads_phonemes) for index in range(len(line.texts))]
    inputs: dict[str, Any] = {"texts": spoken, "voice": voice.identity, "language": dub.language, "slot": slot}
    if line.speed is not None:
        inputs["speed"] = line.speed
    return fingerprint(inputs)


async def read_line(artifacts: DubArtifacts, *, dub: DubRef, line: DubLine, voice: AssignedVoice) -> SynthesizedLine:
    """The line as `synthesize_line` has stored it."""
    stored = json.loads(await artifacts.read(dub.line_result_path(line_key(dub, line, voice))))
    return SynthesizedLine(**{**stored, "number": line.number})


@dataclass(frozen=True, slots=True)
class FittedSpeech:
    """A line as it was spoken: the text, what the voice was asked for, and the tempo afterwards."""

    pcm: bytes
    text_index: int
    speed: float  # that the voice was asked for
    speaking_rate: float  # at which it spoke, relative to its natural speed
    tempo: float


async def synthesize_line(
    artifacts: DubArtifacts, engines: Engines, *, dub: DubRef, line: DubLine, voice: AssignedVoice
) -> SynthesizedLine:
    """Speak a line so that it fits its slot, and store it under the fingerprint of its inputs."""
    fitted = await speak_fitted(LineSpeech(artifacts, engines, dub, line, voice))
    key, seconds = line_key(dub, line, voice), pcm_seconds(fitted.pcm)
    synthesized = SynthesizedLine(line.number, key, seconds, fitted.tempo, fitted.text_index, fitted.speaking_rate)
    await artifacts.put(dub.line_path(key), fitted.pcm)
    await artifacts.put(dub.line_result_path(key), json.dumps(asdict(synthesized)).encode())  # written last
    return synthesized


async def speak_fitted(speech: LineSpeech) -> FittedSpeech:
    """Synthesize the candidate text that needs the least change of tempo, and adjust its tempo to the slot.

    If the tempo is not enough, the voice speaks the text at another rate. Wording and rate are chosen by durations that
    were predicted, if the engine can: then one text is synthesized, and a second time only if it misses its slot.
    """
    line = speech.line
    if line.speed is None:
        chosen = await _choose_wording(speech)
        speed, rate = await _choose_speed(speech, chosen)
        pcm = await speech.speak(chosen, speed=speed)
        if not fits_slot(pcm_seconds(pcm), line.slot):
            speed, rate = await _choose_speed(speech, chosen)
            pcm = await speech.speak(chosen, speed=speed)
        tempo = fit_line(pcm_seconds(pcm), line.slot).tempo
    else:  # only sped up as much as the next line requires
        chosen, speed, rate = 0, line.speed, line.speed
        pcm = await speech.speak(chosen, speed=line.speed)
        tempo = max(1.0, _required_tempo(pcm, line))
    pcm, tempo = await _at_tempo(speech.artifacts, pcm, tempo)
    return FittedSpeech(pcm, chosen, speed, rate, tempo)


async def speak_at_pace(speech: LineSpeech, fitted: FittedSpeech, *, pace: float) -> FittedSpeech:
    """The same text spoken slower or faster than it was fitted, sped up where it would run into the next line."""
    speed = round(min(max(fitted.speed * pace, MIN_PACED_SPEED), MAX_PACED_SPEED), 2)
    pcm = await speech.speak(fitted.text_index, speed=speed)
    pcm, tempo = await _at_tempo(speech.artifacts, pcm, max(fitted.tempo, _required_tempo(pcm, speech.line)))
    rate = round(fitted.speaking_rate * speed / fitted.speed, 3)
    return FittedSpeech(pcm, fitted.text_index, speed, rate, tempo)


def _required_tempo(pcm: bytes, line: DubLine) -> float:
    """The least tempo at which speech ends before the next line, as far as there is one."""
    return min(round(pcm_seconds(pcm) / line.slot.max_seconds, 4), MAX_TEMPO)


async def _at_tempo(artifacts: DubArtifacts, pcm: bytes, tempo: float) -> tuple[bytes, float]:
    if abs(tempo - 1) <= MIN_TEMPO_CHANGE:
        return pcm, 1.0
    return await _change_tempo(artifacts, pcm, tempo), tempo


async def _choose_wording(speech: LineSpeech) -> int:
    """Index of the text that needs the least change of tempo."""
    line, seconds = speech.line, dict[int, float]()
    while (index := next_wording(line.texts, seconds, line.slot, language=speech.dub.language)) is not None:
        seconds[index] = await speech.seconds(index)
    return best_wording(seconds, line.slot)


async def _choose_speed(speech: LineSpeech, index: int) -> tuple[float, float]:
    """The speed to ask the voice for, and the rate at which it then speaks, relative to its natural speed."""
    natural = await speech.seconds(index)
    wanted, speed, rate = speaking_rate(natural, speech.line.slot), 1.0, 1.0
    for _ in range(MAX_PREDICTED_SPEEDS if speech.is_predicted else MAX_SPEEDS):
        if abs(rate - wanted) <= MAX_RATE_ERROR:
            break
        speed = round(min(max(speed * wanted / rate, MIN_SPEED), MAX_SPEED), 2)
        rate = round(natural / await speech.seconds(index, speed=speed), 3)
    return speed, rate


async def _change_tempo(artifacts: DubArtifacts, pcm: bytes, tempo: float) -> bytes:
    with artifacts.media_cache.temp_dir() as temp_dir:
        raw = temp_dir / "raw"
        raw.write_bytes(pcm)
        output = await change_tempo(raw, rate=LINE_RATE, tempo=tempo, output=temp_dir, sandbox=artifacts.sandbox)
        return output.read_bytes()


def _longest_lines(script: DubScript, speaker: str) -> list[DubLine]:
    lines = [line for line in script.lines if line.speaker == speaker]
    return sorted(lines, key=lambda line: (line.start_seconds - line.end_seconds, line.number))


def _first_seconds(lines: Sequence[DubLine], limit_seconds: float) -> list[DubLine]:
    """Lines from the start of the list until their total duration reaches the limit."""
    selected: list[DubLine] = []
    for line in lines:
        if sum(each.end_seconds - each.start_seconds for each in selected) >= limit_seconds:
            break
        selected.append(line)
    return selected


def _pitch(recordings: Sequence["Samples"]) -> float | None:
    import numpy as np  # noqa: PLC0415 - as above

    if not recordings:
        return None
    samples = np.concatenate(recordings)
    return median_pitch(samples, sample_rate=SAMPLE_RATE, speech=[TimeSpan(0.0, len(samples) / SAMPLE_RATE)])
