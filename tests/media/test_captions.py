"""Tests for caption rendering in the sandbox and for font selection and measurement."""

import subprocess
import time
from pathlib import Path

import pytest

from cutroom.media.captions import captions_filter
from cutroom.media.fonts import Font, Typeface, has_glyphs, measure, metrics, select_font
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import Sandbox, ffmpeg

ASS = """[Script Info]
ScriptType: v4.00+
PlayResX: 320
PlayResY: 180
[V4+ Styles]
Format: Name,Fontname,Fontsize,PrimaryColour,Bold,Alignment,Encoding
Style: one,{family},60,&H00FFFFFF,{bold},5,0
[Events]
Format: Layer,Start,End,Style,Name,MarginL,MarginR,MarginV,Effect,Text
Dialogue: 0,0:00:00.00,0:00:05.00,one,,0,0,0,,HELLO
"""
BLACK = ["-f", "lavfi", "-i", "color=black:s=320x180:d=0.1"]


@pytest.mark.parametrize(
    "name",
    ["plain.ass", "it's.ass", "a:b.ass", "a,b;c.ass", "[x]=y.ass", "back\\slash.ass", "a 'b' \\'c.ass", "%d.ass"],
)
def test_caption_file_names_are_escaped(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(ASS.format(family="Lato Black", bold=0))
    for path in (name, str(tmp_path / name)):
        command = ["ffmpeg", "-v", "error", *BLACK, "-vf", captions_filter(path), "-frames:v", "1", "-f", "null", "-"]
        subprocess.run(command, check=True, timeout=500, cwd=tmp_path)


async def test_sandbox_exposes_fonts_and_their_cache(sandbox: Sandbox, tmp_path: Path) -> None:
    """A cold cache would cost seconds per run, and fontconfig would log errors."""
    (tmp_path / "captions.ass").write_text(ASS.format(family="Lato Black", bold=0))
    arguments = ["-v", "verbose", *BLACK, "-vf", captions_filter("captions.ass"), "-frames:v", "1", "-f", "null", "-"]
    started = time.monotonic()
    finished = await sandbox.run("ffmpeg", arguments, inputs={}, output=tmp_path)
    assert time.monotonic() - started < 30
    assert "-> /usr/share/fonts/truetype/lato/Lato-Black.ttf" in finished.stderr
    assert "Fontconfig error" not in finished.stderr
    assert Path("/var/cache/fontconfig").is_dir()


@pytest.mark.parametrize(
    ("text", "typeface", "language", "family"),
    [
        ("HELLO", Typeface.BLACK, "en", "Lato Black"),
        ("HELLO", Typeface.TALL, "en", "Bebas Neue"),
        ("ПРИВЕТ", Typeface.TALL, "ru", "Bebas Neue"),
        ("ΓΕΙΑ", Typeface.TALL, "el", "Lato Black"),
        ("TIẾNG", Typeface.TALL, "vi", "Lato Black"),
        ("مرحبا", Typeface.BLACK, "ar", "Noto Sans Arabic"),
        ("שלום", Typeface.BLACK, "he", "Noto Sans Hebrew"),
        ("สวัสดี", Typeface.PLAIN, "th", "Noto Sans Thai"),
        ("नमस्ते", Typeface.BLACK, "hi", "Noto Sans Devanagari"),
        ("直", Typeface.BLACK, "ja", "Noto Sans CJK JP"),
        ("直", Typeface.BLACK, "zh", "Noto Sans CJK SC"),
        ("直", Typeface.BLACK, "zh-TW", "Noto Sans CJK TC"),
        ("안녕", Typeface.BLACK, "ko", "Noto Sans CJK KR"),
    ],
)
async def test_libass_finds_a_font_for_each_script(
    sandbox: Sandbox, tmp_path: Path, text: str, typeface: Typeface, language: str, family: str
) -> None:
    font = select_font(text, typeface, language=language)
    assert font.family == family
    assert has_glyphs(font, text)
    (tmp_path / "captions.ass").write_text(ASS.format(family=family, bold=-1 if font.bold else 0))
    arguments = ["-v", "verbose", *BLACK, "-vf", captions_filter("captions.ass"), "-frames:v", "1", "-f", "null", "-"]
    finished = await sandbox.run("ffmpeg", arguments, inputs={}, output=tmp_path)
    assert f"-> {font.path}, {font.face}," in finished.stderr


async def test_rendered_text_matches_measured_size(sandbox: Sandbox, tmp_path: Path) -> None:
    font = select_font("HELLO", Typeface.BLACK, language="en")
    (tmp_path / "captions.ass").write_text(ASS.format(family=font.family, bold=0))
    arguments = [*BLACK, "-vf", captions_filter("captions.ass"), "-frames:v", "1", "-pix_fmt", "gray"]
    await ffmpeg(sandbox, [*arguments, "-f", "rawvideo", "decoded"], inputs={}, output=tmp_path)
    decoded = (tmp_path / "decoded").read_bytes()
    columns = [x for x in range(320) if max(decoded[x::320]) > 60]
    rows = [y for y in range(180) if max(decoded[y * 320 : y * 320 + 320]) > 60]
    heights = metrics(font)
    em = 60 / (heights.ascent + heights.descent)
    extents = measure("HELLO", font)
    assert columns[-1] - columns[0] == pytest.approx(extents.advance * em, abs=0.16 * em)  # minus side bearings
    assert rows[-1] - rows[0] + 1 == pytest.approx((extents.top + extents.bottom) * em, abs=2)


def test_measurement_includes_kerning_and_joins() -> None:
    latin = select_font("AVATAR", Typeface.BLACK, language="en")
    assert measure("AVATAR", latin).advance < sum(measure(each, latin).advance for each in "AVATAR") - 0.1
    arabic = select_font("مرحبا", Typeface.BLACK, language="ar")
    assert measure("مرحبا", arabic).advance < sum(measure(each, arabic).advance for each in "مرحبا")


def test_missing_glyph_has_a_width() -> None:
    font = select_font("A\U0001f600", Typeface.BLACK, language="en")
    assert measure("\U0001f600", font).advance == pytest.approx(font.scale)


def test_missing_fonts_error_names_the_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Font, "path", property(lambda font: tmp_path / font.file))
    with pytest.raises(MediaError) as caught:
        select_font("\u1234 uncovered", Typeface.BLACK, language="xx")
    assert (caught.value.reason, caught.value.retryable) == (Reason.TOOL_MISSING, True)
    assert "fonts-lato" in caught.value.detail
