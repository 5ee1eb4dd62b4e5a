"""Subtitles: every cue of long speech keeps the house rules, all readers read the same, and hostile text is text."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from cutroom.media.subtitles import SubtitleCue
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.segmentation import TimedWord, TranscriptSegment, split_segments
from cutroom.products.transcripts.subtitles import store_subtitles
from proofs.stage.cue_checks import FoundViolation, count_by_rule, find_violations, join_segments, long_pauses
from proofs.stage.recorded_speech import Speech, make_speech
from proofs.stage.report import Report, prove
from proofs.stage.subtitle_parsers import SubtitleFiles, agree, cues_of, download
from proofs.stage.transcript_stage import open_client, upload_file, wait_for_transcript, write_wav
from proofs.subtitles.hostile import prove_hostile, write_hostile
from tests.support.stage import Stage, open_stage

LANGUAGE = "en"
SHORT_SECONDS, LONG_SECONDS = 150, 30 * 60
SEED = 5
MOST_EXCEPTIONS = 0.02  # of the cues
MOST_LISTED = 40
LONG_PAUSE_MS = 1000
WAIT_SECONDS = 3600
# The small recognizer, and nobody who tells voices apart: here it is known whose turn it is.
ENVIRONMENT = {
    "CUTROOM_ASR_ENGINES": "whisper-tiny.en",
    "CUTROOM_SPEAKER_EMBEDDER": "none",
    "CUTROOM_SPEECH_THREADS": "2",
}


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in the files of one way to tell the speakers."""

    cues: list[SubtitleCue]
    found: list[FoundViolation]
    pauses_inside: int

    @property
    def unforced(self) -> list[FoundViolation]:
        return [each for each in self.found if not each.reason]

    @property
    def exceptions(self) -> set[int]:
        return {each.cue for each in self.found if each.reason}


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    speech = make_speech(SHORT_SECONDS if short else LONG_SECONDS, seed=SEED)
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with (
            open_stage("proof_subtitles", folder, environment=ENVIRONMENT) as stage,
            open_client(stage) as client,
        ):
            video_id = await upload_file(client, write_wav(folder / "speech.wav", speech.samples))
            told = await wait_for_transcript(stage, client, video_id, seconds=WAIT_SECONDS)
            heard = join_segments(told.transcript, told.words)
            as_made = await download(client, video_id, language=LANGUAGE)
            turns = await _store_turns(stage, video_id, heard, speech)
            with_turns = await download(client, video_id, language=LANGUAGE)
            await write_hostile(stage, video_id)
            hostile = await download(client, video_id, language=LANGUAGE)
    _claim_speech(report, speech, words=len(told.words), short=short)
    checked = [
        _check(report, as_made, heard, what="as the worker made them"),
        _check(report, with_turns, turns, what="with three voices"),
    ]
    _claim_turns(report, checked[1], turns)
    report.figures(
        speech_seconds=round(speech.spoken_seconds),
        words=len(told.words),
        cues=sum(len(each.cues) for each in checked),
        violations=sum(len(each.unforced) for each in checked),
        exceptions=sum(len(each.exceptions) for each in checked),
        sentences_joined_over_a_long_pause=sum(each.pauses_inside for each in checked),
        hostile_ok=prove_hostile(report, hostile),
    )


async def _store_turns(
    stage: Stage, video_id: str, heard: Sequence[TranscriptSegment], speech: Speech
) -> list[TranscriptSegment]:
    """The same words, each of the voice whose turn it was; the files are made of them in place of the first."""

    def who(word: TimedWord) -> str:
        return speech.voice_at((word.start_seconds + word.end_seconds) / 2)

    parts = split_segments([word for segment in heard for word in segment.words], who, language=LANGUAGE)
    await store_subtitles(
        Storage.connect(stage.settings),
        parts,
        library_id=stage.person.library_id,
        video_id=video_id,
        language=LANGUAGE,
        until_seconds=speech.seconds,
    )
    return parts


def _claim_speech(report: Report, speech: Speech, *, words: int, short: bool) -> None:
    least = SHORT_SECONDS if short else LONG_SECONDS
    report.claim(
        "human speech that was recognised",
        expected=f">= {least} s",
        measured=f"{speech.spoken_seconds:.0f} s in {speech.seconds:.0f} s, {words} words",
        holds=speech.spoken_seconds >= least and words >= speech.spoken_seconds,
    )


def _check(report: Report, written: SubtitleFiles, parts: Sequence[TranscriptSegment], *, what: str) -> Checked:
    readings = written.parse_all()
    shown = readings["pysubs2, srt"]
    others = [name for name, each in readings.items() if not agree(shown, each)]
    report.claim(
        f"readers of {len(shown)} cues {what} that agree on times and text",
        expected=f"all {len(readings)}, within 1 ms",
        measured=f"all but {', '.join(others)}" if others else f"all {len(readings)}",
        holds=bool(shown) and not others,
    )
    cues = cues_of(written.vtt)
    pauses = long_pauses(cues, parts, ms=LONG_PAUSE_MS)
    checked = Checked(cues, find_violations(shown, cues, segments=parts, language=LANGUAGE), len(pauses))
    for each in checked.found[:MOST_LISTED]:
        text = " / ".join(shown[each.cue].lines) if each.cue < len(shown) else ""
        report.note(f"cue {each.cue + 1} {what}, {each.rule} ({each.detail}): {each.reason or 'NO REASON'}: {text}")
    report.claim(
        f"rules that cues {what} break without need",
        expected="none",
        measured=count_by_rule(checked.unforced),
        holds=not checked.unforced,
    )
    share = len(checked.exceptions) / max(1, len(cues))
    report.claim(
        f"cues {what} that the speech forces to break a rule",
        expected=f"<= {MOST_EXCEPTIONS:.0%} of {len(cues)}",
        measured=f"{len(checked.exceptions)}, {share:.1%}",
        holds=share <= MOST_EXCEPTIONS,
    )
    return checked


def _claim_turns(report: Report, checked: Checked, parts: Sequence[TranscriptSegment]) -> None:
    """A line opens with a dash where the speaker changes: at least once for each change."""
    changes = sum(before.speaker != after.speaker for before, after in pairwise(parts))
    dashes = sum(line.dash for cue in checked.cues for line in cue.lines)
    report.claim(
        "changes of speaker, lines marked with a dash",
        expected="no fewer than changes",
        measured=f"{changes}, {dashes}",
        holds=0 < changes <= dashes,
    )


if __name__ == "__main__":
    sys.exit(prove("Subtitles", proof))
