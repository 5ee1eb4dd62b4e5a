"""Cues keep every rule or say why not, and lose no word."""

# ruff: noqa: E501, RUF001 (wide characters, and marks of many scripts)

import random
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.media.subtitles import Cue, Line, clean_text
from cutroom.products.transcripts.cue_rules import Rule, rules_for, violations
from cutroom.products.transcripts.cue_timing import spread
from cutroom.products.transcripts.cues import Subtitles, make_cues
from cutroom.products.transcripts.grammar import Joint, joints
from cutroom.products.transcripts.scripts import columns, parts_of
from cutroom.products.transcripts.sentences import Segment, segments

EN = rules_for("en")


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    start_seconds: float
    end_seconds: float


def say(text: str, *, start: float = 0.0, rate: float = 2.6, pause: float = 0.3) -> tuple[Said, ...]:
    """Words at an even pace, with a pause after each mark."""
    words = []
    for word in text.split():
        words.append(Said(word, start, start + 1 / rate))
        start += 1 / rate + (pause if word[-1] in ".,;:?!" else 0.0)
    return tuple(words)


def segment(text: str, *, start: float = 0.0, rate: float = 2.6, speaker: str = "A", deleted: bool = False) -> Segment:
    words = say(text, start=start, rate=rate)
    return Segment(words[0].start_seconds, words[-1].end_seconds, speaker, text, words, deleted=deleted)


def shown(made: Subtitles) -> list[list[str]]:
    return [[line.shown for line in cue.lines] for cue in made.cues]


def unexcused(made: Subtitles, rules_language: str, parts: list[Segment], *, frame_rate: float = 25.0) -> list[object]:
    excused = {(excuse.cue, excuse.rule) for excuse in made.excuses}
    found = violations(made.cues, rules_for(rules_language, frame_rate=frame_rate), segments=parts)
    return [each for each in found if (each.cue, each.rule) not in excused]


TALK = (
    "So today I want to show you how we built this thing, and why it took so much longer than anybody expected. "
    "Back in 2019 we had three people, one server and about 40 customers. Dr. Maria Lopez, who ran the lab at the "
    "time, told me that we would need at least 25 million dollars to get anywhere. She was right, of course. What we "
    "did have was time. We sat down every morning at 9 a.m. and asked the same question: what is the smallest thing "
    "that we can ship before lunch? When John Smith joined us from the U.S. office, he brought a rule with him."
)


def uneven(text: str, count: int, *, rate: float, seed: int) -> list[Said]:
    """So many words as a person says them: long words take longer, marks are heard, and the pace changes."""
    rng = random.Random(seed)
    texts = (text.split() * (count // len(text.split()) + 1))[:count]
    mean = sum(len(word) + 2 for word in texts) / count
    words, now = [], 0.4
    for word in texts:
        duration = (len(word) + 2) / mean / rate * rng.uniform(0.75, 1.25)
        words.append(Said(word, round(now, 2), round(now + duration, 2)))
        now += duration + {".": 0.5, "?": 0.5, ",": 0.2, ":": 0.2}.get(word[-1], 0.0) * rng.uniform(0.7, 1.5)
    return words


@pytest.mark.parametrize("rate", [2.3, 2.7, 3.1, 3.5])
def test_speech_at_a_normal_pace_needs_hardly_an_excuse(rate: float) -> None:
    parts = segments(uneven(TALK, 1000, rate=rate, seed=7), lambda _: "A", language="en")
    made = make_cues(parts, EN)
    assert len(made.excuses) <= 0.02 * len(made.cues)
    assert unexcused(made, "en", parts) == []


def test_lines_break_where_the_sentence_does() -> None:
    made = make_cues(segments(uneven(TALK, 105, rate=2.9, seed=1), lambda _: "A", language="en"), EN)
    assert shown(made)[:4] == [
        ["So today I want", "to show you how we built this thing,"],
        ["and why it took so much longer", "than anybody expected."],
        ["Back in 2019 we had three people,", "one server and about 40 customers."],
        ["Dr. Maria Lopez,", "who ran the lab at the time,"],
    ]


def runs_on(cue: Cue) -> bool:
    """Whether it holds the end of one sentence and stops within the next."""
    text = " ".join(line.text for line in cue.lines)
    return text[-1] not in ".?" and any(mark in text for mark in (". ", "? "))


PRESS = "Press one to call back the person who left this message, or press two to hear the date and the time again."
SHOW = "I want to show you how we built this thing, and why it took so much longer than anybody expected."


@pytest.mark.parametrize(
    ("after", "rate", "pause"),
    [(SHOW, 2.8, 0.4), (SHOW, 3.6, 0.4), (PRESS, 3.6, 0.4), (PRESS, 3.7, 1.1), (PRESS, 3.8, 1.3)],
)
def test_a_cue_ends_with_its_sentence_where_that_breaks_no_rule(after: str, rate: float, pause: float) -> None:
    first = segment("She was right, of course.", rate=rate)
    made = make_cues([first, segment(after, start=first.end_seconds + pause, rate=rate)], EN)
    assert shown(made)[0] == ["She was right, of course."]
    assert made.excuses == ()


def test_what_is_much_too_fast_borrows_time_from_the_sentence_before() -> None:
    first = segment("She was right, of course.", rate=2.0)
    made = make_cues([first, segment(PRESS, start=first.end_seconds + 0.1, rate=5.2)], EN)
    assert runs_on(made.cues[0])


@pytest.mark.parametrize("rate", [2.3, 2.7, 3.1])
def test_few_cues_of_speech_at_a_normal_pace_run_on_into_the_next_sentence(rate: float) -> None:
    talk = TALK.replace("Dr. ", "").replace("a.m. ", "").replace("U.S. ", "")
    made = make_cues(segments(uneven(talk, 1000, rate=rate, seed=7), lambda _: "A", language="en"), EN)
    assert sum(map(runs_on, made.cues)) <= 0.02 * len(made.cues)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "the house"),
        ("en", "John Smith"),
        ("en", "Mr. Smith"),
        ("en", "J. Smith"),
        ("en", "has gone"),
        ("en", "didn't go"),
        ("en", "25 kilometres"),
        ("en", "five million"),
        ("pt", "uma casa"),
        ("pt", "da Silva"),
        ("pt", "está chovendo"),
        ("es", "los niños"),
        ("es", "ha llegado"),
        ("fr", "la maison"),
        ("fr", "n'est pas"),
        ("fr", "vraiment ?"),
        ("de", "der Hund"),
        ("de", "Angela Merkel"),
        ("it", "della casa"),
        ("it", "hanno visto"),
        ("sv", "Astrid Lindgren"),
        ("sv", "40 kilometer"),
    ],
)
def test_words_that_belong_together_are_never_parted(language: str, text: str) -> None:
    assert joints(text.split(), glued=[False, False], language=language) == [Joint.NEVER]


@pytest.mark.parametrize(
    ("language", "text", "joint"),
    [
        ("en", "over. Then", Joint.SENTENCE),
        ("en", "sir. Thank", Joint.SENTENCE),
        ("en", "over, then", Joint.CLAUSE),
        ("en", "went because", Joint.PHRASE),
        ("en", "went to", Joint.PHRASE),
        ("en", "went quickly", Joint.PLAIN),
        ("en", "to London", Joint.TIGHT),
        ("en", "U.S. office", Joint.PLAIN),
        ("pt", "saiu porque", Joint.PHRASE),
        ("de", "ging weil", Joint.PHRASE),
    ],
)
def test_some_places_to_part_are_better_than_others(language: str, text: str, joint: Joint) -> None:
    assert joints(text.split(), glued=[False, False], language=language) == [joint]


def test_equal_breaks_leave_the_bottom_line_longer() -> None:
    made = make_cues([segment("aaaaaaaa bbbbbbbb cccccccc dddddddd eeeeeeee")], rules_for("xx"))
    assert shown(made) == [["aaaaaaaa bbbbbbbb", "cccccccc dddddddd eeeeeeee"]]


def test_short_turns_share_a_cue_with_a_dash_each() -> None:
    parts = [segment("Are you there?", speaker="A", rate=5), segment("Yes.", start=0.7, speaker="B", rate=5)]
    after = segment("Wonderful programmes always start with someone saying yes.", start=1.4, speaker="A")
    made = make_cues([*parts, after], EN)
    assert shown(made)[0] == ["- Are you there?", "- Yes."]
    assert shown(made)[1][0].startswith("- Wonderful")
    assert made.excuses == ()


def test_long_turns_have_cues_of_their_own_and_the_change_is_marked() -> None:
    first = segment("I have been waiting here for you since ten o'clock this morning.", speaker="A")
    second = segment("The train stood in a field for three hours and nobody told us why.", start=7, speaker="B")
    made = make_cues([first, second], EN)
    assert [cue.lines[0].speaker for cue in made.cues] == ["A", "B"]
    assert [cue.lines[0].dash for cue in made.cues] == [False, True]
    assert made.excuses == ()


def test_deleted_segments_are_left_out() -> None:
    parts = [
        segment("Keep this sentence."),
        segment("Not this one.", start=3, deleted=True),
        segment("And this.", start=6),
    ]
    made = make_cues(parts, EN)
    assert [text for cue in shown(made) for text in cue] == ["Keep this sentence.", "And this."]
    assert unexcused(made, "en", parts) == []


def test_a_cue_uses_the_silence_after_its_words_to_be_read() -> None:
    made = make_cues([segment("Unbelievably complicated arrangements everywhere.", rate=8)], EN)
    (cue,) = made.cues
    assert made.excuses == ()
    assert cue.end_seconds - cue.start_seconds == pytest.approx(48 / 17, abs=0.002)


def test_speech_that_is_too_fast_is_reported_not_hidden() -> None:
    made = make_cues([segment(TALK, rate=6)], EN)
    assert {excuse.reason for excuse in made.excuses} == {"speech is faster than 17 characters a second"}
    assert len(made.excuses) > len(made.cues) / 2


@pytest.mark.parametrize("frame_rate", [23.976, 25.0, 29.97, 60.0])
def test_cues_that_follow_closely_are_chained_with_two_frames(frame_rate: float) -> None:
    made = make_cues([segment(TALK)], rules_for("en", frame_rate=frame_rate))
    gaps = [right.start_seconds - left.end_seconds for left, right in pairwise(made.cues)]
    assert min(gaps) >= 2 / frame_rate - 1e-9
    assert all(gap < 2 / frame_rate + 0.002 or gap >= 12 / frame_rate - 0.002 for gap in gaps)


def test_no_cue_stays_when_the_file_has_ended() -> None:
    made = make_cues([segment("Goodbye.", start=9.7)], EN, until_seconds=10.0)
    assert made.cues[-1].end_seconds == 10.0
    assert [excuse.rule for excuse in made.excuses] == [Rule.SHORTEST, Rule.END]


def test_a_long_address_is_broken_after_a_sign() -> None:
    address = "example.org/a-very-long-path/that-goes-on/and-on/until-it-fits-nowhere?really=yes"
    made = make_cues([segment(f"See {address} for more.", rate=0.5)], EN)
    lines = [text for cue in shown(made) for text in cue]
    assert max(map(len, lines)) <= 42
    assert "".join(lines).replace(" ", "") == f"See{address}formore."
    assert any(line.endswith(("/", "-", "?")) for line in lines)


@pytest.mark.parametrize(
    ("language", "text", "most"),
    [
        ("zh", "我们今天要讨论的问题是，怎样用最少的钱，在2024年之前把这条铁路修到山的另一边。大家都知道这并不容易。", 32),
        ("ja", "今日は皆さんに、私たちがどのようにしてこのシステムを作り上げたのか、そしてなぜこんなに時間がかかったのかをお話しします。", 32),
        ("ko", "오늘은 우리가 이 시스템을 어떻게 만들었는지, 그리고 왜 그렇게 오래 걸렸는지 여러분께 말씀드리겠습니다.", 32),
        ("th", "วันนี้เราจะมาพูดถึงวิธีที่เราสร้างระบบนี้ขึ้นมาและเหตุผลที่ต้องใช้เวลานานกว่าที่ทุกคนคาดไว้มาก", 35),
        ("ar", "اليوم أريد أن أوضح لكم كيف بنينا هذا النظام، ولماذا استغرق الأمر وقتا أطول بكثير مما توقعه الجميع.", 42),
        ("hi", "आज मैं आपको दिखाना चाहता हूँ कि हमने यह प्रणाली कैसे बनाई, और इसमें इतना समय क्यों लगा।", 42),
    ],
)  # fmt: skip
def test_every_script_is_broken_at_safe_places(language: str, text: str, most: int) -> None:
    source = say("so many words that were heard in another language, with a pause or two.", rate=1.0)
    parts = [Segment(0.0, source[-1].end_seconds, "A", text, source)]
    made = make_cues(parts, rules_for(language))
    lines = [line for cue in shown(made) for line in cue]
    assert len(lines) > 1
    assert max(map(columns, lines)) <= most
    assert not any(line[0] in "，。、ーっゃงะาำ่้" for line in lines)
    assert not any(line[-1] in "เแโใไ" for line in lines)
    assert unexcused(made, language, parts) == []


def test_a_translation_takes_the_time_of_its_sentence_and_keeps_the_pauses() -> None:
    pieces = spread("Quando chegou, já era tarde.", (10.0, 16.0), pauses=[(11.6, 14.0)], language="pt", most_columns=40)
    assert pieces[0].start_seconds == 10.0
    assert pieces[-1].end_seconds == pytest.approx(16.0)
    assert [piece.text for piece in pieces if piece.end_seconds <= 11.61] == ["Quando", "chegou,"]
    assert pieces[2].start_seconds == 14.0


def test_a_pause_with_no_place_near_it_is_spoken_over() -> None:
    pieces = spread("Kurz und gut", (0.0, 10.0), pauses=[(0.2, 5.0)], language="de", most_columns=40)
    assert [piece.end_seconds for piece in pieces[:-1]] == [piece.start_seconds for piece in pieces[1:]]


def test_an_edited_text_is_spread_over_the_time_of_what_was_heard() -> None:
    heard = segment("We met in the town hall.", start=5)
    edited = Segment(heard.start_seconds, heard.end_seconds, "A", "We met in the old town hall.", heard.words)
    (cue,) = make_cues([edited], EN).cues
    assert cue.lines[0].text == "We met in the old town hall."
    assert cue.start_seconds == 5.0


def test_hostile_words_leave_no_empty_line() -> None:
    words = (Said("\u202e\x00", 0, 1), Said("one\n\ntwo", 1, 2), Said("\ud800", 2, 3), Said("three", 3, 4))
    made = make_cues([Segment(0, 4, "A", " ".join(word.text for word in words), words)], EN)
    assert shown(made) == [["one two three"]]


def test_no_words_make_no_cues() -> None:
    assert make_cues([], EN) == Subtitles((), ())
    assert make_cues([Segment(0, 1, "A", " \u200b".strip("\u200b"), ())], EN) == Subtitles((), ())


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_word_without_a_time_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="no time"):
        make_cues([Segment(0, 1, "A", "word", (Said("word", bad, 1),))], EN)


LANGUAGES = ("en", "pt", "fr", "de", "ja", "zh", "th", "ar", "xx")
ALPHABETS = {
    "ja": "今日は、私のーシステムっ。",
    "zh": "我们的问题，在山上。",
    "th": "วันนี้เราสร้างระบบ",
    "ar": "اليوم، نظام؟",
}
LATIN = "abcdefghijklmnopqrstuvwxyzABC"


@st.composite
def speeches(draw: st.DrawFn) -> tuple[str, list[Segment]]:
    """Anything that might be said: any pace, any pause, overlaps, several speakers, words of any length."""
    language = draw(st.sampled_from(LANGUAGES))
    alphabet = ALPHABETS.get(language, LATIN)
    common = [
        "the",
        "a",
        "is",
        "of",
        "John",
        "Smith",
        "25",
        "km",
        "Mr.",
        "and",
        "die",
        "uma",
        "no.",
        "—",
        "it—is",
        "{\\an8}",
    ]
    word = st.one_of(
        st.text(alphabet + "0,.?-'", min_size=1, max_size=draw(st.sampled_from([3, 9, 90]))), st.sampled_from(common)
    )
    pace = draw(st.sampled_from([0.02, 0.15, 0.35, 0.8, 5.0]))
    made, now = [], draw(st.sampled_from([0.0, 3.3]))
    for _ in range(draw(st.integers(1, 8))):
        words = []
        for text in draw(st.lists(word, min_size=1, max_size=14)):
            duration = pace * draw(st.floats(0, 2))
            words.append(Said(text, now, now + duration))
            now += max(0.0, duration + draw(st.sampled_from([0.0, 0.0, 0.0, -0.1, 0.1, 0.6, 3.0])))
        heard = " ".join(word.text for word in words)
        text = heard if draw(st.booleans()) else draw(st.text(alphabet + " ", min_size=1, max_size=120))
        speaker = draw(st.sampled_from("AAB"))
        end = max(word.end_seconds for word in words)
        made.append(Segment(words[0].start_seconds, end, speaker, text, tuple(words), draw(st.integers(0, 9)) == 0))
        now = max(now, end)
    return language, made


@given(speeches(), st.sampled_from([23.976, 25.0, 50.0]))
@settings(max_examples=100, deadline=None)
def test_every_rule_is_kept_or_excused_and_nothing_is_lost(
    speech: tuple[str, list[Segment]], frame_rate: float
) -> None:
    language, parts = speech
    made = make_cues(parts, rules_for(language, frame_rate=frame_rate))
    assert unexcused(made, language, parts, frame_rate=frame_rate) == []
    kept = "".join(clean_text(part.text).replace(" ", "") for part in parts if not part.deleted)
    assert "".join(line.text.replace(" ", "") for cue in made.cues for line in cue.lines) == kept


@given(speeches())
@settings(max_examples=60, deadline=None)
def test_an_excuse_is_only_made_when_the_time_around_a_cue_is_used_up(speech: tuple[str, list[Segment]]) -> None:
    language, parts = speech
    rules = rules_for(language)
    made = make_cues(parts, rules)
    for excuse in made.excuses:
        if excuse.rule in {Rule.READING_SPEED, Rule.SHORTEST}:
            following = made.cues[excuse.cue + 1 : excuse.cue + 2]
            cue = made.cues[excuse.cue]
            full = cue.end_seconds - cue.start_seconds >= rules.longest_seconds - 0.002
            assert full or (following and following[0].start_seconds - cue.end_seconds <= rules.gap_seconds + 0.002)


@given(st.text(max_size=200), st.integers(4, 42))
def test_a_word_comes_apart_without_loss_and_no_part_is_too_wide(word: str, most: int) -> None:
    parts = parts_of(word, most_columns=most)
    assert "".join(parts) == word
    assert all(columns(part) <= most for part in parts)


def cue(start: float, end: float, *lines: Line | str) -> Cue:
    return Cue(start, end, tuple(line if isinstance(line, Line) else Line(line) for line in lines))


@pytest.mark.parametrize(
    ("cues", "broken"),
    [
        ([cue(0, 3, "Fine.")], []),
        ([cue(0, 3, "x" * 43)], [Rule.LINE_LENGTH]),
        ([cue(0, 3, "a", "b", "c")], [Rule.LINES]),
        ([cue(0, 0.5, "No.")], [Rule.SHORTEST]),
        ([cue(0, 7.1, "No.")], [Rule.LONGEST]),
        ([cue(0, 1, "Eighteen letters..")], [Rule.READING_SPEED]),
        ([cue(0, 2, "One."), cue(2.05, 4, "Two.")], [Rule.GAP]),
        ([cue(0, 5, "He could not have known what we would", "do.")], [Rule.LONELY]),
        ([cue(0, 5, Line("Yes.", "A"), Line("No.", "B"))], [Rule.SPEAKERS, Rule.SPEAKERS]),
        ([cue(0, 5, Line("Yes.", "A", dash=True), Line("No.", "B", dash=True))], []),
        ([cue(0, 2, Line("Yes.", "A")), cue(3, 5, Line("No.", "B"))], [Rule.SPEAKERS]),
    ],
)
def test_the_check_finds_what_is_wrong_with_a_cue(cues: list[Cue], broken: list[Rule]) -> None:
    assert [found.rule for found in violations(cues, EN)] == broken


@pytest.mark.parametrize(
    ("cues", "broken"),
    [
        ([cue(0, 2.4, Line("I saw the house.", "A"))], []),
        ([cue(0, 2.4, Line("I saw house.", "A"))], [Rule.TEXT]),
        ([cue(0, 2.4, Line("I saw the", "A"))], [Rule.BELONGING, Rule.TEXT]),
        ([cue(0, 2.4, Line("I saw the", "A"), Line("house.", "A"))], [Rule.BELONGING]),
        ([cue(0.1, 2.4, Line("I saw the house.", "A"))], [Rule.START]),
        ([cue(0, 1.9, Line("I saw the house.", "A"))], [Rule.END]),
        ([cue(0, 2.4, Line("I saw the house.", "B"))], [Rule.SPEAKERS]),
    ],
)
def test_the_check_finds_what_differs_from_the_words(cues: list[Cue], broken: list[Rule]) -> None:
    found = violations(cues, EN, segments=[segment("I saw the house.", rate=2)])
    assert Counter(each.rule for each in found) == Counter(broken)
