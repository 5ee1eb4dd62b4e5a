"""Pictures of strangers are decoded as they are meant to be seen; what is hostile, broken or no picture is refused."""

import os
import struct
import subprocess
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.media.images import (
    KEPT_SIDE,
    MAX_BYTES,
    Format,
    decode_picture,
    encode_jpeg,
    encode_png,
    read_head,
    sniff_picture,
)
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import Sandbox

if TYPE_CHECKING:
    from cutroom.media.images import Picture


def quarters(width: int = 96, height: int = 64) -> "Picture":
    """Red, green, blue and white, each in a corner."""
    picture = np.zeros((height, width, 3), np.uint8)
    for x, y, colour in ((0, 0, (250, 0, 0)), (1, 0, (0, 250, 0)), (0, 1, (0, 0, 250)), (1, 1, (250, 250, 250))):
        part = picture[y * height // 2 :, x * width // 2 :]
        part[:] = colour
    return picture


def written(folder: Path, name: str, picture: "Picture", *options: int) -> Path:
    path = folder / name
    cv2.imwrite(str(path), picture[..., ::-1], list(options))
    return path


def with_orientation(jpeg: bytes, value: int, *, order: str = "<") -> bytes:
    mark = b"II*\0" if order == "<" else b"MM\0*"
    entry = struct.pack(order + "HHIHH", 0x0112, 3, 1, value, 0)
    exif = b"Exif\0\0" + mark + struct.pack(order + "IH", 8, 1) + entry + struct.pack(order + "I", 0)
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]


def png(width: int, height: int, *, data: bytes = b"") -> bytes:
    """A PNG of one colour, or one that only says how large it is."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.parametrize("ending", ["png", "jpg", "webp"])
async def test_each_format_is_decoded(tmp_path: Path, sandbox: Sandbox, ending: str) -> None:
    path = written(tmp_path, f"one.{ending}", quarters())
    seen = await decode_picture(path, scratch=tmp_path, sandbox=sandbox)
    assert seen.shape == (64, 96, 3)
    assert np.abs(seen.astype(int) - quarters()).mean() < 6
    assert not (tmp_path / "picture.raw").exists()


async def test_of_a_gif_the_first_picture_is_taken(tmp_path: Path, sandbox: Sandbox) -> None:
    moving = "color=red:s=64x48:d=0.5:r=4,format=rgb24[a];color=blue:s=64x48:d=0.5:r=4,format=rgb24[b];[a][b]concat"
    path = tmp_path / "moving.gif"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", moving, str(path)], check=True, timeout=30)
    seen = await decode_picture(path, scratch=tmp_path, sandbox=sandbox)
    assert seen.shape == (48, 64, 3)
    assert seen[..., 0].mean() > 200
    assert seen[..., 2].mean() < 60


async def test_a_name_says_nothing(tmp_path: Path, sandbox: Sandbox) -> None:
    path = written(tmp_path, "one.png", quarters()).rename(tmp_path / "page.html")
    assert (await decode_picture(path, scratch=tmp_path, sandbox=sandbox)).shape == (64, 96, 3)


async def test_what_is_transparent_stands_on_white(tmp_path: Path, sandbox: Sandbox) -> None:
    picture = np.zeros((40, 40, 4), np.uint8)
    picture[10:30, 10:30] = (0, 0, 255, 255)
    cv2.imwrite(str(tmp_path / "logo.png"), picture)
    seen = await decode_picture(tmp_path / "logo.png", scratch=tmp_path, sandbox=sandbox)
    assert (seen[0, 0] == 255).all()
    assert seen[20, 20].tolist() == [255, 0, 0]


async def test_large_pictures_become_smaller_and_keep_their_shape(tmp_path: Path, sandbox: Sandbox) -> None:
    path = written(tmp_path, "large.jpg", quarters(6000, 3000))
    assert (await decode_picture(path, scratch=tmp_path, sandbox=sandbox)).shape == (KEPT_SIDE // 2, KEPT_SIDE, 3)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("orientation", "turned"),
    [
        (1, lambda p: p),
        (2, lambda p: p[:, ::-1]),
        (3, lambda p: p[::-1, ::-1]),
        (4, lambda p: p[::-1]),
        (5, lambda p: p.transpose(1, 0, 2)),
        (6, lambda p: np.rot90(p, -1)),
        (7, lambda p: p[::-1, ::-1].transpose(1, 0, 2)),
        (8, np.rot90),
        (0, lambda p: p),
        (9, lambda p: p),
    ],
)
async def test_pictures_are_turned_upright(
    tmp_path: Path, sandbox: Sandbox, orientation: int, turned: "object", order: str
) -> None:
    assert callable(turned)
    path = tmp_path / "turned.jpg"
    path.write_bytes(with_orientation(encode_jpeg(quarters()), orientation, order=order))
    seen = await decode_picture(path, scratch=tmp_path, sandbox=sandbox)
    expected = np.asarray(turned(quarters()))
    assert seen.shape == expected.shape
    assert np.abs(seen.astype(int) - expected).mean() < 6


def svg() -> bytes:
    return b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'


def bomb() -> bytes:
    """A few kilobytes that would be a gigapixel."""
    squeezed = zlib.compressobj(9)
    rows = b"".join(squeezed.compress(b"\0" * 40_000) for _ in range(100)) + squeezed.flush()
    return png(30_000, 30_000, data=rows)


HOSTILE = {
    "empty": (b"", Reason.EMPTY),
    "svg": (svg(), Reason.UNSUPPORTED_FORMAT),
    "playlist": (b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n", Reason.UNSUPPORTED_FORMAT),
    "concat": (b"ffconcat version 1.0\nfile '/etc/passwd'\n", Reason.UNSUPPORTED_FORMAT),
    "text": (b"GIF89", Reason.UNSUPPORTED_FORMAT),
    "bomb": (bomb(), Reason.PICTURE_TOO_LARGE),
    "long": (png(40_000, 20), Reason.PICTURE_TOO_LARGE),
    "tiny": (png(2, 2), Reason.UNREADABLE),
    "no pixels": (png(64, 64), Reason.UNREADABLE),
    "half a header": (png(64, 64)[:20], Reason.UNSUPPORTED_FORMAT),
    "jpeg of nothing": (b"\xff\xd8\xff\xe0\x00\x04ab\xff\xd9", Reason.UNSUPPORTED_FORMAT),
    "jpeg whose parts have no length": (b"\xff\xd8\xff\xe0\x00\x00" * 9, Reason.UNSUPPORTED_FORMAT),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_files_are_refused(tmp_path: Path, sandbox: Sandbox, name: str) -> None:
    data, reason = HOSTILE[name]
    path = tmp_path / "picture.png"
    path.write_bytes(data)
    with pytest.raises(MediaError) as told:
        await decode_picture(path, scratch=tmp_path, sandbox=sandbox)
    assert told.value.reason is reason
    assert not told.value.retryable


async def test_a_film_named_as_a_picture_is_refused(tmp_path: Path, sandbox: Sandbox, film: Path) -> None:
    path = tmp_path / "film.png"
    path.write_bytes(film.read_bytes())
    with pytest.raises(MediaError) as told:
        await decode_picture(path, scratch=tmp_path, sandbox=sandbox)
    assert told.value.reason is Reason.UNSUPPORTED_FORMAT


@pytest.mark.parametrize("ending", ["png", "jpg", "webp", "gif"])
async def test_what_is_cut_off_is_refused(tmp_path: Path, sandbox: Sandbox, ending: str) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (200, 300, 3), np.uint8)
    path = tmp_path / f"cut.{ending}"
    if ending == "gif":
        written(tmp_path, "cut.png", noise)
        subprocess.run(["ffmpeg", "-v", "error", "-i", str(tmp_path / "cut.png"), str(path)], check=True, timeout=30)
    else:
        written(tmp_path, path.name, noise)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(MediaError) as told:
        await decode_picture(path, scratch=tmp_path, sandbox=sandbox)
    assert told.value.reason is Reason.UNREADABLE


async def test_a_header_may_lie_about_the_size_and_still_no_more_is_read(tmp_path: Path, sandbox: Sandbox) -> None:
    """The header says 64 x 64; a second frame header behind it says 60000 x 60000."""
    jpeg = encode_jpeg(quarters(64, 64))
    at = jpeg.index(b"\xff\xc0")
    larger = jpeg[at : at + 5] + struct.pack(">HH", 60_000, 60_000) + jpeg[at + 9 : at + 19]
    path = tmp_path / "two.jpg"
    path.write_bytes(jpeg[: at + 19] + larger + jpeg[at + 19 :])
    with pytest.raises(MediaError):
        await decode_picture(path, scratch=tmp_path, sandbox=sandbox)


def test_too_many_bytes_are_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    path.write_bytes(png(64, 64))
    os.truncate(path, MAX_BYTES + 1)
    with pytest.raises(MediaError) as told:
        read_head(path)
    assert told.value.reason is Reason.PICTURE_TOO_LARGE


def test_links_and_folders_are_no_pictures(tmp_path: Path) -> None:
    (tmp_path / "link.png").symlink_to("/etc/passwd")
    for path in (tmp_path, tmp_path / "link.png", tmp_path / "missing.png"):
        with pytest.raises(MediaError) as told:
            read_head(path)
        assert told.value.reason is Reason.NOT_A_FILE


def test_our_own_pictures_are_encoded() -> None:
    picture = quarters(1280, 720)
    png_data, jpeg_data = encode_png(picture), encode_jpeg(picture)
    assert np.array_equal(cv2.imdecode(np.frombuffer(png_data, np.uint8), cv2.IMREAD_COLOR)[..., ::-1], picture)  # type: ignore[index] # it was decoded
    head = sniff_picture(jpeg_data)
    assert head is not None
    assert (head.format, head.width, head.height, head.orientation) == (Format.JPEG, 1280, 720, 1)
    assert len(jpeg_data) < len(encode_jpeg(picture, quality=100))
