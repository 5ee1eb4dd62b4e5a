"""Subtitle cues: rule compliance, layout, timing and completeness."""

# ruff: noqa: E501, RUF001 (wide and confusable characters are intended)

import random
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.media.subtitles import SubtitleCue, SubtitleLine, clean_text
from cutroom.products.transcripts.segmentation import TranscriptSegment, split_segments
from cutroom.products.transcripts.subtitling.cue_rules import CueRule, rules_for, violations
from cutroom.products.transcripts.subtitling.cue_timing import interpolate_text
from cutroom.products.transcripts.subtitling.cues import CueSheet, make_cues
from cutroom.products.transcripts.subtitling.line_breaking import BreakPoint, break_points
from cutroom.products.transcripts.text_units import display_width, split_word

EN = rules_for("en")


@dataclass(frozen=True, slots=True)
class SpokenWord:
    text: str
    start_seconds: float
    end_seconds: float


def say(text: str, *, start: float = 0.0, rate: float = 2.6, pause: float = 0.3) -> tuple[SpokenWord, ...]:
    """Words at an even pace, with a pause after punctuation."""
    words = []
    for word in text.split():
        words.append(SpokenWord(word, start, start + 1 / rate))
        start += 1 / rate + (pause if word[-1] in ".,;:?!" else 0.0)
    return tuple(words)


def segment(
    text: str, *, start: float = 0.0, rate: float = 2.6, speaker: str = "A", deleted: bool = False
) -> TranscriptSegment:
    words = say(text, start=start, rate=rate)
    return TranscriptSegment(words[0].start_seconds, words[-1].end_seconds, speaker, text, words, deleted=deleted)


def shown(made: CueSheet) -> list[list[str]]:
    return [[line.rendered for line in cue.lines] for cue in made.cues]


def unexpected_violations(
    made: CueSheet, rules_language: str, parts: list[TranscriptSegment], *, frame_rate: float = 25.0
) -> list[object]:
    expected = {(each.cue, each.rule) for each in made.exceptions}
    found = violations(made.cues, rules_for(rules_language, frame_rate=frame_rate), segments=parts)
    return [each for each in found if (each.cue, each.rule) not in expected]


TALK = (
    "So today I want to show you how we built this thing, and why it took so much longer than anybody expected. "
    "Back in 2019 we had three people, one server and about 40 customers. Dr. Maria Lopez, who ran the lab at the "
    "time, told me that we would need at least 25 million dollars to get anywhere. She was right, of course. What we "
    "did have was time. We sat down every morning at 9 a.m. and asked the same question: what is the smallest thing "
    "that we can ship before lunch? When John Smith joined us from the U.S. office, he brought a rule with him."
)


def natural_speech(text: str, count: int, *, rate: float, seed: int) -> list[SpokenWord]:
    """Words with natural timing: duration by length, pauses at punctuation, and a varying pace."""
    rng = random.Random(seed)
    texts = (text.split() * (count // len(text.split()) + 1))[:count]
    mean = sum(len(word) + 2 for word in texts) / count
    words, now = [], 0.4
    for word in texts:
        duration = (len(word) + 2) / mean / rate * rng.uniform(0.75, 1.25)
        words.append(SpokenWord(word, round(now, 2), round(now + duration, 2)))
        now += duration + {".": 0.5, "?": 0.5, ",": 0.2, ":": 0.2}.get(word[-1], 0.0) * rng.uniform(0.7, 1.5)
    return words


@pytest.mark.parametrize("rate", [2.3, 2.7, 3.1, 3.5])
def test_speech_at_normal_pace_has_few_rule_exceptions(rate: float) -> None:
    parts = split_segments(natural_speech(TALK, 1000, rate=rate, seed=7), lambda _: "A", language="en")
    made = make_cues(parts, EN)
    assert len(made.exceptions) <= 0.02 * len(made.cues)
    assert unexpected_violations(made, "en", parts) == []


def test_lines_break_at_clauses_and_sentences() -> None:
    made = make_cues(split_segments(natural_speech(TALK, 105, rate=2.9, seed=1), lambda _: "A", language="en"), EN)
    assert shown(made)[:4] == [
        ["So today I want", "to show you how we built this thing,"],
        ["and why it took so much longer", "than anybody expected."],
        ["Back in 2019 we had three people,", "one server and about 40 customers."],
        ["Dr. Maria Lopez,", "who ran the lab at the time,"],
    ]


def has_partial_sentence(cue: SubtitleCue) -> bool:
    """Whether the cue contains a sentence end but stops inside the next sentence."""
    text = " ".join(line.text for line in cue.lines)
    return text[-1] not in ".?" and any(mark in text for mark in (". ", "? "))


PRESS = "Press one to call back the person who left this message, or press two to hear the date and the time again."
SHOW = "I want to show you how we built this thing, and why it took so much longer than anybody expected."


@pytest.mark.parametrize(
    ("after", "rate", "pause"),
    [(SHOW, 2.8, 0.4), (SHOW, 3.6, 0.4), (PRESS, 3.6, 0.4), (PRESS, 3.7, 1.1), (PRESS, 3.8, 1.3)],
)
def test_cue_ends_with_its_sentence_when_the_rules_allow_it(after: str, rate: float, pause: float) -> None:
    first = segment("She was right, of course.", rate=rate)
    made = make_cues([first, segment(after, start=first.end_seconds + pause, rate=rate)], EN)
    assert shown(made)[0] == ["She was right, of course."]
    assert made.exceptions == ()


def test_fast_speech_starts_in_the_cue_of_the_previous_sentence() -> None:
    first = segment("She was right, of course.", rate=2.0)
    made = make_cues([first, segment(PRESS, start=first.end_seconds + 0.1, rate=5.2)], EN)
    assert has_partial_sentence(made.cues[0])


@pytest.mark.parametrize("rate", [2.3, 2.7, 3.1])
def test_few_cues_at_normal_pace_contain_partial_sentences(rate: float) -> None:
    talk = TALK.replace("Dr. ", "").replace("a.m. ", "").replace("U.S. ", "")
    made = make_cues(split_segments(natural_speech(talk, 1000, rate=rate, seed=7), lambda _: "A", language="en"), EN)
    assert sum(map(has_partial_sentence, made.cues)) <= 0.02 * len(made.cues)


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
def test_grammatical_units_are_never_split(language: str, text: str) -> None:
    assert break_points(text.split(), glued=[False, False], language=language) == [BreakPoint.NEVER]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "over. Then", BreakPoint.SENTENCE),
        ("en", "sir. Thank", BreakPoint.SENTENCE),
        ("en", "over, then", BreakPoint.CLAUSE),
        ("en", "went because", BreakPoint.PHRASE),
        ("en", "went to", BreakPoint.PHRASE),
        ("en", "went quickly", BreakPoint.WORD),
        ("en", "to London", BreakPoint.AVOID),
        ("en", "U.S. office", BreakPoint.WORD),
        ("pt", "saiu porque", BreakPoint.PHRASE),
        ("de", "ging weil", BreakPoint.PHRASE),
    ],
)
def test_break_points_are_rated(language: str, text: str, expected: BreakPoint) -> None:
    assert break_points(text.split(), glued=[False, False], language=language) == [expected]


def test_equal_breaks_prefer_a_longer_bottom_line() -> None:
    made = make_cues([segment("aaaaaaaa bbbbbbbb cccccccc dddddddd eeeeeeee")], rules_for("xx"))
    assert shown(made) == [["aaaaaaaa bbbbbbbb", "cccccccc dddddddd eeeeeeee"]]


def test_short_turns_have_separate_cues() -> None:
    parts = [segment("Are you there?", speaker="A", rate=2), segment("Yes.", start=1.8, speaker="B", rate=2)]
    after = segment("Wonderful programmes always start with someone saying yes.", start=3.0, speaker="A")
    made = make_cues([*parts, after], EN)
    assert shown(made)[:2] == [["Are you there?"], ["- Yes."]]
    assert shown(made)[2][0].startswith("- Wonderful")
    assert made.exceptions == ()


def test_speaker_change_inside_a_sentence_ends_the_cue() -> None:
    parts = [segment("bit thicker.", speaker="A"), segment("And the crack", start=0.8, speaker="B")]
    made = make_cues(parts, EN)
    assert shown(made) == [["bit thicker."], ["- And the crack"]]
    assert unexpected_violations(made, "en", parts) == []


def test_long_turns_have_separate_cues_with_a_dash_at_the_change() -> None:
    first = segment("I have been waiting here for you since ten o'clock this morning.", speaker="A")
    second = segment("The train stood in a field for three hours and nobody told us why.", start=7, speaker="B")
    made = make_cues([first, second], EN)
    assert [cue.lines[0].speaker for cue in made.cues] == ["A", "B"]
    assert [cue.lines[0].dash for cue in made.cues] == [False, True]
    assert made.exceptions == ()


def test_deleted_segments_are_skipped() -> None:
    parts = [
        segment("Keep this sentence."),
        segment("Not this one.", start=3, deleted=True),
        segment("And this.", start=6),
    ]
    made = make_cues(parts, EN)
    assert [text for cue in shown(made) for text in cue] == ["Keep this sentence.", "And this."]
    assert unexpected_violations(made, "en", parts) == []


def test_cue_extends_into_silence_for_reading_time() -> None:
    made = make_cues([segment("Unbelievably complicated arrangements everywhere.", rate=8)], EN)
    (cue,) = made.cues
    assert made.exceptions == ()
    assert cue.end_seconds - cue.start_seconds == pytest.approx(48 / 17, abs=0.002)


def test_fast_speech_is_reported_as_exception() -> None:
    made = make_cues([segment(TALK, rate=6)], EN)
    assert {exception.reason for exception in made.exceptions} == {"speech is faster than 17 characters per second"}
    assert len(made.exceptions) > len(made.cues) / 2


@pytest.mark.parametrize("frame_rate", [23.976, 25.0, 29.97, 60.0])
def test_close_cues_are_chained_with_two_frames(frame_rate: float) -> None:
    made = make_cues([segment(TALK)], rules_for("en", frame_rate=frame_rate))
    gaps = [right.start_seconds - left.end_seconds for left, right in pairwise(made.cues)]
    assert min(gaps) >= 2 / frame_rate - 1e-9
    assert all(gap < 2 / frame_rate + 0.002 or gap >= 12 / frame_rate - 0.002 for gap in gaps)


def test_no_cue_ends_after_the_file() -> None:
    made = make_cues([segment("Goodbye.", start=9.7)], EN, until_seconds=10.0)
    assert made.cues[-1].end_seconds == 10.0
    assert [exception.rule for exception in made.exceptions] == [CueRule.MIN_DURATION, CueRule.END]


def test_long_url_is_broken_after_punctuation() -> None:
    address = "example.org/a-very-long-path/that-goes-on/and-on/until-it-fits-nowhere?really=yes"
    made = make_cues([segment(f"See {address} for more.", rate=0.5)], EN)
    lines = [text for cue in shown(made) for text in cue]
    assert max(map(len, lines)) <= 42
    assert "".join(lines).replace(" ", "") == f"See{address}formore."
    assert any(line.endswith(("/", "-", "?")) for line in lines)


@pytest.mark.parametrize(
    ("language", "text", "max_columns"),
    [
        ("zh", "我们今天要讨论的问题是，怎样用最少的钱，在2024年之前把这条铁路修到山的另一边。大家都知道这并不容易。", 32),
        ("ja", "今日は皆さんに、私たちがどのようにしてこのシステムを作り上げたのか、そしてなぜこんなに時間がかかったのかをお話しします。", 32),
        ("ko", "오늘은 우리가 이 시스템을 어떻게 만들었는지, 그리고 왜 그렇게 오래 걸렸는지 여러분께 말씀드리겠습니다.", 32),
        ("th", "วันนี้เราจะมาพูดถึงวิธีที่เราสร้างระบบนี้ขึ้นมาและเหตุผลที่ต้องใช้เวลานานกว่าที่ทุกคนคาดไว้มาก", 35),
        ("ar", "اليوم أريد أن أوضح لكم كيف بنينا هذا النظام، ولماذا استغرق الأمر وقتا أطول بكثير مما توقعه الجميع.", 42),
        ("hi", "आज मैं आपको दिखाना चाहता हूँ कि हमने यह प्रणाली कैसे बनाई, और इसमें इतना समय क्यों लगा।", 42),
    ],
)  # fmt: skip
def test_scripts_break_at_valid_positions(language: str, text: str, max_columns: int) -> None:
    source = say("so many words that were heard in another language, with a pause or two.", rate=1.0)
    parts = [TranscriptSegment(0.0, source[-1].end_seconds, "A", text, source)]
    made = make_cues(parts, rules_for(language))
    lines = [line for cue in shown(made) for line in cue]
    assert len(lines) > 1
    assert max(map(display_width, lines)) <= max_columns
    assert not any(line[0] in "，。、ーっゃงะาำ่้" for line in lines)
    assert not any(line[-1] in "เแโใไ" for line in lines)
    assert unexpected_violations(made, language, parts) == []


def test_translation_is_interpolated_and_keeps_pauses() -> None:
    units = interpolate_text(
        "Quando chegou, já era tarde.", (10.0, 16.0), pauses=[(11.6, 14.0)], language="pt", max_columns=40
    )
    assert units[0].start_seconds == 10.0
    assert units[-1].end_seconds == pytest.approx(16.0)
    assert [unit.text for unit in units if unit.end_seconds <= 11.61] == ["Quando", "chegou,"]
    assert units[2].start_seconds == 14.0


def test_pause_without_a_nearby_break_is_dropped() -> None:
    units = interpolate_text("Kurz und gut", (0.0, 10.0), pauses=[(0.2, 5.0)], language="de", max_columns=40)
    assert [unit.end_seconds for unit in units[:-1]] == [unit.start_seconds for unit in units[1:]]


def test_edited_text_is_interpolated_over_the_original_timing() -> None:
    original = segment("We met in the town hall.", start=5)
    edited = TranscriptSegment(
        original.start_seconds, original.end_seconds, "A", "We met in the old town hall.", original.words
    )
    (cue,) = make_cues([edited], EN).cues
    assert cue.lines[0].text == "We met in the old town hall."
    assert cue.start_seconds == 5.0


def test_control_characters_leave_no_empty_lines() -> None:
    words = (
        SpokenWord("\u202e\x00", 0, 1),
        SpokenWord("one\n\ntwo", 1, 2),
        SpokenWord("\ud800", 2, 3),
        SpokenWord("three", 3, 4),
    )
    made = make_cues([TranscriptSegment(0, 4, "A", " ".join(word.text for word in words), words)], EN)
    assert shown(made) == [["one two three"]]


def test_no_words_produce_no_cues() -> None:
    assert make_cues([], EN) == CueSheet((), ())
    assert make_cues([TranscriptSegment(0, 1, "A", " \u200b".strip("\u200b"), ())], EN) == CueSheet((), ())


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_word_without_finite_time_raises(bad: float) -> None:
    with pytest.raises(ValueError, match="no finite time"):
        make_cues([TranscriptSegment(0, 1, "A", "word", (SpokenWord("word", bad, 1),))], EN)


LANGUAGES = ("en", "pt", "fr", "de", "ja", "zh", "th", "ar", "xx")
ALPHABETS = {
    "ja": "今日は、私のーシステムっ。",
    "zh": "我们的问题，在山上。",
    "th": "วันนี้เราสร้างระบบ",
    "ar": "اليوم، نظام؟",
}
LATIN = "abcdefghijklmnopqrstuvwxyzABC"


@st.composite
def speeches(draw: st.DrawFn) -> tuple[str, list[TranscriptSegment]]:
    """Arbitrary speech: any pace and pauses, overlaps, several speakers, words of any length."""
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
            words.append(SpokenWord(text, now, now + duration))
            now += max(0.0, duration + draw(st.sampled_from([0.0, 0.0, 0.0, -0.1, 0.1, 0.6, 3.0])))
        verbatim = " ".join(word.text for word in words)
        text = verbatim if draw(st.booleans()) else draw(st.text(alphabet + " ", min_size=1, max_size=120))
        speaker = draw(st.sampled_from("AAB"))
        end = max(word.end_seconds for word in words)
        made.append(
            TranscriptSegment(words[0].start_seconds, end, speaker, text, tuple(words), draw(st.integers(0, 9)) == 0)
        )
        now = max(now, end)
    return language, made


@given(speeches(), st.sampled_from([23.976, 25.0, 50.0]))
@settings(max_examples=100, deadline=None)
def test_every_violation_is_reported_and_no_text_is_lost(
    speech: tuple[str, list[TranscriptSegment]], frame_rate: float
) -> None:
    language, parts = speech
    made = make_cues(parts, rules_for(language, frame_rate=frame_rate))
    assert unexpected_violations(made, language, parts, frame_rate=frame_rate) == []
    kept = "".join(clean_text(part.text).replace(" ", "") for part in parts if not part.deleted)
    assert "".join(line.text.replace(" ", "") for cue in made.cues for line in cue.lines) == kept


@given(speeches())
@settings(max_examples=60, deadline=None)
def test_timing_exceptions_only_occur_when_the_available_time_is_used(
    speech: tuple[str, list[TranscriptSegment]],
) -> None:
    language, parts = speech
    rules = rules_for(language)
    made = make_cues(parts, rules)
    for exception in made.exceptions:
        if exception.rule in {CueRule.READING_SPEED, CueRule.MIN_DURATION}:
            next_cues = made.cues[exception.cue + 1 : exception.cue + 2]
            cue = made.cues[exception.cue]
            full = cue.end_seconds - cue.start_seconds >= rules.max_seconds - 0.002
            assert full or (next_cues and next_cues[0].start_seconds - cue.end_seconds <= rules.gap_seconds + 0.002)


@given(st.text(max_size=200), st.integers(4, 42))
def test_split_word_is_lossless_and_bounded(word: str, max_columns: int) -> None:
    parts = split_word(word, max_columns=max_columns)
    assert "".join(parts) == word
    assert all(display_width(part) <= max_columns for part in parts)


def cue(start: float, end: float, *lines: SubtitleLine | str) -> SubtitleCue:
    return SubtitleCue(
        start, end, tuple(line if isinstance(line, SubtitleLine) else SubtitleLine(line) for line in lines)
    )


@pytest.mark.parametrize(
    ("cues", "broken"),
    [
        ([cue(0, 3, "Fine.")], []),
        ([cue(0, 3, "x" * 43)], [CueRule.LINE_LENGTH]),
        ([cue(0, 3, "a", "b", "c")], [CueRule.LINES]),
        ([cue(0, 0.5, "No.")], [CueRule.MIN_DURATION]),
        ([cue(0, 7.1, "No.")], [CueRule.MAX_DURATION]),
        ([cue(0, 1, "Eighteen letters..")], [CueRule.READING_SPEED]),
        ([cue(0, 2, "One."), cue(2.05, 4, "Two.")], [CueRule.GAP]),
        ([cue(0, 5, "He could not have known what we would", "do.")], [CueRule.ORPHAN]),
        ([cue(0, 5, SubtitleLine("Yes.", "A"), SubtitleLine("No.", "B"))], [CueRule.SPEAKERS]),
        (
            [cue(0, 5, SubtitleLine("Yes.", "A", dash=True), SubtitleLine("No.", "B", dash=True))],
            [CueRule.SPEAKERS] * 2,
        ),
        ([cue(0, 2, SubtitleLine("Yes.", "A")), cue(3, 5, SubtitleLine("No.", "B"))], [CueRule.SPEAKERS]),
    ],
)
def test_validator_finds_cue_violations(cues: list[SubtitleCue], broken: list[CueRule]) -> None:
    assert [found.rule for found in violations(cues, EN)] == broken


@pytest.mark.parametrize(
    ("cues", "broken"),
    [
        ([cue(0, 2.4, SubtitleLine("I saw the house.", "A"))], []),
        ([cue(0, 2.4, SubtitleLine("I saw house.", "A"))], [CueRule.TEXT]),
        ([cue(0, 2.4, SubtitleLine("I saw the", "A"))], [CueRule.UNBREAKABLE, CueRule.TEXT]),
        ([cue(0, 2.4, SubtitleLine("I saw the", "A"), SubtitleLine("house.", "A"))], [CueRule.UNBREAKABLE]),
        ([cue(0.1, 2.4, SubtitleLine("I saw the house.", "A"))], [CueRule.START]),
        ([cue(0, 1.9, SubtitleLine("I saw the house.", "A"))], [CueRule.END]),
        ([cue(0, 2.4, SubtitleLine("I saw the house.", "B"))], [CueRule.SPEAKERS]),
    ],
)
def test_validator_finds_differences_from_words(cues: list[SubtitleCue], broken: list[CueRule]) -> None:
    found = violations(cues, EN, segments=[segment("I saw the house.", rate=2)])
    assert Counter(each.rule for each in found) == Counter(broken)
