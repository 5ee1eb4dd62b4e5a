"""Tests for where a moment may start and end."""

from collections.abc import Sequence

import pytest

from cutroom.products.shorts.moments.analysis import analyze_talk
from cutroom.products.shorts.moments.coherence import Coherence, analyze_coherence
from cutroom.products.shorts.moments.selection import choose_promo, choose_shorts
from cutroom.products.shorts.moments.talk import Talk, TalkSentence
from cutroom.text.discourse import SentenceDiscourse, is_strong_statement
from cutroom.text.vocabulary import stems

CHARACTERS_PER_SECOND = 15
PAUSE_SECONDS = 0.4


def timed(lines: Sequence[tuple[str, str]]) -> list[TalkSentence]:
    """Sentences of (speaker, text), one after the other."""
    result, position = [], 0.5
    for speaker, text in lines:
        end = position + len(text) / CHARACTERS_PER_SECOND
        result.append(TalkSentence(text, position, end, speaker))
        position = end + PAUSE_SECONDS
    return result


def coherence(lines: Sequence[tuple[str, str]], *, language: str = "en") -> Coherence:
    sentences = timed(lines)
    return analyze_coherence(
        sentences,
        [stems(each.text, language=language) for each in sentences],
        is_question=[each.text.endswith("?") for each in sentences],
        language=language,
    )


def monologue(*texts: str) -> list[tuple[str, str]]:
    return [("a", text) for text in texts]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("But the harbor froze anyway.", "en"),
        ("Because nobody had asked the captain.", "en"),
        ("It's a copy of the old bridge.", "en"),
        ("Those walls were never finished.", "en"),
        ("Why did he leave the harbor?", "en"),
        ("When they reach the coast, the boats are full.", "en"),
        ("In 1904, he bought a second ship.", "en"),
        ("A small boy had thrown it in.", "en"),
        ("Could you send me a new one?", "en"),
        ("You missed one yourself in the final.", "en"),
        ("Nobody had paid for that ship.", "en"),
        ("Next, tighten the bolt by hand.", "en"),
        ("The other half moved to the coast.", "en"),
        ("Dams are also to blame.", "en"),
        ("In the end, the captain sold the ship.", "en"),
        ("Mas o capitão vendeu o barco.", "pt"),
        ("Levou até o meu chapéu!", "pt"),
        ("Pero el capitán vendió el barco.", "es"),
    ],
)
def test_dependent_sentences(text: str, language: str) -> None:
    assert SentenceDiscourse(text, language=language).depends_on_previous


@pytest.mark.parametrize(
    "text",
    [
        "The harbor froze in January.",
        "How far do eels swim to spawn?",
        "The captain sold the ship because it leaked.",
        "A spring under the cup tells the machine when it is full.",
        "Schmidt knew that he needed a finer net.",
        "There is no shore around the Sargasso Sea.",
        "Who sold the ship to the captain?",
        "A woman took one look at the ship.",
        "The captain kept one of the old ships.",
    ],
)
def test_independent_sentences(text: str) -> None:
    assert not SentenceDiscourse(text, language="en", names=frozenset({"schmidt"})).depends_on_previous


def test_short_sentence_after_thanks_is_a_retort() -> None:
    lines = [
        ("a", "The captain sank a ship in the great harbor."),
        ("b", "Thanks for bringing that up."),
        ("b", "I'd almost stopped crying."),
        ("b", "The tide has turned, and the boats are coming home for the night."),
    ]
    assert coherence(lines).can_start[2:] == [False, False]
    assert coherence([lines[0], lines[3]]).can_start == [True, True]


def test_quoted_exchange_is_not_cut() -> None:
    lines = monologue(
        'The captain put the letter on the table, and "you read it," the captain told the cook.',
        '"My glasses are at home," said the cook to the captain of the ship.',
        "The harbor was quiet for the rest of the winter.",
    )
    assert coherence(lines).can_end == [False, True, True]


def test_articles_are_not_pronouns() -> None:
    assert not SentenceDiscourse("La casa estaba vacía en invierno.", language="es").depends_on_previous


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Good morning, everyone.", True),
        ("I'm Grace Okafor, and we have a guest.", True),
        ("I'm tired of broken taps.", False),
        ("Please read the first part for next week.", True),
        ("Don't forget to subscribe.", True),
        ("Thanks for being brave, Daniel.", True),
        ("The next bridge is longer.", False),
    ],
)
def test_courtesies(text: str, expected: bool) -> None:  # noqa: FBT001 (a table of cases)
    assert SentenceDiscourse(text, language="en").is_courtesy is expected


@pytest.mark.parametrize(
    ("text", "expected"), [("Nobody has seen it.", True), ("It took 18 years.", True), ("We walked home.", False)]
)
def test_strong_statements(text: str, expected: bool) -> None:  # noqa: FBT001 (a table of cases)
    assert is_strong_statement(text, language="en") is expected


def test_answer_is_not_separated_from_its_question() -> None:
    lines = [
        ("host", "What did the bakery lose when the cinema closed?"),
        ("guest", "About 40 percent of my evenings."),
        ("guest", "People used to smell the bread and walk right in."),
        ("host", "The city wants a parking lot on the corner instead of seats."),
    ]
    found = coherence(lines)
    assert found.can_start == [True, False, False, True]
    assert found.can_end == [False, False, True, True]


def test_answer_after_an_added_sentence_is_not_separated() -> None:
    lines = [
        ("a", "Can you send a cable by courier?"),
        ("a", "The old cable went missing on Friday."),
        ("b", "A courier leaves our store at noon every day."),
    ]
    found = coherence(lines)
    assert found.can_end == [False, False, True]
    assert not found.can_start[2]


def test_punch_line_of_another_speaker_is_kept() -> None:
    lines = [
        ("a", "We married in a blizzard, and the lights went out."),
        ("b", "Best dinner ever."),
        ("a", "The harbor opened again in spring, and the boats came back."),
    ]
    assert coherence(lines).can_end == [False, True, True]


def test_retort_does_not_start_a_moment() -> None:
    lines = [
        ("a", "People smell the bread and walk right in."),
        ("b", "I can vouch for the smell of bread on every single evening."),
    ]
    assert coherence(lines).can_start == [True, False]


def test_moment_does_not_end_before_a_turn() -> None:
    lines = monologue(
        "Every sailor feared the northern route.", "But one captain loved the ice.", "Maps were rare at sea."
    )
    assert coherence(lines).can_end == [False, True, True]


def test_closing_is_trimmed() -> None:
    lines = monologue(
        "Eels cross an ocean to spawn.", "Thank you all so much.", "The bar downstairs opens at nine tonight."
    )
    found = coherence(lines)
    assert found.can_end == [True, False, False]
    assert found.can_start == [True, False, False]


def test_acknowledgment_may_follow_a_moment() -> None:
    lines = [
        ("a", "A day without the news never killed a single sailor."),
        ("b", "Fair enough."),
        ("b", "Is there a lighthouse on the island?"),
    ]
    found = coherence(lines)
    assert found.can_end[0]
    assert found.can_start == [True, False, True]


TALK_LINES = [
    ("host", "Welcome back, everybody."),
    ("host", "Hank, you were a boy when the cinema opened."),
    ("host", "What do you remember best?"),
    ("hank", "A blizzard in 1993."),
    ("hank", "Six people showed up, and one of them was a girl named June."),
    ("hank", "The power went out halfway through, so I told her the ending by flashlight."),
    ("lucia", "And he got the ending wrong!"),
    ("hank", "Nobody has complained since."),
    ("host", "Lucia, what did your bakery lose when the cinema went dark?"),
    ("lucia", "About 40 percent of my evenings."),
    ("lucia", "People used to come out of the movie, smell the bread, and walk right in."),
    ("hank", "I can vouch for the smell."),
    ("host", "And on that note, let's take a short break."),
]


def test_shorts_are_whole_exchanges() -> None:
    sentences = timed(TALK_LINES)
    talk = Talk(sentences, (), sentences[-1].end_seconds + 1, "en")
    moments = choose_shorts(talk, count=3, min_seconds=12, max_seconds=40)
    assert sorted(moment.sentence_range for moment in moments) == [(1, 8), (8, 12)]


def test_promo_is_filled_if_whole_thoughts_are_too_few() -> None:
    sentences = timed(
        [("a", "The harbor froze in January of that year.")]
        + [("a", f"And boat {number} was late again for the market in town.") for number in range(40)]
    )
    talk = Talk(sentences, (), sentences[-1].end_seconds + 1, "en")
    assert 45 <= sum(moment.seconds for moment in choose_promo(talk)) <= 60


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The lake behind our village is calm in summer.", 0.4),
        ("Nobody survived a winter on the lake.", 0.8),
        ("Only 12 houses stood on the shore.", 0.8),
        ("The shore of the lake was empty for a long time, and the village had 12 houses.", 0.4),
        ("Who built the village on the lake?", 1.0),
        ("And so the village was empty.", -0.7),
    ],
)
def test_hook_within_three_seconds_raises_the_score_of_an_opening(text: str, expected: float) -> None:
    sentences = timed(monologue(text, "Fishermen carried wood over the ice."))
    analysis = analyze_talk(Talk(sentences, (), sentences[-1].end_seconds + 1, "en"), prompt=None)
    assert analysis.opening[0] == expected
