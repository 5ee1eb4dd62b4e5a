"""Captions drawn over a made picture: what the reference pictures show, how they are drawn and how they compare."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from cutroom.engines.recognition.port import Word
from cutroom.media.captions import captions_filter
from cutroom.media.sandbox import Sandbox, ffmpeg, inside
from cutroom.products.shorts.captions.ass import CaptionTrack, write_captions
from cutroom.products.shorts.captions.lines import group_words
from cutroom.products.shorts.captions.looks import Look
from cutroom.products.shorts.captions.zones import Position

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]

FOLDER = Path(__file__).parent / "pictures"
SHRINK = 3  # of stored pictures
AT_ONCE = 8
SECONDS_PER_WORD = 0.3
TOLD = 8  # levels from which a pixel counts as drawn upon
# Of the range, on average where either picture is drawn upon; a full-size pixel to the side makes 0.03 to 0.05.
CLOSE = 0.03

ENGLISH = "So here is the little trick that changed everything for me."


class Size(TypedDict):
    """Of a picture, in pixels."""

    width: int
    height: int


PORTRAIT: Size = {"width": 1080, "height": 1920}


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture: words evenly spoken, seen at a moment."""

    name: str
    look: Look
    position: Position = Position.BOTTOM
    text: str = ENGLISH
    language: str = "en"
    width: int = 1080
    height: int = 1920
    seconds: float = 1.35


_MOMENTS = {Position.TOP: 0.75, Position.MIDDLE: 1.35, Position.BOTTOM: 1.35}
LOOKS_AND_POSITIONS = tuple(
    Scene(f"{look}-{position}", look, position, seconds=1.4 if look is Look.KARAOKE else _MOMENTS[position])
    for look in Look
    for position in Position
)
SCRIPTS = (
    Scene("arabic-highlight", Look.HIGHLIGHT, text="هذه هي الحيلة التي غيرت كل شيء!", language="ar", seconds=0.75),
    Scene("arabic-karaoke", Look.KARAOKE, text="شاهد TV HD الآن", language="ar", seconds=0.5),
    Scene("hebrew-modern", Look.MODERN, text="זה הטריק ששינה לי את הכול, באמת!", language="he", seconds=0.45),
    Scene(
        "japanese-highlight",
        Look.HIGHLIGHT,
        text="この 小さな コツ で 人生 が 変わり ました。",
        language="ja",
        seconds=0.45,
    ),
    Scene("japanese-impact", Look.IMPACT, text="人 生 が 変わり ました", language="ja", seconds=0.45),
    Scene("thai-default", Look.DEFAULT, text="เคล็ด ลับ นี้ เปลี่ยน ทุก อย่าง ใน ชีวิต ผม", language="th", seconds=0.45),
    Scene("hindi-modern", Look.MODERN, text="इस छोटी तरकीब ने सब बदल दिया", language="hi", seconds=0.45),
    Scene("russian-impact", Look.IMPACT, text="Щёлкни", language="ru", seconds=0.15),
    Scene("greek-default", Look.DEFAULT, text="Αυτό το μικρό κόλπο άλλαξε τα πάντα", language="el", seconds=0.6),
    Scene("turkish-modern", Look.MODERN, text="İşte her şeyi değiştiren küçük ipucu", language="tr", seconds=0.75),
)
SHAPES = (
    *(Scene(f"wide-{look}", look, width=1920, height=1080) for look in (Look.DEFAULT, Look.SUBTLE, Look.HIGHLIGHT)),
    Scene("square-pro_highlight", Look.PRO_HIGHLIGHT, width=1080, height=1080),
    Scene("square-karaoke", Look.KARAOKE, width=1080, height=1080, position=Position.TOP),
)
SCENES = (*LOOKS_AND_POSITIONS, *SCRIPTS, *SHAPES)


def spoken(text: str, *, start_seconds: float = 0.0, seconds_per_word: float = SECONDS_PER_WORD) -> list[Word]:
    """The words of a text, one after the other."""
    starts = [round(start_seconds + at * seconds_per_word, 3) for at in range(len(text.split()))]
    return [
        Word(word, start, round(start + seconds_per_word, 3), 1.0)
        for word, start in zip(text.split(), starts, strict=True)
    ]


def track_of(scene: Scene) -> CaptionTrack:
    words = spoken(scene.text)
    size: Size = {"width": scene.width, "height": scene.height}
    screens = group_words(words, look=scene.look, language=scene.language, **size)
    return write_captions(screens, look=scene.look, position=scene.position, language=scene.language, **size)


@cache
def background(width: int, height: int) -> "Picture":
    """Dark on the left and bright on the right, in bands that compress well, with a round and an angular shape."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    across = np.floor((x / width * 0.85 + y / height * 0.15) * 14) / 14
    picture = np.stack([30 + 215 * across, 42 + 200 * across, 74 + 160 * across], axis=-1)
    unit = min(width, height)
    round_ = (x - 0.72 * width) ** 2 + (y - 0.72 * height) ** 2 < (0.2 * unit) ** 2
    picture[round_] = (232, 96, 60)
    corner = (abs(x - 0.28 * width) < 0.16 * unit) & (abs(y - 0.5 * height) < 0.1 * unit)
    picture[corner] = (250, 248, 240)
    light = (abs(x - 0.3 * width) < 0.2 * unit) & (abs(y - 0.15 * height) < 0.12 * unit)
    picture[light] = (120, 190, 90)
    return picture.astype(np.uint8)


async def draw(files: Sequence[tuple[str, float]], *, width: int, height: int) -> "list[Picture]":
    """Caption files over the background, each at a moment, by one ffmpeg in the sandbox; at full size."""
    with TemporaryDirectory() as name:
        below, out = Path(name, "below.ppm"), Path(name, "out")
        below.write_bytes(f"P6 {width} {height} 255\n".encode() + background(width, height).tobytes())
        out.mkdir()
        arguments = ["-f", "image2", "-c:v", "ppm", "-i", inside("below")]
        for at, (ass, seconds) in enumerate(files):
            (out / f"{at}.ass").write_text(ass, encoding="utf-8")
            graph = f"setpts=PTS+{seconds}/TB,{captions_filter(f'{at}.ass')}"
            arguments += ["-vf", graph, "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", f"{at}.rgb"]
        await ffmpeg(Sandbox(), arguments, inputs={"below": below}, output=out)
        raw = [(out / f"{at}.rgb").read_bytes() for at in range(len(files))]
    return [np.frombuffer(each, np.uint8).reshape(height, width, 3) for each in raw]


async def see(scenes: Sequence[Scene]) -> "dict[str, Picture]":
    """Scenes by their names, at full size; a program's start takes longer than a picture, so many are drawn at once."""
    seen: dict[str, Picture] = {}
    for size in sorted({(scene.width, scene.height) for scene in scenes}):
        alike = [scene for scene in scenes if (scene.width, scene.height) == size]
        for at in range(0, len(alike), AT_ONCE):
            part = alike[at : at + AT_ONCE]
            files = [(track_of(scene).ass, scene.seconds) for scene in part]
            pictures = await draw(files, width=size[0], height=size[1])
            seen |= {scene.name: picture for scene, picture in zip(part, pictures, strict=True)}
    return seen


def shrunk(picture: "Picture", times: int = SHRINK) -> "Picture":
    """Each pixel the mean of those it stands for."""
    height, width, _ = picture.shape
    parts = picture.reshape(height // times, times, width // times, times, 3)
    means: Picture = np.round(parts.mean(axis=(1, 3))).astype(np.uint8)
    return means


def distance(one: "Picture", other: "Picture", below: "Picture") -> float:
    """How different two stored pictures look, from 0 to 1, where either of them differs from the background.

    Halved once more, so that a letter's edge half a pixel away, as from another version of a library, hardly counts.
    """
    first, second, ground = (shrunk(each, 2).astype(np.float32) for each in (one, other, below))
    drawn = (abs(first - ground).max(axis=-1) > TOLD) | (abs(second - ground).max(axis=-1) > TOLD)
    return float(abs(first - second)[drawn].mean() / 255) if drawn.any() else 0.0


def save(picture: "Picture", path: Path) -> None:
    height, width, _ = picture.shape
    command = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{width}x{height}", "-i", "pipe:0", "-compression_level", "9", "-pred", "mixed", str(path)]
    subprocess.run(command, input=picture.tobytes(), check=True, timeout=60)


def load(path: Path, *, width: int, height: int) -> "Picture":
    command = ["ffmpeg", "-v", "error", "-nostdin", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"]
    raw = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    return np.frombuffer(raw, np.uint8).reshape(height, width, 3)
