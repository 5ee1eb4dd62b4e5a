"""Tests that subtitle files are read back correctly, whatever the text, by several parsers."""

import html
import re
import subprocess
from pathlib import Path

import pysubs2
import pytest
import webvtt
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.media.subtitles import (
    JOINER,
    SubtitleCue,
    SubtitleLine,
    clean_text,
    srt_text,
    vtt_text,
    write_srt,
    write_vtt,
)

HOSTILE = [
    r"{\an8}moved to the top",
    r"{\fs200}{\c&H0000FF&}huge and red",
    "{hidden} by braces, {y:i} by another player",
    "{ never closed",
    r"a path C:\New\house and \N a break",
    "<i>slanted</i> <b>bold</b> <font color=red>red</font>",
    "<script>alert(1)</script>",
    "<v Someone>spoken by another",
    "1 < 2 and c > d",
    "Tom & Jerry &amp; &lt;i&gt; &nbsp; &#123;",
    "an arrow --> and -- > and ---> more",
    "00:00:01,000 --> 00:00:02,000",
    "00:00:01.000 00:00:02.000 and 00:01.000 00:02.000",
    "7",
    "WEBVTT",
    "NOTE this",
    "STYLE ::cue{color:red}",
    "a blank line\n\nin the middle",
    "carriage\r\rreturns and\x0b\x0c other\x1c\x85ends\u2028of\u2029lines",
    "NUL \x00 and \x1b[31mcolour\x07",
    "\u202egnp.exe\u202c and \u2067isolated",
    "a lone \ud800 surrogate and a mark \ufeff inside \uffff",
    "שלום, עולם!",
    "مرحبا (بالعالم) ABC؟",
    "🇵🇹 👩‍👩‍👧 e\u0301",
]
EMBEDDING = re.compile("[\u202b\u202c]")


def cues_of(texts: list[str]) -> list[SubtitleCue]:
    return [
        SubtitleCue(
            at * 2 + 0.001,
            at * 2 + 1.5,
            (SubtitleLine(text, "A"), SubtitleLine("7", "A"), SubtitleLine(text, "B", dash=True)),
        )
        for at, text in enumerate(texts)
    ]


def expected(texts: list[str], rendered: dict[str, str]) -> list[str]:
    return [f"{rendered[text]}\n7\n- {rendered[text]}" for text in texts]


def converted(path: Path, extension: str) -> str:
    command = ["ffmpeg", "-v", "error", "-nostdin", "-i", str(path), "-f", extension, "-"]
    return subprocess.run(command, check=True, capture_output=True, timeout=500).stdout.decode()


def test_pysubs2_reads_srt_back(tmp_path: Path) -> None:
    cues = cues_of(HOSTILE)
    path = tmp_path / "x.srt"
    path.write_bytes(write_srt(cues).encode())
    read = pysubs2.load(str(path), encoding="utf-8")
    assert [(event.start, event.end) for event in read] == [
        (at * 2000 + 1, at * 2000 + 1500) for at in range(len(cues))
    ]
    displayed = [EMBEDDING.sub("", event.plaintext).replace(f"7{JOINER}\n", "7\n") for event in read]
    assert displayed == expected(HOSTILE, {text: srt_text(text) for text in HOSTILE})


def test_webvtt_reads_vtt_back(tmp_path: Path) -> None:
    cues = cues_of(HOSTILE)
    path = tmp_path / "x.vtt"
    path.write_bytes(write_vtt(cues, names={"A": "Ann <b> & Co\n\n-->", "B": ""}).encode())
    read = webvtt.read(str(path)).captions
    assert [each.start_in_seconds for each in read] == [at * 2 for at in range(len(cues))]
    assert [(each.start, each.end) for each in read][1] == ("00:00:02.001", "00:00:03.500")
    plain = {text: _without_joiners(clean_text(text)) for text in HOSTILE}
    assert [_plain(each.text) for each in read] == expected(HOSTILE, plain)
    assert {_plain(each.voice or "") for each in read} == {"Ann <b> & Co -->"}


def _plain(text: str) -> str:
    """The webvtt package strips tags but does not unescape."""
    return _without_joiners(html.unescape(EMBEDDING.sub("", text)))


def _without_joiners(text: str) -> str:
    return text.replace(JOINER, "")


@pytest.mark.parametrize("extension", ["srt", "vtt"])
def test_ffmpeg_reads_all_cues_back(extension: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{extension}"
    cues = cues_of(HOSTILE)
    path.write_bytes((write_srt(cues) if extension == "srt" else write_vtt(cues)).encode())
    events = pysubs2.SSAFile.from_string(converted(path, "ass"), format_="ass")
    assert len(events) == len(cues)
    for event, text, cue in zip(events, HOSTILE, cues, strict=True):
        assert abs(event.start - cue.start_seconds * 1000) <= 10  # ASS has hundredths
        displayed = re.sub(r"\\([{}])", r"\1", EMBEDDING.sub("", event.text))
        assert not re.search(r"\\(?!\u2060|N)", displayed)
        lines = [line.replace(JOINER, "") for line in displayed.split(r"\N")]
        expected = srt_text(text) if extension == "srt" else clean_text(text)
        assert lines == [expected.replace(JOINER, ""), "7", f"- {expected}".replace(JOINER, "")]


def test_ffmpeg_conversion_keeps_milliseconds(tmp_path: Path) -> None:
    path = tmp_path / "x.srt"
    path.write_bytes(write_srt(cues_of(HOSTILE)).encode())
    heads = re.findall(r"^([\d:.]+) --> ([\d:.]+)$", converted(path, "webvtt"), re.MULTILINE)
    assert len(heads) == len(HOSTILE)
    assert heads[:2] == [("00:00.001", "00:01.500"), ("00:02.001", "00:03.500")]


@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=6))
@settings(deadline=None)
def test_arbitrary_text_never_adds_or_loses_cues(texts: list[str]) -> None:
    kept = [clean_text(text) for text in texts if clean_text(text)]
    cues = [SubtitleCue(at + 0.0, at + 0.9, (SubtitleLine(text),)) for at, text in enumerate(texts)]
    read = pysubs2.SSAFile.from_string(write_srt(cues), format_="srt")
    assert [EMBEDDING.sub("", event.plaintext) for event in read] == [srt_text(text) for text in kept]
    assert [_plain(each.text) for each in webvtt.from_string(write_vtt(cues)).captions] == [
        _without_joiners(text) for text in kept
    ]


@given(st.text())
def test_clean_text_is_idempotent(text: str) -> None:
    once = clean_text(text)
    assert clean_text(once) == once
    assert "\n" not in once
    once.encode()  # no lone surrogates


# Frames rendered by libass, as gray values.
FRAME = (640, 120)


def render(text: str, folder: Path, *, extension: str = "srt") -> bytes:
    path = folder / f"x.{extension}"
    path.write_text(text, encoding="utf-8")
    command = ["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", f"color=black:s={FRAME[0]}x{FRAME[1]}:r=1:d=1"]
    command += [
        "-vf",
        f"subtitles={path.name}:charenc=UTF-8",
        "-frames:v",
        "1",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "gray",
        "-",
    ]
    return subprocess.run(command, check=True, capture_output=True, timeout=500, cwd=folder).stdout


def rows_with_ink(image: bytes) -> list[int]:
    width = FRAME[0]
    return [row for row in range(FRAME[1]) if max(image[row * width : (row + 1) * width]) > 60]


def raw(text: str) -> str:
    return f"1\n00:00:00,000 --> 00:00:01,000\n{text}\n"


@pytest.mark.parametrize(
    ("hostile", "expected_text"),
    [
        (r"{\an8}moved to the top", "\u2774\\\u2060an8\u2775moved to the top"),
        (r"C:\New\house", "C:\\\u2060New\\\u2060house"),
        ("a {hidden} word", "a \u2774hidden\u2775 word"),
        ("<i>slanted</i>", "<\u2060i>slanted<\u2060/i>"),
    ],
)
def test_libass_renders_hostile_text_literally(hostile: str, expected_text: str, tmp_path: Path) -> None:
    cue = SubtitleCue(0, 1, (SubtitleLine(hostile),))
    safe, unsafe = render(write_srt([cue]), tmp_path), render(raw(hostile), tmp_path)
    assert safe != unsafe  # unescaped, the text is interpreted
    assert safe == render(raw(expected_text), tmp_path)
    ink = rows_with_ink(safe)
    assert min(ink) > FRAME[1] / 2  # at the bottom
    assert max(ink) - min(ink) < 20  # on one line
    webvtt_ink = rows_with_ink(render(write_vtt([cue]), tmp_path, extension="vtt"))
    assert min(webvtt_ink) > FRAME[1] / 2
    assert max(webvtt_ink) - min(webvtt_ink) < 20


def test_right_to_left_lines_are_embedded() -> None:
    cue = SubtitleCue(0, 1, (SubtitleLine("שלום, עולם!", dash=True), SubtitleLine("Latin")))
    for rendered in (write_srt([cue]), write_vtt([cue])):
        assert "\u202b- שלום, עולם!\u202c\nLatin\n" in rendered


def test_speaker_change_is_a_dash_and_a_webvtt_voice() -> None:
    cue = SubtitleCue(0, 1.25, (SubtitleLine("Yes.", "1", dash=True), SubtitleLine("No.", "2", dash=True)))
    assert write_srt([cue]) == "1\n00:00:00,000 --> 00:00:01,250\n- Yes.\n- No.\n"
    head = "WEBVTT\n\n00:00:00.000 --> 00:00:01.250\n"
    assert write_vtt([cue], names={"1": "Ann"}) == f"{head}<v Ann>- Yes.</v>\n<v 2>- No.</v>\n"
    hostile = write_vtt([cue], names={"1": "<b>Ann</b> & Co"})
    assert "<v &lt;b&gt;Ann&lt;/b&gt; &amp; Co>- Yes.</v>\n" in hostile


def test_empty_cues_are_omitted_and_numbers_stay_consecutive() -> None:
    rendered = write_srt(
        [
            SubtitleCue(0, 1, (SubtitleLine("\u202e"),)),
            SubtitleCue(1, 2, (SubtitleLine("one"), SubtitleLine(" "))),
            SubtitleCue(2, 3, (SubtitleLine("two"),)),
        ]
    )
    assert rendered == "1\n00:00:01,000 --> 00:00:02,000\none\n\n2\n00:00:02,000 --> 00:00:03,000\ntwo\n"


@pytest.mark.parametrize(
    ("start", "end"),
    [(1, 1), (2, 1), (-1, 1), (float("nan"), 1), (0, float("inf")), (0, 360_000), (0.0001, 0.0002)],
)
def test_invalid_times_are_rejected(start: float, end: float) -> None:
    with pytest.raises(ValueError, match=r"empty or overlaps|out of range"):
        write_srt([SubtitleCue(start, end, (SubtitleLine("x"),))])


def test_overlapping_cues_are_rejected() -> None:
    with pytest.raises(ValueError, match="overlaps"):
        write_vtt([SubtitleCue(0, 2, (SubtitleLine("x"),)), SubtitleCue(1.5, 3, (SubtitleLine("y"),))])


def test_the_longest_time_fits_both_formats() -> None:
    cue = SubtitleCue(359_998.0, 359_999.999, (SubtitleLine("x"),))
    assert "99:59:58,000 --> 99:59:59,999" in write_srt([cue])
    assert vtt_text("a<b") == "a&lt;b"
