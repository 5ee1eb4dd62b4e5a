"""Caption scenes for reference images: rendering, storage and comparison."""

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
from cutroom.media.sandbox import Sandbox, ffmpeg, input_url
from cutroom.products.shorts.captions.ass import CaptionTrack, write_captions
from cutroom.products.shorts.captions.safe_zones import CaptionPosition
from cutroom.products.shorts.captions.screens import group_into_screens
from cutroom.products.shorts.captions.styles import CaptionStyle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]

REFERENCE_DIR = Path(__file__).parent / "reference_images"
DOWNSCALE = 3  # of stored images
BATCH_SIZE = 8
SECONDS_PER_WORD = 0.3
MIN_DRAWN_LEVEL = 8  # minimum difference for a pixel to count as drawn
# Mean difference over drawn pixels, as a fraction of the range; a shift by one full-size pixel gives 0.03 to 0.05.
MAX_DISTANCE = 0.03

ENGLISH = "So here is the little trick that changed everything for me."


class Size(TypedDict):
    """Frame size in pixels."""

    width: int
    height: int


PORTRAIT: Size = {"width": 1080, "height": 1920}


@dataclass(frozen=True, slots=True)
class CaptionScene:
    """One reference image: evenly spoken words at a moment."""

    name: str
    caption_style: CaptionStyle
    position: CaptionPosition = CaptionPosition.BOTTOM
    text: str = ENGLISH
    language: str = "en"
    width: int = 1080
    height: int = 1920
    seconds: float = 1.35


_MOMENTS = {CaptionPosition.TOP: 0.75, CaptionPosition.MIDDLE: 1.35, CaptionPosition.BOTTOM: 1.35}
STYLES_AND_POSITIONS = tuple(
    CaptionScene(
        f"{caption_style}-{position}",
        caption_style,
        position,
        seconds=1.4 if caption_style is CaptionStyle.KARAOKE else _MOMENTS[position],
    )
    for caption_style in CaptionStyle
    for position in CaptionPosition
)
SCRIPTS = (
    CaptionScene(
        "arabic-highlight", CaptionStyle.HIGHLIGHT, text="هذه هي الحيلة التي غيرت كل شيء!", language="ar", seconds=0.75
    ),
    CaptionScene("arabic-karaoke", CaptionStyle.KARAOKE, text="شاهد TV HD الآن", language="ar", seconds=0.5),
    CaptionScene(
        "hebrew-modern", CaptionStyle.MODERN, text="זה הטריק ששינה לי את הכול, באמת!", language="he", seconds=0.45
    ),
    CaptionScene(
        "japanese-highlight",
        CaptionStyle.HIGHLIGHT,
        text="この 小さな コツ で 人生 が 変わり ました。",
        language="ja",
        seconds=0.45,
    ),
    CaptionScene("japanese-impact", CaptionStyle.IMPACT, text="人 生 が 変わり ました", language="ja", seconds=0.45),
    CaptionScene(
        "thai-default", CaptionStyle.DEFAULT, text="เคล็ด ลับ นี้ เปลี่ยน ทุก อย่าง ใน ชีวิต ผม", language="th", seconds=0.45
    ),
    CaptionScene("hindi-modern", CaptionStyle.MODERN, text="इस छोटी तरकीब ने सब बदल दिया", language="hi", seconds=0.45),
    CaptionScene("russian-impact", CaptionStyle.IMPACT, text="Щёлкни", language="ru", seconds=0.15),
    CaptionScene(
        "greek-default", CaptionStyle.DEFAULT, text="Αυτό το μικρό κόλπο άλλαξε τα πάντα", language="el", seconds=0.6
    ),
    CaptionScene(
        "turkish-modern", CaptionStyle.MODERN, text="İşte her şeyi değiştiren küçük ipucu", language="tr", seconds=0.75
    ),
)
SHAPES = (
    *(
        CaptionScene(f"wide-{caption_style}", caption_style, width=1920, height=1080)
        for caption_style in (CaptionStyle.DEFAULT, CaptionStyle.SUBTLE, CaptionStyle.HIGHLIGHT)
    ),
    CaptionScene("square-pro_highlight", CaptionStyle.PRO_HIGHLIGHT, width=1080, height=1080),
    CaptionScene("square-karaoke", CaptionStyle.KARAOKE, width=1080, height=1080, position=CaptionPosition.TOP),
)
SCENES = (*STYLES_AND_POSITIONS, *SCRIPTS, *SHAPES)


def evenly_spoken(text: str, *, start_seconds: float = 0.0, seconds_per_word: float = SECONDS_PER_WORD) -> list[Word]:
    """The words of a text, evenly timed."""
    starts = [round(start_seconds + index * seconds_per_word, 3) for index in range(len(text.split()))]
    return [
        Word(word, start, round(start + seconds_per_word, 3), 1.0)
        for word, start in zip(text.split(), starts, strict=True)
    ]


def caption_track(scene: CaptionScene) -> CaptionTrack:
    words = evenly_spoken(scene.text)
    size: Size = {"width": scene.width, "height": scene.height}
    screens = group_into_screens(words, caption_style=scene.caption_style, language=scene.language, **size)
    return write_captions(
        screens, caption_style=scene.caption_style, position=scene.position, language=scene.language, **size
    )


@cache
def background(width: int, height: int) -> "Image":
    """A gradient in bands that compress well, with a round and two rectangular shapes."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    across = np.floor((x / width * 0.85 + y / height * 0.15) * 14) / 14
    image = np.stack([30 + 215 * across, 42 + 200 * across, 74 + 160 * across], axis=-1)
    unit = min(width, height)
    round_ = (x - 0.72 * width) ** 2 + (y - 0.72 * height) ** 2 < (0.2 * unit) ** 2
    image[round_] = (232, 96, 60)
    corner = (abs(x - 0.28 * width) < 0.16 * unit) & (abs(y - 0.5 * height) < 0.1 * unit)
    image[corner] = (250, 248, 240)
    light = (abs(x - 0.3 * width) < 0.2 * unit) & (abs(y - 0.15 * height) < 0.12 * unit)
    image[light] = (120, 190, 90)
    return image.astype(np.uint8)


async def render_captions(files: Sequence[tuple[str, float]], *, width: int, height: int) -> "list[Image]":
    """Renders caption files over the background with one ffmpeg run in the sandbox, at full size."""
    with TemporaryDirectory() as name:
        background_path, out = Path(name, "below.ppm"), Path(name, "out")
        background_path.write_bytes(f"P6 {width} {height} 255\n".encode() + background(width, height).tobytes())
        out.mkdir()
        arguments = ["-f", "image2", "-c:v", "ppm", "-i", input_url("below")]
        for index, (ass, seconds) in enumerate(files):
            (out / f"{index}.ass").write_text(ass, encoding="utf-8")
            graph = f"setpts=PTS+{seconds}/TB,{captions_filter(f'{index}.ass')}"
            arguments += ["-vf", graph, "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", f"{index}.rgb"]
        await ffmpeg(Sandbox(), arguments, inputs={"below": background_path}, output=out)
        raw = [(out / f"{index}.rgb").read_bytes() for index in range(len(files))]
    return [np.frombuffer(each, np.uint8).reshape(height, width, 3) for each in raw]


async def render_scenes(scenes: Sequence[CaptionScene]) -> "dict[str, Image]":
    """Renders scenes at full size, in batches because starting ffmpeg is slower than rendering."""
    rendered: dict[str, Image] = {}
    for size in sorted({(scene.width, scene.height) for scene in scenes}):
        same_size = [scene for scene in scenes if (scene.width, scene.height) == size]
        for index in range(0, len(same_size), BATCH_SIZE):
            batch = same_size[index : index + BATCH_SIZE]
            files = [(caption_track(scene).ass, scene.seconds) for scene in batch]
            images = await render_captions(files, width=size[0], height=size[1])
            rendered |= {scene.name: image for scene, image in zip(batch, images, strict=True)}
    return rendered


def downscale(image: "Image", times: int = DOWNSCALE) -> "Image":
    """Box-filter downscaling."""
    height, width, _ = image.shape
    parts = image.reshape(height // times, times, width // times, times, 3)
    means: Image = np.round(parts.mean(axis=(1, 3))).astype(np.uint8)
    return means


def distance(one: "Image", other: "Image", below: "Image") -> float:
    """Mean difference of two stored images from 0 to 1, over pixels where either differs from the background.

    Halved once more, so that subpixel differences between library versions hardly count.
    """
    first, second, background_image = (downscale(each, 2).astype(np.float32) for each in (one, other, below))
    is_drawn = (abs(first - background_image).max(axis=-1) > MIN_DRAWN_LEVEL) | (
        abs(second - background_image).max(axis=-1) > MIN_DRAWN_LEVEL
    )
    return float(abs(first - second)[is_drawn].mean() / 255) if is_drawn.any() else 0.0


def save(image: "Image", path: Path) -> None:
    height, width, _ = image.shape
    command = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{width}x{height}", "-i", "pipe:0", "-compression_level", "9", "-pred", "mixed", str(path)]
    subprocess.run(command, input=image.tobytes(), check=True, timeout=500)


def load(path: Path, *, width: int, height: int) -> "Image":
    command = ["ffmpeg", "-v", "error", "-nostdin", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"]
    raw = subprocess.run(command, capture_output=True, check=True, timeout=500).stdout
    return np.frombuffer(raw, np.uint8).reshape(height, width, 3)
