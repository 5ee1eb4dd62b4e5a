"""Japanese and Chinese phonemes for Kokoro."""

# ruff: noqa: RUF001 (phonemes and full-width marks look like letters)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.engines.synthesis.chinese_phonemes import chinese_phonemes, pinyin_to_ipa
from cutroom.engines.synthesis.japanese_phonemes import CLAUSE_CHARACTERS, japanese_phonemes, kana_to_ipa
from cutroom.engines.synthesis.phonemes import TOKEN_IDS


@pytest.mark.parametrize(
    ("kana", "expected"),
    [
        ("アシ’タ", "aɕita"),
        ("トーキョー", "toːkʲoː"),
        ("ガッコー", "ɡaʔkoː"),
        ("シンブン", "ɕimbɯɴ"),
        ("サンガツ", "saŋɡaʦɨ"),
        ("コンニチワ", "koɲɲiʨiβa"),
        ("ファイル", "ɸaiɾɯ"),
        ("パーティー", "paːtʲiː"),
        ("ヴァイオリン", "vaioɾʲiɴ"),
        ("チェック", "ʨeʔkɯ"),
        ("?", ""),
    ],
)
def test_kana(kana: str, expected: str) -> None:
    assert kana_to_ipa(kana) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("今日は、とても暑いですね。", "kʲoː βa, totemo aʦɨi desɨ ne."),
        ("「はい」と言った！", "“hai” to iʔta!"),
        ("会議は3時です。", "kaiɡʲi βa saɴ ʥi desɨ."),
        ("。。。", ""),
        ("", ""),
    ],
)
def test_japanese_text(text: str, expected: str) -> None:
    assert japanese_phonemes(text) == expected


@pytest.mark.parametrize(
    ("pinyin", "expected"),
    [
        ("zhong1", "\uab67ʊ→ŋ"),
        ("guo2", "kwo↗"),
        ("shi4", "ʂɨ↘"),
        ("xue2", "ɕɥe↗"),
        ("lü3", "ly↓"),
        ("er4", "ɚ↘"),
        ("yuan2", "ɥɛ↗n"),
        ("de5", "tɤ"),
        ("x", ""),
        ("qqq1", ""),
    ],
)
def test_pinyin(pinyin: str, expected: str) -> None:
    assert pinyin_to_ipa(pinyin) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我们去公园。", "wo↓mən ʨʰy↘ kʊ→ŋ ɥɛ↗n."),
        ("重庆很重要！", "\uab67ʰʊ↗ŋʨʰi↘ŋ xə↓n \uab67ʊ↘ŋjau↘!"),
        ("用AI，好吗？", "jʊ↘ŋ ai, xau↓ ma?"),
        ("……", ""),
        ("", ""),
    ],
)
def test_chinese_text(text: str, expected: str) -> None:
    assert chinese_phonemes(text, latin=str.lower) == expected


@given(st.text(st.sampled_from("今日明天中国図書館をはのアメリカー、。！？「」（）abc 123…—々〇"), max_size=60))
def test_only_known_symbols_are_produced(text: str) -> None:
    assert set(japanese_phonemes(text)) <= set(TOKEN_IDS)
    assert set(chinese_phonemes(text, latin=lambda _: "a")) <= set(TOKEN_IDS)


def test_long_clauses_are_complete() -> None:
    assert japanese_phonemes("会議です" * CLAUSE_CHARACTERS).count("kaiɡʲi") == CLAUSE_CHARACTERS
