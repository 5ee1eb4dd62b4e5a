"""The extractive writer: conformance suite and quality of its texts."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.errors import EngineError
from cutroom.engines.writing.extractive.templates import templates
from cutroom.engines.writing.extractive.writer import ExtractiveWriter
from cutroom.engines.writing.groundedness import collect_evidence, unsupported_claims
from cutroom.engines.writing.port import TITLE_CHARACTERS, DescriptionKind, TitleStyle, WritingInput
from cutroom.text.sentences import SpokenSegment
from tests.engines.writing.writer_suite import WriterSuite, write_all
from tests.support.talks import TEXTS, talk

FILLERS = re.compile(r"\b(?:um|uh|you know)\b", re.IGNORECASE)


@pytest.fixture
def writer() -> ExtractiveWriter:
    return ExtractiveWriter()


class TestExtractiveWriter(WriterSuite):
    """The conformance suite."""


@pytest.mark.parametrize("language", TEXTS)
def test_five_styles_give_five_titles(writer: ExtractiveWriter, language: str) -> None:
    titles = {writer.title(talk(language), style=style).text for style in TitleStyle}
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
def test_titles_quote_the_transcript(writer: ExtractiveWriter, language: str, style: TitleStyle, title: str) -> None:
    assert writer.title(talk(language), style=style).text == title


def test_announced_explanation_becomes_the_title(writer: ExtractiveWriter) -> None:
    texts = ["Today, I want to show you how a rocket leaves the ground and who flies with it.", *TEXTS["en"][1:]]
    title = writer.title(talk(texts=texts), style=TitleStyle.INFORMATIONAL).text
    assert title == "How a rocket leaves the ground and who flies with it"


def test_titles_do_not_end_with_a_function_word(writer: ExtractiveWriter) -> None:
    long = "Today I want to show you how to build a small but comfortable house for the birds of the park and the"
    for style in TitleStyle:
        title = writer.title(talk(texts=[f"{long} garden.", *TEXTS["en"][1:]]), style=style).text
        assert not re.search(r"\b(?:and|the|of|for|but|a)[”…]?$", title)


def test_texts_contain_no_fillers(writer: ExtractiveWriter) -> None:
    for written in write_all(writer, talk()):
        assert not FILLERS.search(written.text)


def test_steps_are_numbered_in_order(writer: ExtractiveWriter) -> None:
    lines = writer.description(talk(), kind=DescriptionKind.HOW_TO_GUIDE).text.splitlines()
    assert [line for line in lines if line[:1].isdigit()] == [
        "1. Cut the broken part out with a sharp knife.",
        "2. Push the copper pipe into both ends of the garden hose.",
        "3. Tighten two clamps around the copper pipe.",
        "4. Never use tape, it is dangerous near the pump.",
    ]


@pytest.mark.parametrize(("language", "message"), [("es", "no da instrucciones"), ("de", "keine Anleitung")])
def test_guide_without_steps_says_so(writer: ExtractiveWriter, language: str, message: str) -> None:
    assert message in writer.description(talk(language), kind=DescriptionKind.HOW_TO_GUIDE).text


def test_japanese_steps_are_found(writer: ExtractiveWriter) -> None:
    text = writer.description(talk("ja"), kind=DescriptionKind.HOW_TO_GUIDE).text
    assert "2. 次に、生地を足で踏んでください。" in text


def chaptered(minutes: int) -> WritingInput:
    """A long video about three topics."""
    topics = (
        "The bakery opens early and the baker lights the oven with dry wood.",
        "The river floods in spring and the ferry stops until the water sinks.",
        "The museum shows old clocks and every clock tells another time.",
    )
    segments, at = [], 0.0
    each = minutes * 60 / (len(topics) * 6)
    for topic in topics:
        for _ in range(6):
            segments.append(SpokenSegment(topic, at, at + each - 1.0, "speaker_1"))
            at += each
    return WritingInput("en", tuple(segments), at)


def chapter_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if re.match(r"\d+:\d\d ", line)]


def test_chapters_start_at_zero_and_at_sentence_starts(writer: ExtractiveWriter) -> None:
    source = chaptered(6)
    lines = chapter_lines(writer.description(source, kind=DescriptionKind.YOUTUBE_DESCRIPTION).text)
    times = [int(minutes) * 60 + int(seconds) for minutes, seconds in (line.split()[0].split(":") for line in lines)]
    assert len(lines) >= 3
    assert times[0] == 0
    assert all(later - earlier >= 10 for earlier, later in zip(times, [*times[1:], 360], strict=True))
    assert set(times) <= {0, *(int(each.start_seconds) for each in source.segments)}
    assert len({line.split(" ", 1)[1] for line in lines}) == len(lines)


def test_short_video_has_no_chapters(writer: ExtractiveWriter) -> None:
    assert chapter_lines(writer.description(talk(), kind=DescriptionKind.YOUTUBE_DESCRIPTION).text) == []


def test_summary_has_three_to_five_sentences(writer: ExtractiveWriter) -> None:
    text = writer.description(talk(), kind=DescriptionKind.VIDEO_SUMMARY).text
    assert 3 <= len(re.findall(r"[.!?](?:\s|$)", text)) <= 5


def test_names_use_the_spelling_of_the_brand_voice(writer: ExtractiveWriter) -> None:
    texts = ["The gardenpro hose never leaks.", "Every gardenpro hose comes with a copper clamp.", *TEXTS["en"][1:4]]
    source = talk(texts=texts, guidelines='Write it "GardenPro".')
    text = writer.description(source, kind=DescriptionKind.VIDEO_SUMMARY).text
    assert "GardenPro hose" in text
    assert "gardenpro" not in text


def test_emoji_are_used_only_if_requested(writer: ExtractiveWriter) -> None:
    kind = DescriptionKind.SOCIAL_POST
    assert "\U0001f3ac" in writer.description(talk(guidelines="Use emoji."), kind=kind).text
    assert "\U0001f3ac" not in writer.description(talk(), kind=kind).text
    assert "\U0001f3ac" not in writer.description(talk(guidelines="No emoji."), kind=kind).text


def test_brand_voice_that_bans_everything_is_rejected(writer: ExtractiveWriter) -> None:
    with pytest.raises(EngineError, match="brand voice"):
        writer.title(talk(texts=["Boats sail on the lake today."], guidelines="Avoid boats."), style=TitleStyle.SCARY)


_ANY = """the a boat 17 three hundred and fifty Lisbon river never um like you know cut it is dangerous why nobody of in
1,500 second Maria ! ? , to how show we"""
_WORDS = st.sampled_from(_ANY.split())


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(_WORDS, min_size=3, max_size=14).map(" ".join), min_size=2, max_size=8))
def test_titles_from_random_words_are_supported(texts: list[str]) -> None:
    source = talk(texts=[f"{text}." for text in texts])
    evidence, own = collect_evidence(source), templates("en").words
    try:
        titles = [ExtractiveWriter().title(source, style=style).text for style in TitleStyle]
    except EngineError:
        return
    for title in titles:
        assert len(title) <= TITLE_CHARACTERS
        assert unsupported_claims(title, evidence, ignoring=own) == []
