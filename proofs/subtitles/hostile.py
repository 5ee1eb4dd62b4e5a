"""Proves that hostile transcript text is parsed and rendered as plain text, not as markup."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.subtitles import store_subtitles
from proofs.stage.report import Report
from proofs.stage.subtitle_parsers import FORMATS, SubtitleFiles
from proofs.subtitles.rendering import (
    HEIGHT,
    SHOWN_SECONDS,
    SLOT_SECONDS,
    Frame,
    RenderedText,
    is_same,
    measure_text,
    raw_srt,
    render,
)
from tests.support.stage import Stage

LANGUAGE = "en"
MILLION = 1_000_000
MIN_PIXEL_RATIO = 1.2  # to the text without its markup
TALL_LINE = "(\u00c5|gy)"  # as tall as a line can be
MAX_HEIGHT_RATIO = 1.15  # to that line
DELETED_TEXT = "this was deleted"


@dataclass(frozen=True, slots=True)
class HostileText:
    """A text, its expected rendering, and its rendering in a player that interprets the markup.

    If both are equal, the markup is invisible, and the renderings must be identical.
    """

    text: str
    expected: str
    stripped: str
    is_active: bool = False  # FFmpeg's SubRip parser interprets the unescaped text, so the check must catch it

    @property
    def is_invisible(self) -> bool:
        return self.expected == self.stripped


CASES = (
    HostileText(r"{\an8}x", r"{\an8}x", "x", is_active=True),
    HostileText(r"{\pos(0,0)}corner", r"{\pos(0,0)}corner", "corner", is_active=True),
    HostileText(r"{\fs90\c&H0000FF&}red", r"{\fs90\c&H0000FF&}red", "red", is_active=True),
    HostileText("a {hidden} word", "a {hidden} word", "a word", is_active=True),
    HostileText(r"one\Ntwo\nthree\hfour", r"one\Ntwo\nthree\hfour", "onetwothreefour", is_active=True),
    HostileText("<i>slanted</i>", "<i>slanted</i>", "slanted", is_active=True),
    HostileText("<script>alert(1)</script>", "<script>alert(1)</script>", "alert(1)", is_active=True),
    HostileText('<font color="#ff0000">red</font>', '<font color="#ff0000">red</font>', "red", is_active=True),
    HostileText("a --> b", "a --> b", "a b"),
    HostileText("00:00:01,000 --> 00:00:02,000", "00:00:01,000 --> 00:00:02,000", "00:00:01,000"),
    HostileText("1 &lt; 2 &amp; 3", "1 &lt; 2 &amp; 3", "1 < 2 & 3"),
    HostileText("<v Speaker>&nbsp;else</v>", "<v Speaker>&nbsp;else</v>", "&nbsp;else", is_active=True),
    HostileText("\u202egpj.exe\u202c and \u2067on\u2069", "gpj.exe and on", "gpj.exe and on", is_active=True),
    HostileText("nothing\x00 in \x1b[0mit", "nothing in [0mit", "nothing in [0mit"),
    HostileText("so" + " " * MILLION + "far", "so far", "so far"),
    HostileText("two\n\nparts\r\nof\u2028one", "two parts of one", "two parts of one"),
    HostileText("\ufeffWEBVTT\n\nNOTE this", "WEBVTT NOTE this", "WEBVTT NOTE this"),
    HostileText("7", "7", "7"),
)


async def write_hostile(stage: Stage, video_id: str) -> None:
    """Replace a video's subtitles with those of a transcript that contains the hostile texts."""
    segments = [_segment(number, case.text) for number, case in enumerate(CASES)]
    segments.append(_segment(len(CASES), DELETED_TEXT, deleted=True))
    await store_subtitles(
        Storage.connect(stage.settings),
        segments,
        library_id=stage.person.library_id,
        video_id=video_id,
        language=LANGUAGE,
        until_seconds=(len(CASES) + 1) * SLOT_SECONDS,
    )


def prove_hostile(report: Report, files: SubtitleFiles) -> bool:
    """Whether every text is parsed and rendered as plain text, in both formats."""
    misread = _misread(files)
    for each in misread:
        report.note(f"hostile text misread: {each}")
    report.claim(
        f"{len(CASES)} hostile texts in two formats: parsed as text by pysubs2, webvtt-py and FFmpeg",
        expected="all",
        measured=f"{len(misread)} not",
        holds=not misread,
    )
    judge = RenderingJudge.open()
    wrong = 0
    for form in FORMATS:
        faults = judge.faults(render(files.of(form), form, slots=len(CASES)), CASES)
        wrong += len(faults)
        for case, fault in faults.items():
            report.note(f"hostile text in {form}: {_short(case.text)!r} {fault}")
    report.claim(
        f"{len(CASES)} hostile texts in two formats: rendered as text by libass",
        expected="all",
        measured=f"{wrong} not",
        holds=wrong == 0,
    )
    active = [case for case in CASES if case.is_active]
    caught = judge.faults(render(raw_srt([case.text for case in active]), "srt", slots=len(active)), active)
    report.claim(
        "active texts written without escaping: detected",
        expected=f"all {len(active)}",
        measured=len(caught),
        holds=len(caught) == len(active),
    )
    return not misread and not wrong and len(caught) == len(active)


@dataclass(frozen=True, slots=True)
class RenderingJudge:
    """Compares frames with renderings of the stripped texts and of a plain line."""

    stripped: dict[HostileText, Frame]
    line: RenderedText

    @classmethod
    def open(cls) -> "RenderingJudge":
        *stripped, tall = render(raw_srt([*(case.stripped for case in CASES), TALL_LINE]), "srt", slots=len(CASES) + 1)
        return cls(dict(zip(CASES, stripped, strict=True)), measure_text(tall))

    def faults(self, frames: Sequence[Frame], cases: Sequence[HostileText]) -> dict[HostileText, str]:
        found = {case: self._fault(case, frame) for case, frame in zip(cases, frames, strict=True)}
        return {case: fault for case, fault in found.items() if fault}

    def _fault(self, case: HostileText, frame: Frame) -> str:
        """How the rendering differs from plain text; empty if it does not."""
        if case.is_invisible:
            return "" if is_same(frame, self.stripped[case]) else "does not look like plain text"
        text = measure_text(frame)
        checks = {
            "is not at the bottom": abs(text.bottom - self.line.bottom) <= self.line.height / 2
            and text.top > HEIGHT / 2,
            "is colored": text.is_gray,
            "is partly hidden": text.pixels >= MIN_PIXEL_RATIO * measure_text(self.stripped[case]).pixels,
            "is taller than a line": text.height <= MAX_HEIGHT_RATIO * self.line.height,
        }
        return ", ".join(fault for fault, holds in checks.items() if not holds)


def _segment(slot: int, text: str, *, deleted: bool = False) -> TranscriptSegment:
    start = float(slot * SLOT_SECONDS)
    return TranscriptSegment(start, start + SHOWN_SECONDS, "speaker_1", text, (), deleted)


def _misread(files: SubtitleFiles) -> list[str]:
    expected = [(number * SLOT_SECONDS * 1000, (case.expected,)) for number, case in enumerate(CASES)]
    found = []
    for parser, cues in files.parse_all().items():
        parsed = [(each.start, each.lines) for each in cues]
        found += [f"{parser}: {each} is missing" for each in expected if each not in parsed]
        found += [f"{parser}: {each} is unexpected" for each in parsed if each not in expected]
    return found


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}..."
