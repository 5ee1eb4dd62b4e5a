"""TTML files: what independent readers find in them, the rules of the profile, and hostile texts."""

from xml.etree import ElementTree as ET

import pysubs2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ttconv.imsc.reader import to_model  # type: ignore[import-untyped]
from ttconv.model import Br, ContentElement, P, Text  # type: ignore[import-untyped]

from cutroom.media.subtitle_formats.ttml import PROFILE, write_ttml
from cutroom.media.subtitle_formats.vtt_reading import read_written_vtt
from cutroom.media.subtitles import SubtitleCue, SubtitleLine, clean_text, write_vtt

TT = "{http://www.w3.org/ns/ttml}"
TTM, TTP, TTS = (f"{{http://www.w3.org/ns/ttml#{each}}}" for each in ("metadata", "parameter", "styling"))
XML = "{http://www.w3.org/XML/1998/namespace}"
# Vocabulary of the Text Profile, as far as we use it, with the elements that may be inside of each.
CONTENT = {
    "tt": {"head", "body"},
    "head": {"metadata", "styling", "layout"},
    "metadata": {"agent"},
    "agent": {"name"},
    "name": set(),
    "styling": {"style"},
    "style": set(),
    "layout": {"region"},
    "region": set(),
    "body": {"div"},
    "div": {"p"},
    "p": {"span", "br"},
    "span": {"span"},
    "br": set(),
}
HOSTILE = [
    "</span></p><p>out</p>",
    "<br/> & &amp; ]]> <!-- -->",
    "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'b'>]>&a;",
    '" onload="x" \'',
    "{\\an8}top \\N two --> 00:00:01,000",
    "a\u202egpj.exe\u202c b\u2067c\u2069\x00\x1b\ufffe\ud800",
    "two\n\nparts\r\nof\u2028one\u0085text",
    "- a dash",
    "[applause] (laughs) ♪ la ♪",
    "\U0001f600\u200d\U0001f525 e\u0301 שלום",
]


def cues_of(texts: list[str]) -> list[SubtitleCue]:
    return [SubtitleCue(at, at + 0.75, (SubtitleLine(text, "s1"),)) for at, text in enumerate(texts)]


def parsed(content: str) -> "ET.Element[str]":
    return ET.fromstring(content)  # noqa: S314 (our own file)


def shown(content: str) -> list[tuple[float, float, list[str]]]:
    """Times and lines as ttconv reads them."""
    document = to_model(ET.ElementTree(parsed(content)))
    found = []
    for paragraph in (each for each in document.get_body().dfs_iterator() if isinstance(each, P)):
        begin, end = paragraph.get_begin(), paragraph.get_end()
        found.append((float(begin or 0), float(end), "".join(map(text_of, paragraph.dfs_iterator())).split("\n")))
    return found


def text_of(element: ContentElement) -> str:
    if isinstance(element, Br):
        return "\n"
    return element.get_text() if isinstance(element, Text) else ""


def test_independent_readers_find_times_lines_and_the_language() -> None:
    lines = (SubtitleLine("Shall we begin?", "s1"), SubtitleLine("Yes & <no>.", "s2", dash=True))
    cues = [SubtitleCue(0.4, 2.9, lines), SubtitleCue(3725.5, 3726.25, (SubtitleLine("Late."),))]
    content = write_ttml(cues, language="pt-BR", names={"s1": "Ada <&> Co"})
    assert shown(content) == [
        (0.4, 2.9, ["Shall we begin?", "- Yes & <no>."]),
        (3725.5, 3726.25, ["Late."]),
    ]
    assert to_model(ET.ElementTree(parsed(content))).get_lang() == "pt-BR"
    other = pysubs2.SSAFile.from_string(content, format_="ttml")
    assert [(each.start, each.end) for each in other] == [(400, 2900), (3_725_500, 3_726_250)]
    root = parsed(content)
    assert [each.text for each in root.iter(f"{TTM}name")] == ["Ada <&> Co", "s2"]
    agents = {each.get(f"{XML}id") for each in root.iter(f"{TTM}agent")}
    used = [each.get(f"{TTM}agent") for each in root.iter(f"{TT}span") if each.get(f"{TTM}role") == "dialog"]
    assert used == ["agent1", "agent2", None]
    assert agents == {"agent1", "agent2"}


def test_every_file_follows_the_rules_of_the_profile() -> None:
    content = write_ttml(cues_of(HOSTILE), language="en", names={"s1": HOSTILE[0]})
    assert content.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    root = parsed(content)
    assert root.get(f"{TTP}contentProfiles") == PROFILE
    assert root.get(f"{TTP}timeBase") == "media"
    assert root.get(f"{XML}lang") == "en"
    styles = {each.get(f"{XML}id") for each in root.iter(f"{TT}style")}
    regions = {each.get(f"{XML}id") for each in root.iter(f"{TT}region")}
    for element in root.iter():
        assert {each.tag.rpartition("}")[2] for each in element} <= CONTENT[element.tag.rpartition("}")[2]]
        assert element.get("style") in {None, *styles}
        assert element.get("region") in {None, *regions}
        assert element.get(f"{TTS}unicodeBidi") in {None, "embed"}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_text(text: str) -> None:
    assert shown(write_ttml(cues_of([text]), language="en")) == [(0.0, 0.75, [clean_text(text)])]


def test_lines_from_right_to_left_are_embedded() -> None:
    content = write_ttml(cues_of(["שלום, world!", "hello"]), language="he")
    lines = [each for each in parsed(content).iter(f"{TT}span") if each.get("style")]
    assert [each.get(f"{TTS}direction") for each in lines] == ["rtl", None]


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)


@given(st.lists(TEXT, min_size=1, max_size=6), TEXT)
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_as_it_was_written(texts: list[str], name: str) -> None:
    content = write_ttml(cues_of(texts), language="en", names={"s1": name})
    expected = [(float(at), at + 0.75, [clean_text(text)]) for at, text in enumerate(texts) if clean_text(text)]
    assert shown(content) == expected


@given(st.lists(TEXT, min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_written_webvtt_is_read_back(texts: list[str]) -> None:
    """Files of other formats can be made of it later."""
    texts = [clean_text(text.replace("\u2060", "")) for text in texts]
    cues = [each for each in cues_of(texts) if each.lines[0].text and not each.lines[0].text.startswith("- ")]
    assert read_written_vtt(write_vtt(cues)) == cues
