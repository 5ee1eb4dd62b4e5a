"""What a translation carries over letter by letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.text.placeholders import Kind, between, cleaned, find_protected, has_words

FOUND = [
    ("see https://example.com/a?b=c#d.", Kind.URL, "https://example.com/a?b=c#d"),
    ("(see www.example.com)", Kind.URL, "www.example.com"),
    ("go to example.com/help, please", Kind.URL, "example.com/help"),
    ("mail a.b+c@example.co.uk!", Kind.EMAIL, "a.b+c@example.co.uk"),
    ("thanks @some_one.", Kind.HANDLE, "@some_one"),
    ("a #hashtag here", Kind.HANDLE, "#hashtag"),
    ("{\\an8}Hello", Kind.PLACEHOLDER, "{\\an8}"),
    ("{{ name }} left", Kind.PLACEHOLDER, "{{ name }}"),
    ("${total} due", Kind.PLACEHOLDER, "${total}"),
    ("%s and more", Kind.PLACEHOLDER, "%s"),
    ("%(count)d files", Kind.PLACEHOLDER, "%(count)d"),
    ("<i>so</i", Kind.PLACEHOLDER, "<i>"),
    ('<font color="red">x', Kind.PLACEHOLDER, '<font color="red">'),
    ("</script> x", Kind.PLACEHOLDER, "</script>"),
    ("good 👍🏽 job", Kind.EMOJI, "👍🏽"),
    ("we 👩‍👩‍👧 three", Kind.EMOJI, "👩‍👩‍👧"),
    ("x " + "ab" * 40, Kind.LONG, "ab" * 40),
]
NOTHING = [
    "a plain sentence.",
    "He said this.That was all",
    "100% sure, 5% down",
    "#1 in C# and B&B",
    "if a < b and c > d",
    "at 5 @ 3",
    "e.g. this, i.e. that",
    "一" * 100,
]


@pytest.mark.parametrize(("text", "kind", "part"), FOUND)
def test_it_is_found_whole(text: str, kind: Kind, part: str) -> None:
    [found] = find_protected(text)
    assert (found.kind, found.text, text[found.start : found.end]) == (kind, part, part)


@pytest.mark.parametrize("text", NOTHING)
def test_ordinary_text_is_left_to_the_translator(text: str) -> None:
    assert find_protected(text) == []


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
def test_words_are_letters_outside_of_what_is_carried_over(text: str, expected: bool) -> None:  # noqa: FBT001
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
def test_what_nobody_can_see_goes(text: str, expected: str) -> None:
    assert cleaned(text) == expected


@given(st.text(alphabet=st.sampled_from("ab1 .@#{}<>/\\%$s:w😀\0\u202e"), max_size=80))
def test_parts_and_what_lies_between_make_up_the_text(text: str) -> None:
    parts = find_protected(text)
    around = between(text, parts)
    assert around[0] + "".join(part.text + rest for part, rest in zip(parts, around[1:], strict=True)) == text
    assert cleaned(cleaned(text)) == cleaned(text)
