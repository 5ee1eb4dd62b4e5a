"""The extractive writer: conformance suite and quality of its texts."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.errors import EngineError
from cutroom.engines.writing.extractive.headings import headings
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


@pytest.mark.parametrize(
    ("language", "title"),
    [
        ("en", "How to repair a garden hose with a short piece of copper pipe"),
        ("pt", "Como plantar tomates numa varanda pequena"),
        ("es", "El molino de viento de Alcolea"),
        ("fr", "La cave à fromage du village"),
        ("it", "La bottega del liutaio Fausto"),
        ("ja", "手打ちうどんの作り方"),
    ],
)
def test_announced_subject_is_the_title_in_every_style(writer: ExtractiveWriter, language: str, title: str) -> None:
    assert {writer.title(talk(language), style=style).text for style in TitleStyle} == {title}


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Today we're fixing a tap that drips, and you won't need a plumber.", "Fixing a tap that drips"),
        ("In this video I'll show you how to bake a simple sourdough loaf.", "How to bake a simple sourdough loaf"),
        ("This week we're going to build a shelf from old pallets.", "Build a shelf from old pallets"),
        ("Today's subject is an animal that kept its life secret.", "An animal that kept its life secret"),
        ("For the next half hour we'll be arguing about the old cinema.", "Arguing about the old cinema"),
        ("Today I want to talk about the price of bread.", "The price of bread"),
    ],
)
def test_subject_is_recognized_however_it_is_announced(writer: ExtractiveWriter, said: str, title: str) -> None:
    assert writer.title(talk(texts=[said, *TEXTS["en"][1:]]), style=TitleStyle.FUNNY).text == title


def test_without_a_subject_the_title_is_a_whole_clause_in_quotation_marks(writer: ExtractiveWriter) -> None:
    texts = [
        "Thank you for calling, this is Peter.",
        "My internet has been down since last night, and I'm at the end of my rope.",
        "It keeps going on and off.",
        "Could you check the black cable?",
        "There is no black cable at all.",
    ]
    title = writer.title(talk(texts=texts), style=TitleStyle.CLICKBAIT)
    assert title.text == "“My internet has been down since last night”"
    assert len(title.alternatives) <= 2


@pytest.mark.parametrize(
    "texts",
    [
        ["It was there.", "They took it with them.", "He never gave it back to her."],
        ["Hello everyone, I'm Daniel Carter.", "Thank you for watching, see you next week."],
    ],
)
def test_title_of_the_video_is_kept_if_nothing_can_be_quoted(writer: ExtractiveWriter, texts: list[str]) -> None:
    source = replace(talk(texts=texts), title="Harbor tour")
    title = writer.title(source, style=TitleStyle.SCARY)
    assert title.text == "Harbor tour"
    assert title.note is not None


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
        "The museum shows old clocks and the clocks tell another time.",
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


def test_summary_has_the_announcement_and_quoted_passages(writer: ExtractiveWriter) -> None:
    opening, *passages = writer.description(talk(), kind=DescriptionKind.VIDEO_SUMMARY).text.split("\n\n")
    assert opening == "Today I want to show you how to repair a garden hose with a short piece of copper pipe."
    assert passages
    assert all(each[1:-1] in " ".join(TEXTS["en"]) for each in passages)


def conversation(*turns: tuple[str, str]) -> WritingInput:
    """Turns of named speakers, ten seconds each."""
    segments = [SpokenSegment(text, 10.0 * at, 10.0 * at + 9, speaker) for at, (speaker, text) in enumerate(turns)]
    return WritingInput("en", tuple(segments), 10.0 * len(segments))


PANEL = conversation(
    ("grace", "I'm Grace Okafor, and for the next half hour we'll be arguing about the Marigold."),
    ("grace", "It's been closed since 2019, and the roof leaks. Should it stay or go?"),
    ("grace", "Daniel Brandt drafted the proposal for the Marigold and the land behind the stage. His reasons follow."),
    ("daniel", "I did check where the exits of the Marigold are before I came to the stage."),
    ("daniel", "The roof of the Marigold would cost the city more than a million dollars."),
    ("grace", "The Marigold sold 200 tickets on a good night."),
)


def test_description_opens_with_the_announcement_and_what_follows(writer: ExtractiveWriter) -> None:
    written = writer.description(PANEL, kind=DescriptionKind.YOUTUBE_DESCRIPTION)
    assert written.text.startswith(
        "For the next half hour we'll be arguing about the Marigold. "
        "It's been closed since 2019, and the roof leaks. Should it stay or go?\n\n"
    )
    assert written.alternatives[0].startswith("Arguing about the Marigold.\n\n“")
    assert len({written.text, *written.alternatives}) == 3


def test_without_an_announcement_a_description_opens_with_the_first_statement(writer: ExtractiveWriter) -> None:
    source = conversation(
        ("host", "Good evening, this is Tom. What did you do out there, Anna?"),
        ("host", "Some 40,000 people in Port Callan have no water tonight. A fault let it run into the sea."),
        ("anna", "The pumps of Port Callan stopped at noon, and the town waited for the engineers."),
        ("anna", "The engineers found the fault behind the old pumps of the harbor."),
    )
    text = writer.description(source, kind=DescriptionKind.VIDEO_SUMMARY).text
    opening = "“Some 40,000 people in Port Callan have no water tonight. A fault let it run into the sea.”"
    assert text.startswith(opening)


def test_passage_neither_answers_nor_ends_with_a_hanging_sentence(writer: ExtractiveWriter) -> None:
    for kind in (DescriptionKind.YOUTUBE_DESCRIPTION, DescriptionKind.VIDEO_SUMMARY, DescriptionKind.SOCIAL_POST):
        written = writer.description(PANEL, kind=kind)
        assert not any("exits" in text or "reasons" in text for text in (written.text, *written.alternatives))


def test_hashtags_are_names_of_the_introduction(writer: ExtractiveWriter) -> None:
    tags = writer.description(PANEL, kind=DescriptionKind.YOUTUBE_DESCRIPTION).text.splitlines()[-1]
    assert tags == "#Marigold"


def test_chapters_are_named_by_statements_about_the_topic(writer: ExtractiveWriter) -> None:
    replies = ["I checked the contract twice.", "You can see my left hand here.", "Nobody has complained since."]
    topics = ("The old harbor", "The new harbor", "The harbor master")
    turns = [("one", f"{topic} opens at nine. {reply}") for topic in topics for reply in replies]
    text = writer.description(conversation(*turns), kind=DescriptionKind.YOUTUBE_DESCRIPTION).text
    assert {line.split(" ", 1)[1] for line in chapter_lines(text)} <= {f"{topic} opens at nine" for topic in topics}


def test_passage_of_a_description_opens_without_a_pronoun(writer: ExtractiveWriter) -> None:
    texts = [
        "Today I want to talk about the private life of the eel.",
        "In his net were larvae, and he followed them for years.",
        "Johannes Schmidt set out with a small ship to look for young eels.",
        "He found them after 18 years.",
    ]
    text = writer.description(talk(texts=texts), kind=DescriptionKind.VIDEO_SUMMARY).text
    assert "In his net" not in text


def test_speech_without_a_passage_is_quoted_by_sentence(writer: ExtractiveWriter) -> None:
    texts = [
        "It was the best of times.",
        "It was the worst of times.",
        "It was the age of wisdom, it was the age of foolishness.",
        "It was the season of light.",
        "We had everything before us.",
    ]
    written = {kind: writer.description(talk(texts=texts), kind=kind).text for kind in DescriptionKind}
    assert len(set(written.values())) == len(DescriptionKind)
    assert "“" in written[DescriptionKind.VIDEO_SUMMARY]


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
    evidence, own = collect_evidence(source), headings("en").words
    try:
        titles = [ExtractiveWriter().title(source, style=style).text for style in TitleStyle]
    except EngineError:
        return
    for title in titles:
        assert len(title) <= TITLE_CHARACTERS
        assert unsupported_claims(title, evidence, ignoring=own) == []


def test_without_a_subject_the_headline_is_a_phrase_about_the_main_term(writer: ExtractiveWriter) -> None:
    texts = [
        "I walked out of the restaurant in somebody's coat.",
        "The coat was gray, and my coat was gray.",
        "A letter was in the coat, with a stamp from 1971.",
        "Weeks later a voice said that I had the wrong coat.",
        "The lining of the coat had been mended.",
    ]
    assert writer.headline(talk(texts=texts)).text == "The wrong coat"
