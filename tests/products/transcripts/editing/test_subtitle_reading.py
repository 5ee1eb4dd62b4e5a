"""Subtitle files of other tools: what is read of them, what independent readers say, and hostile files."""

import time

import pysubs2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.media.subtitles import SubtitleCue, SubtitleLine, write_srt, write_vtt
from cutroom.products.transcripts.editing.read_cues import MAX_CUES, MalformedSubtitlesError, ReadCue
from cutroom.products.transcripts.editing.subtitle_reading import SubtitleFormat, read_subtitles
from cutroom.products.transcripts.editing.ttml_reading import MAX_DEPTH

SRT, VTT, TTML = SubtitleFormat.SRT, SubtitleFormat.VTT, SubtitleFormat.TTML
HEAD = '<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter"'


def spoken(content: str, format_: SubtitleFormat) -> list[str]:
    return [cue.text for cue in read_subtitles(content, format_)]


def test_srt_of_other_tools() -> None:
    content = (
        "\ufeff1\r\n00:00:01,000 --> 00:00:02,500 X1:40 X2:600\r\n<i>Shall we</i>\r\n{\\an8}begin?\r\n\r\n"
        '2\r\n0:00:03.5 --> 0:00:04.250\r\n- No.\r\n- <font color="#fff">Yes &amp; no.</font>\r\n'
        "3\r\n00:01:00,000 --> 01:00:00,000\r\n7\r\n"
    )
    assert read_subtitles(content, SRT) == [
        ReadCue(1.0, 2.5, "Shall we begin?"),
        ReadCue(3.5, 4.25, "No. Yes & no."),
        ReadCue(60.0, 3600.0, "7"),
    ]


def test_webvtt_names_its_speakers() -> None:
    content = (
        "WEBVTT - a talk\n\nSTYLE\n::cue { color: red }\n\nNOTE\nnothing\n\nintro\n"
        "00:01.000 --> 00:03.000 align:start position:10%\n<v.loud Ada>Shall <c.yellow>we</c> <00:02.000>begin?</v>\n"
        "<v Bob &amp; Co>No.\n\n01:00:00.000 --> 01:00:01.000\nAt &lt;once&gt;.\n"
    )
    cues = read_subtitles(content, VTT)
    assert [(cue.text, cue.speaker) for cue in cues] == [
        ("Shall we begin?", "Ada"),
        ("No.", "Bob & Co"),
        ("At <once>.", None),
    ]
    assert (cues[0].start_seconds, cues[0].end_seconds, cues[1].end_seconds) == (1.0, cues[1].start_seconds, 3.0)


def test_ttml_with_nested_times() -> None:
    content = (
        f'<?xml version="1.0" encoding="UTF-16"?>{HEAD} ttp:frameRate="25" ttp:tickRate="1000">'
        '<head><metadata>not spoken</metadata></head><body begin="10s"><div>'
        '<p begin="00:00:01.5" end="00:00:02:05">Shall <span>we</span><br/>begin?</p>'
        '<p begin="3000t" dur="12f">No.</p><p begin="1m" end="61s"/></div></body></tt>'
    )
    assert read_subtitles(content, TTML) == [ReadCue(11.5, 12.2, "Shall we begin?"), ReadCue(13.0, 13.48, "No.")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[applause]", ""),
        ("♪ la la la ♪", ""),
        ("(laughs)", ""),
        ("Well (in fact) [sighs] yes.", "Well (in fact) yes."),
        ("#1 is in [brackets.", "#1 is in [brackets."),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
    ],
)
def test_sounds_are_left_out(text: str, said: str) -> None:
    content = f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n\n2\n00:00:03,000 --> 00:00:04,000\nEnd.\n"
    assert spoken(content, SRT) == [*([said] if said else []), "End."]


@pytest.mark.parametrize(
    ("format_", "content"),
    [
        (SRT, "nothing"),
        (SRT, "1\n00:00:05,000 --> 00:00:04,000\nBack.\n"),
        (SRT, "1\n00:00:05 --> 00:00:06\nNo fraction.\n"),
        (SRT, "1\n999:00:05,000 --> 999:00:06,000\nLate.\n"),
        (VTT, "1\n00:00:05.000 --> 00:00:06.000\nNo header.\n"),
        (TTML, "<tt>"),
        (TTML, "<html><p>x</p></html>"),
        (TTML, '<!DOCTYPE tt [<!ENTITY a "b">]><tt><body><p begin="0s" end="1s">&a;</p></body></tt>'),
        (TTML, '<!DOCTYPE tt SYSTEM "file:///etc/passwd"><tt/>'),
        (TTML, f'{HEAD}><body><p begin="0s" end="wallclock(1)">x</p></body></tt>'),
        (TTML, f'{HEAD} ttp:frameRate="0"><body><p begin="0s" end="1s">x</p></body></tt>'),
        (TTML, f'{HEAD}><body><p begin="0s">Without an end.</p></body></tt>'),
        (TTML, f"{HEAD}>{'<div>' * MAX_DEPTH}"),
        (TTML, '<tt><body><p begin="0s" end="1s">\ud800</p>'),
    ],
)
def test_malformed_files_are_errors(format_: SubtitleFormat, content: str) -> None:
    with pytest.raises(MalformedSubtitlesError):
        read_subtitles(content, format_)


def test_too_many_cues() -> None:
    with pytest.raises(MalformedSubtitlesError, match=r"At most"):
        read_subtitles("00:01.000 --> 00:02.000\na\n\n" * (MAX_CUES + 1), SRT)


@pytest.mark.parametrize(
    "line",
    [
        "<v" + " " * 500_000,
        "♪" * 500_000,
        "[" * 500_000,
        "<a" * 250_000,
        "{\\" * 250_000,
        "00:00:01" * 60_000,
        "<v A>" * 100_000,
    ],
    ids=["voice", "notes", "brackets", "tags", "overrides", "clocks", "voices"],
)
def test_lines_that_are_made_to_be_slow(line: str) -> None:
    before = time.process_time()
    read_subtitles(f"WEBVTT\n\n00:01.000 --> 00:02.000\n{line}\nEnd.\n", VTT)
    assert time.process_time() - before < 5


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="[]()♪♫"), min_size=1, max_size=30)


@given(st.lists(TEXT, min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_what_we_write_is_read_as_others_read_it(texts: list[str]) -> None:
    """SubRip as pysubs2 reads it, and WebVTT as SubRip."""
    cues = [SubtitleCue(at, at + 0.5, (SubtitleLine(text),)) for at, text in enumerate(texts)]
    content = write_srt(cues)
    others = [
        (event.start, event.end)
        for event in pysubs2.SSAFile.from_string(content, format_="srt", keep_unknown_html_tags=True)
        if event.plaintext.strip()
    ]
    try:
        ours = read_subtitles(content, SRT)
    except MalformedSubtitlesError:
        ours = []
    assert [(round(cue.start_seconds * 1000), round(cue.end_seconds * 1000)) for cue in ours] == [
        each for each in others if each[0] in {round(cue.start_seconds * 1000) for cue in ours}
    ]
    if ours:
        again = read_subtitles(write_vtt(cues), VTT)
        assert [cue.start_seconds for cue in again] == [cue.start_seconds for cue in ours]
