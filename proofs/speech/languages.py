"""Round trips: every language is synthesized, transcribed and compared, in units that its spelling does not change."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import httpx
import jiwer
import pyopenjtalk
from pypinyin import Style, lazy_pinyin

from cutroom.engines.registry import Engines
from cutroom.text.speech_east_asian import spell_chinese, spell_japanese
from dev.fixtures.speech_clips import normalize_words
from proofs.speech.sentences import SENTENCES, Spellings
from proofs.speech.transcription import synthesize, transcribe
from proofs.stage.report import Report
from tests.support.stage import Stage

MAX_ERROR = 0.06
MAX_WER = 0.05  # of the languages that had voices first
MIN_LANGUAGES = 8
OUTPUT_VARIABLE = "CUTROOM_PROOF_FOLDER"  # folder that keeps the audio for listening

# How many sentences of a language the short form speaks; the long form speaks all of all languages.
SHORT_FORM = {"en": 3, "pt": 3, "es": 2, "de": 2, "ja": 1, "zh": 1}


@dataclass(frozen=True, slots=True)
class LanguageCheck:
    """A language with the name of its figure and its bound."""

    language: str
    figure: str
    unit: str
    max_error: float = MAX_ERROR


CHECKS = (
    LanguageCheck("en", "wer_en", "word", MAX_WER),
    LanguageCheck("pt", "wer_pt", "word", MAX_WER),
    LanguageCheck("es", "wer_es", "word", MAX_WER),
    LanguageCheck("fr", "wer_fr", "word"),
    LanguageCheck("it", "wer_it", "word"),
    LanguageCheck("de", "wer_de", "word"),
    LanguageCheck("ja", "kana_error_ja", "kana"),
    LanguageCheck("zh", "pinyin_error_zh", "pinyin"),
)


async def prove_languages(
    report: Report, stage: Stage, engines: Engines, voices: dict[str, str], *, short: bool
) -> None:
    """One voice per language."""
    checks = [each for each in CHECKS if not short or each.language in SHORT_FORM]
    passed = 0
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
        for check in checks:
            lines = SENTENCES[check.language][: SHORT_FORM[check.language] if short else None]
            text = " ".join(line for line, *_ in lines)
            samples = await synthesize(client, voices[check.language], text, language=check.language)
            transcript = await asyncio.to_thread(transcribe, engines, samples, check.language)
            rate = error_rate(lines, transcript, check.language)
            _keep(check.language, (samples * 32767).astype("<i2").tobytes(), transcript)
            passed += rate <= MAX_ERROR
            report.claim(
                f"{check.unit} error rate of {check.language} by whisper-base",
                expected=f"<= {check.max_error:.0%}",
                measured=f"{rate:.1%}: {transcript}"[:160],
                holds=rate <= check.max_error,
            )
            report.figures(**{check.figure: round(rate, 4)})
    wanted = len(checks) if short else MIN_LANGUAGES
    report.claim(
        f"languages with at most {MAX_ERROR:.0%} errors",
        expected=f">= {wanted}",
        measured=passed,
        holds=passed >= wanted,
    )
    report.figures(languages=passed)


def error_rate(lines: Sequence[Spellings], transcript: str, language: str) -> float:
    """The lowest error rate over all spellings of the same words."""
    heard = spoken_units(transcript, language)
    return min(float(jiwer.wer(spoken_units(" ".join(spelling), language), heard)) for spelling in product(*lines))


def spoken_units(text: str, language: str) -> str:
    """Kana of Japanese, pinyin with tones of Chinese, words of other languages; separated by spaces."""
    if language == "ja":
        characters = "".join(filter(str.isalnum, spell_japanese(text)))
        kana = pyopenjtalk.g2p(characters, kana=True, use_sudachi_kanji_yomi=False)
        return " ".join(character for character in kana if "ァ" <= character <= "ー")
    if language == "zh":
        characters = "".join(filter(str.isalnum, spell_chinese(text)))
        return " ".join(lazy_pinyin(characters, style=Style.TONE3, neutral_tone_with_five=True))
    return normalize_words(text)


def _keep(language: str, pcm: bytes, transcript: str) -> None:
    path = os.environ.get(OUTPUT_VARIABLE)
    if path is None:
        return
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{language}.raw").write_bytes(pcm)
    (folder / f"{language}.txt").write_text(transcript + "\n")
