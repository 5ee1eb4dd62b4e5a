"""Spans that a translation must preserve verbatim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.text.placeholders import PlaceholderKind, clean_sentence, find_protected_spans, has_words, text_between

PROTECTED = [
    ("see https://example.com/a?b=c#d.", PlaceholderKind.URL, "https://example.com/a?b=c#d"),
    ("(see www.example.com)", PlaceholderKind.URL, "www.example.com"),
    ("go to example.com/help, please", PlaceholderKind.URL, "example.com/help"),
    ("mail a.b+c@example.co.uk!", PlaceholderKind.EMAIL, "a.b+c@example.co.uk"),
    ("thanks @some_one.", PlaceholderKind.HANDLE, "@some_one"),
    ("a #hashtag here", PlaceholderKind.HANDLE, "#hashtag"),
    ("{\\an8}Hello", PlaceholderKind.PLACEHOLDER, "{\\an8}"),
    ("{{ name }} left", PlaceholderKind.PLACEHOLDER, "{{ name }}"),
    ("${total} due", PlaceholderKind.PLACEHOLDER, "${total}"),
    ("%s and more", PlaceholderKind.PLACEHOLDER, "%s"),
    ("%(count)d files", PlaceholderKind.PLACEHOLDER, "%(count)d"),
    ("<i>so</i", PlaceholderKind.PLACEHOLDER, "<i>"),
    ('<font color="red">x', PlaceholderKind.PLACEHOLDER, '<font color="red">'),
    ("</script> x", PlaceholderKind.PLACEHOLDER, "</script>"),
    ("good 👍🏽 job", PlaceholderKind.EMOJI, "👍🏽"),
    ("we 👩‍👩‍👧 three", PlaceholderKind.EMOJI, "👩‍👩‍👧"),
    ("x " + "ab" * 40, PlaceholderKind.LONG, "ab" * 40),
]
NOT_PROTECTED = [
    "a plain sentence.",
    "He said this.That was all",
    "100% sure, 5% down",
    "#1 in C# and B&B",
    "if a < b and c > d",
    "at 5 @ 3",
    "e.g. this, i.e. that",
    "一" * 100,
]


@pytest.mark.parametrize(("text", "kind", "literal"), PROTECTED)
def test_span_is_found(text: str, kind: PlaceholderKind, literal: str) -> None:
    [found] = find_protected_spans(text)
    assert (found.kind, found.text, text[found.start : found.end]) == (kind, literal, literal)


@pytest.mark.parametrize("text", NOT_PROTECTED)
def test_ordinary_text_is_not_protected(text: str) -> None:
    assert find_protected_spans(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", True),
        ("ñ", True),
        ("你好", True),
        ("...", False),
        ("1984", False),
        ("{an}", False),
        ("😀 @me", False),
        ("", False),
    ],
)
def test_words_are_letters_outside_protected_spans(text: str, expected: bool) -> None:  # noqa: FBT001
    assert has_words(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x00b", "a b"),
        (" a \r\n\t b\u2028c\u00a0d ", "a b c d"),
        ("a\u202eb\u2066c\ufeffd\u200be", "abcde"),
        ("a\ud800b", "ab"),
        ("\x1b[31m", "[31m"),
        ("👩‍👧", "👩‍👧"),
        ("می‌خواهم", "می‌خواهم"),
    ],
)
def test_invisible_characters_are_removed(text: str, expected: str) -> None:
    assert clean_sentence(text) == expected


@given(st.text(alphabet=st.sampled_from("ab1 .@#{}<>/\\%$s:w😀\0\u202e"), max_size=80))
def test_spans_and_text_between_make_up_the_text(text: str) -> None:
    spans = find_protected_spans(text)
    around = text_between(text, spans)
    assert around[0] + "".join(span.text + rest for span, rest in zip(spans, around[1:], strict=True)) == text
    assert clean_sentence(clean_sentence(text)) == clean_sentence(text)
