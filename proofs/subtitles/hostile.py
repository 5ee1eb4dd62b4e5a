"""Text that tries to be more than text: written by the product, read by others and painted, it is only text."""

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
    Ink,
    Picture,
    ink_of,
    looks_same,
    painted,
    raw_srt,
)
from tests.support.stage import Stage

LANGUAGE = "en"
MILLION = 1_000_000
MORE_INK = 1.2  # times that of the text without the part that wants to be more
TALL = "(\u00c5|gy)"  # as tall as a line can be
MORE_HEIGHT = 1.15  # times that
GONE = "this was deleted"


@dataclass(frozen=True, slots=True)
class Case:
    """A text, what a person must read, and what is left of it in a player that falls for it.

    Where the last is the same as what must be read, there was nothing to see, and both look the same.
    """

    text: str
    shown: str
    tame: str
    acts: bool = False  # FFmpeg's own reader of SubRip falls for it, so the check is seen to fail

    @property
    def is_unseen(self) -> bool:
        return self.shown == self.tame


CASES = (
    Case(r"{\an8}x", r"{\an8}x", "x", acts=True),
    Case(r"{\pos(0,0)}corner", r"{\pos(0,0)}corner", "corner", acts=True),
    Case(r"{\fs90\c&H0000FF&}red", r"{\fs90\c&H0000FF&}red", "red", acts=True),
    Case("a {hidden} word", "a {hidden} word", "a word", acts=True),
    Case(r"one\Ntwo\nthree\hfour", r"one\Ntwo\nthree\hfour", "onetwothreefour", acts=True),
    Case("<i>slanted</i>", "<i>slanted</i>", "slanted", acts=True),
    Case("<script>alert(1)</script>", "<script>alert(1)</script>", "alert(1)", acts=True),
    Case('<font color="#ff0000">red</font>', '<font color="#ff0000">red</font>', "red", acts=True),
    Case("a --> b", "a --> b", "a b"),
    Case("00:00:01,000 --> 00:00:02,000", "00:00:01,000 --> 00:00:02,000", "00:00:01,000"),
    Case("1 &lt; 2 &amp; 3", "1 &lt; 2 &amp; 3", "1 < 2 & 3"),
    Case("<v Somebody>&nbsp;else</v>", "<v Somebody>&nbsp;else</v>", "&nbsp;else", acts=True),
    Case("\u202egpj.exe\u202c and \u2067on\u2069", "gpj.exe and on", "gpj.exe and on", acts=True),
    Case("nothing\x00 in \x1b[0mit", "nothing in [0mit", "nothing in [0mit"),
    Case("so" + " " * MILLION + "far", "so far", "so far"),
    Case("two\n\nparts\r\nof\u2028one", "two parts of one", "two parts of one"),
    Case("\ufeffWEBVTT\n\nNOTE this", "WEBVTT NOTE this", "WEBVTT NOTE this"),
    Case("7", "7", "7"),
)


async def write_hostile(stage: Stage, video_id: str) -> None:
    """Put the texts in place of a video's subtitles, as a transcript with them would have."""
    segments = [_segment(number, case.text) for number, case in enumerate(CASES)]
    segments.append(_segment(len(CASES), GONE, deleted=True))
    await store_subtitles(
        Storage.connect(stage.settings),
        segments,
        library_id=stage.person.library_id,
        video_id=video_id,
        language=LANGUAGE,
        until_seconds=(len(CASES) + 1) * SLOT_SECONDS,
    )


def prove_hostile(report: Report, written: SubtitleFiles) -> bool:
    """Whether every text is read and painted as text, in both formats."""
    read_wrong = [*_read_wrong(written)]
    for each in read_wrong:
        report.note(f"hostile text read in another way: {each}")
    report.claim(
        f"hostile texts that pysubs2, webvtt-py and FFmpeg read as text, of {len(CASES)} in two formats",
        expected="all",
        measured=f"{len(read_wrong)} otherwise",
        holds=not read_wrong,
    )
    judge = Judge.open()
    wrong = 0
    for form in FORMATS:
        faults = judge.faults(painted(written.of(form), form, slots=len(CASES)), CASES)
        wrong += len(faults)
        for case, fault in faults.items():
            report.note(f"hostile text in {form}: {_short(case.text)!r} {fault}")
    report.claim(
        f"hostile texts that libass paints as text, of {len(CASES)} in two formats",
        expected="all",
        measured=f"{wrong} otherwise",
        holds=wrong == 0,
    )
    acting = [case for case in CASES if case.acts]
    caught = judge.faults(painted(raw_srt([case.text for case in acting]), "srt", slots=len(acting)), acting)
    report.claim(
        "such texts written as they are: seen to move, hide, colour or turn",
        expected=f"all {len(acting)}",
        measured=len(caught),
        holds=len(caught) == len(acting),
    )
    return not read_wrong and not wrong and len(caught) == len(acting)


@dataclass(frozen=True, slots=True)
class Judge:
    """Compares pictures with those of the tame texts, and with a line of plain text."""

    tame: dict[Case, Picture]
    line: Ink

    @classmethod
    def open(cls) -> "Judge":
        *tame, tall = painted(raw_srt([*(case.tame for case in CASES), TALL]), "srt", slots=len(CASES) + 1)
        return cls(dict(zip(CASES, tame, strict=True)), ink_of(tall))

    def faults(self, pictures: Sequence[Picture], cases: Sequence[Case]) -> dict[Case, str]:
        found = {case: self._fault(case, picture) for case, picture in zip(cases, pictures, strict=True)}
        return {case: fault for case, fault in found.items() if fault}

    def _fault(self, case: Case, picture: Picture) -> str:
        """What is to be seen that should not be, or not to be seen that should."""
        if case.is_unseen:
            return "" if looks_same(picture, self.tame[case]) else "does not look like plain text"
        ink = ink_of(picture)
        checks = {
            "is not at the bottom": abs(ink.bottom - self.line.bottom) <= self.line.height / 2 and ink.top > HEIGHT / 2,
            "is coloured": ink.is_grey,
            "hides a part": ink.pixels >= MORE_INK * ink_of(self.tame[case]).pixels,
            "is taller than a line": ink.height <= MORE_HEIGHT * self.line.height,
        }
        return ", ".join(fault for fault, holds in checks.items() if not holds)


def _segment(slot: int, text: str, *, deleted: bool = False) -> TranscriptSegment:
    start = float(slot * SLOT_SECONDS)
    return TranscriptSegment(start, start + SHOWN_SECONDS, "speaker_1", text, (), deleted)


def _read_wrong(written: SubtitleFiles) -> list[str]:
    expected = [(number * SLOT_SECONDS * 1000, (case.shown,)) for number, case in enumerate(CASES)]
    found = []
    for reader, shown in written.parse_all().items():
        read = [(each.start, each.lines) for each in shown]
        found += [f"{reader}: {each} is not there" for each in expected if each not in read]
        found += [f"{reader}: {each} was not written" for each in read if each not in expected]
    return found


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}..."
