"""The writer that works by rules: the suite of its port, and what a reader would notice."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.errors import EngineError
from cutroom.engines.writing.extractive.templates import templates
from cutroom.engines.writing.extractive.writer import ExtractiveWriter
from cutroom.engines.writing.groundedness import grounds_of, unsupported_claims
from cutroom.engines.writing.port import TITLE_CHARACTERS, DescriptionKind, SpokenSegment, TitleStyle, WritingInput
from tests.engines.writing.writer_suite import WriterSuite, all_of
from tests.support.talks import TEXTS, film

FILLERS = re.compile(r"\b(?:um|uh|you know)\b", re.IGNORECASE)


@pytest.fixture
def writer() -> ExtractiveWriter:
    return ExtractiveWriter()


class TestExtractiveWriter(WriterSuite):
    """The conformance suite."""


@pytest.mark.parametrize("language", TEXTS)
def test_five_styles_give_five_titles(writer: ExtractiveWriter, language: str) -> None:
    titles = {writer.title(film(language), style=style).text for style in TitleStyle}
    assert len(titles) == len(TitleStyle)


@pytest.mark.parametrize(
    ("language", "style", "title"),
    [
        ("en", TitleStyle.INFORMATIONAL, "How to repair a garden hose with a short piece of copper pipe"),
        ("en", TitleStyle.SCARY, "Be warned: “Never use tape, it is dangerous near the pump”"),
        ("pt", TitleStyle.INFORMATIONAL, "Como plantar tomates numa varanda pequena"),
        ("pt", TitleStyle.SCARY, "Fique avisado: “O vento da tarde mata as flores”"),
        ("es", TitleStyle.INFORMATIONAL, "El molino de viento de Alcolea"),
        ("de", TitleStyle.MYSTERIOUS, "„Warum kommt kein Zug mehr in den Bahnhof?“"),
    ],
)
def test_titles_are_those_that_were_spoken(
    writer: ExtractiveWriter, language: str, style: TitleStyle, title: str
) -> None:
    assert writer.title(film(language), style=style).text == title


def test_what_is_shown_of_a_thing_is_the_title_too(writer: ExtractiveWriter) -> None:
    texts = ["Today, I want to show you how a rocket leaves the ground and who flies with it.", *TEXTS["en"][1:]]
    title = writer.title(film(texts=texts), style=TitleStyle.INFORMATIONAL).text
    assert title == "How a rocket leaves the ground and who flies with it"


def test_no_title_ends_in_the_middle(writer: ExtractiveWriter) -> None:
    long = "Today I want to show you how to build a small but comfortable house for the birds of the park and the"
    for style in TitleStyle:
        title = writer.title(film(texts=[f"{long} garden.", *TEXTS["en"][1:]]), style=style).text
        assert not re.search(r"\b(?:and|the|of|for|but|a)[”…]?$", title)


def test_fillers_are_in_no_text(writer: ExtractiveWriter) -> None:
    for written in all_of(writer, film()):
        assert not FILLERS.search(written.text)


def test_steps_are_numbered_in_their_order(writer: ExtractiveWriter) -> None:
    lines = writer.description(film(), kind=DescriptionKind.HOW_TO_GUIDE).text.splitlines()
    assert [line for line in lines if line[:1].isdigit()] == [
        "1. Cut the broken part out with a sharp knife.",
        "2. Push the copper pipe into both ends of the garden hose.",
        "3. Tighten two clamps around the copper pipe.",
        "4. Never use tape, it is dangerous near the pump.",
    ]


@pytest.mark.parametrize(("language", "told"), [("es", "no da instrucciones"), ("de", "keine Anleitung")])
def test_a_film_without_steps_says_so(writer: ExtractiveWriter, language: str, told: str) -> None:
    assert told in writer.description(film(language), kind=DescriptionKind.HOW_TO_GUIDE).text


def test_japanese_steps_are_found(writer: ExtractiveWriter) -> None:
    text = writer.description(film("ja"), kind=DescriptionKind.HOW_TO_GUIDE).text
    assert "2. 次に、生地を足で踏んでください。" in text


def chaptered(minutes: int) -> WritingInput:
    """A long film of three topics."""
    topics = (
        "The bakery opens early and the baker lights the oven with dry wood.",
        "The river floods in spring and the ferry stops until the water sinks.",
        "The museum shows old clocks and every clock tells another time.",
    )
    said, at = [], 0.0
    each = minutes * 60 / (len(topics) * 6)
    for topic in topics:
        for _ in range(6):
            said.append(SpokenSegment(topic, at, at + each - 1.0, "speaker_1"))
            at += each
    return WritingInput("en", tuple(said), at)


def chapter_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if re.match(r"\d+:\d\d ", line)]


def test_chapters_begin_at_zero_and_at_real_times(writer: ExtractiveWriter) -> None:
    material = chaptered(6)
    lines = chapter_lines(writer.description(material, kind=DescriptionKind.YOUTUBE_DESCRIPTION).text)
    times = [int(minutes) * 60 + int(seconds) for minutes, seconds in (line.split()[0].split(":") for line in lines)]
    assert len(lines) >= 3
    assert times[0] == 0
    assert all(later - earlier >= 10 for earlier, later in zip(times, [*times[1:], 360], strict=True))
    assert set(times) <= {0, *(int(each.start_seconds) for each in material.said)}
    assert len({line.split(" ", 1)[1] for line in lines}) == len(lines)


def test_a_short_film_has_no_chapters(writer: ExtractiveWriter) -> None:
    assert chapter_lines(writer.description(film(), kind=DescriptionKind.YOUTUBE_DESCRIPTION).text) == []


def test_a_summary_is_three_to_five_sentences(writer: ExtractiveWriter) -> None:
    text = writer.description(film(), kind=DescriptionKind.VIDEO_SUMMARY).text
    assert 3 <= len(re.findall(r"[.!?](?:\s|$)", text)) <= 5


def test_names_are_spelled_as_the_brand_voice_spells_them(writer: ExtractiveWriter) -> None:
    texts = ["The gardenpro hose never leaks.", "Every gardenpro hose comes with a copper clamp.", *TEXTS["en"][1:4]]
    material = film(texts=texts, guidelines='Write it "GardenPro".')
    text = writer.description(material, kind=DescriptionKind.VIDEO_SUMMARY).text
    assert "GardenPro hose" in text
    assert "gardenpro" not in text


def test_emoji_come_only_where_they_are_wanted(writer: ExtractiveWriter) -> None:
    kind = DescriptionKind.SOCIAL_POST
    assert "\U0001f3ac" in writer.description(film(guidelines="Use emoji."), kind=kind).text
    assert "\U0001f3ac" not in writer.description(film(), kind=kind).text
    assert "\U0001f3ac" not in writer.description(film(guidelines="No emoji."), kind=kind).text


def test_a_brand_voice_that_bans_everything_is_told(writer: ExtractiveWriter) -> None:
    with pytest.raises(EngineError, match="brand voice"):
        writer.title(film(texts=["Boats sail on the lake today."], guidelines="Avoid boats."), style=TitleStyle.SCARY)


_ANY = """the a boat 17 three hundred and fifty Lisbon river never um like you know cut it is dangerous why nobody of in
1,500 second Maria ! ? , to how show we"""
_WORDS = st.sampled_from(_ANY.split())


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(_WORDS, min_size=3, max_size=14).map(" ".join), min_size=2, max_size=8))
def test_nothing_is_made_up_of_any_words(texts: list[str]) -> None:
    material = film(texts=[f"{text}." for text in texts])
    grounds, own = grounds_of(material), templates("en").words
    try:
        titles = [ExtractiveWriter().title(material, style=style).text for style in TitleStyle]
    except EngineError:
        return
    for title in titles:
        assert len(title) <= TITLE_CHARACTERS
        assert unsupported_claims(title, grounds, but=own) == []
