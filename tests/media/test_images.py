"""Tests for decoding untrusted images, rejecting hostile ones, and encoding our own."""

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
    DECODED_SIDE,
    MAX_BYTES,
    ImageFormat,
    decode_image,
    encode_jpeg,
    encode_png,
    read_header,
    sniff_image,
)
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import Sandbox

if TYPE_CHECKING:
    from cutroom.media.images import Image


def quadrants(width: int = 96, height: int = 64) -> "Image":
    """Red, green, blue and white, each in a corner."""
    image = np.zeros((height, width, 3), np.uint8)
    for x, y, color in ((0, 0, (250, 0, 0)), (1, 0, (0, 250, 0)), (0, 1, (0, 0, 250)), (1, 1, (250, 250, 250))):
        part = image[y * height // 2 :, x * width // 2 :]
        part[:] = color
    return image


def write_image(folder: Path, name: str, image: "Image", *options: int) -> Path:
    path = folder / name
    cv2.imwrite(str(path), image[..., ::-1], list(options))
    return path


def with_orientation(jpeg: bytes, value: int, *, order: str = "<") -> bytes:
    mark = b"II*\0" if order == "<" else b"MM\0*"
    entry = struct.pack(order + "HHIHH", 0x0112, 3, 1, value, 0)
    exif = b"Exif\0\0" + mark + struct.pack(order + "IH", 8, 1) + entry + struct.pack(order + "I", 0)
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]


def png(width: int, height: int, *, data: bytes = b"") -> bytes:
    """A PNG of one color, or one with a header only."""

    def chunk(chunk_type: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + chunk_type + body + struct.pack(">I", zlib.crc32(chunk_type + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.parametrize("extension", ["png", "jpg", "webp"])
async def test_each_format_is_decoded(tmp_path: Path, sandbox: Sandbox, extension: str) -> None:
    path = write_image(tmp_path, f"one.{extension}", quadrants())
    decoded = await decode_image(path, scratch=tmp_path, sandbox=sandbox)
    assert decoded.shape == (64, 96, 3)
    assert np.abs(decoded.astype(int) - quadrants()).mean() < 6
    assert not (tmp_path / "image.raw").exists()


async def test_first_frame_of_a_gif_is_decoded(tmp_path: Path, sandbox: Sandbox) -> None:
    moving = "color=red:s=64x48:d=0.5:r=4,format=rgb24[a];color=blue:s=64x48:d=0.5:r=4,format=rgb24[b];[a][b]concat"
    path = tmp_path / "moving.gif"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", moving, str(path)], check=True, timeout=500)
    decoded = await decode_image(path, scratch=tmp_path, sandbox=sandbox)
    assert decoded.shape == (48, 64, 3)
    assert decoded[..., 0].mean() > 200
    assert decoded[..., 2].mean() < 60


async def test_file_name_is_ignored(tmp_path: Path, sandbox: Sandbox) -> None:
    path = write_image(tmp_path, "one.png", quadrants()).rename(tmp_path / "page.html")
    assert (await decode_image(path, scratch=tmp_path, sandbox=sandbox)).shape == (64, 96, 3)


async def test_transparent_pixels_become_white(tmp_path: Path, sandbox: Sandbox) -> None:
    image = np.zeros((40, 40, 4), np.uint8)
    image[10:30, 10:30] = (0, 0, 255, 255)
    cv2.imwrite(str(tmp_path / "logo.png"), image)
    decoded = await decode_image(tmp_path / "logo.png", scratch=tmp_path, sandbox=sandbox)
    assert (decoded[0, 0] == 255).all()
    assert decoded[20, 20].tolist() == [255, 0, 0]


async def test_large_images_are_scaled_down_with_their_aspect_ratio(tmp_path: Path, sandbox: Sandbox) -> None:
    path = write_image(tmp_path, "large.jpg", quadrants(6000, 3000))
    assert (await decode_image(path, scratch=tmp_path, sandbox=sandbox)).shape == (DECODED_SIDE // 2, DECODED_SIDE, 3)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("orientation", "rotated"),
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
async def test_exif_orientation_is_applied(
    tmp_path: Path, sandbox: Sandbox, orientation: int, rotated: "object", order: str
) -> None:
    assert callable(rotated)
    path = tmp_path / "rotated.jpg"
    path.write_bytes(with_orientation(encode_jpeg(quadrants()), orientation, order=order))
    decoded = await decode_image(path, scratch=tmp_path, sandbox=sandbox)
    expected = np.asarray(rotated(quadrants()))
    assert decoded.shape == expected.shape
    assert np.abs(decoded.astype(int) - expected).mean() < 6


def svg() -> bytes:
    return b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'


def bomb() -> bytes:
    """A decompression bomb: a few kilobytes that expand to a gigapixel."""
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
async def test_hostile_files_are_rejected(tmp_path: Path, sandbox: Sandbox, name: str) -> None:
    data, reason = HOSTILE[name]
    path = tmp_path / "image.png"
    path.write_bytes(data)
    with pytest.raises(MediaError) as caught:
        await decode_image(path, scratch=tmp_path, sandbox=sandbox)
    assert caught.value.reason is reason
    assert not caught.value.retryable


async def test_video_named_as_image_is_rejected(tmp_path: Path, sandbox: Sandbox, sample_video: Path) -> None:
    path = tmp_path / "sample_video.png"
    path.write_bytes(sample_video.read_bytes())
    with pytest.raises(MediaError) as caught:
        await decode_image(path, scratch=tmp_path, sandbox=sandbox)
    assert caught.value.reason is Reason.UNSUPPORTED_FORMAT


@pytest.mark.parametrize("extension", ["png", "jpg", "webp", "gif"])
async def test_truncated_image_is_rejected(tmp_path: Path, sandbox: Sandbox, extension: str) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (200, 300, 3), np.uint8)
    path = tmp_path / f"cut.{extension}"
    if extension == "gif":
        write_image(tmp_path, "cut.png", noise)
        subprocess.run(["ffmpeg", "-v", "error", "-i", str(tmp_path / "cut.png"), str(path)], check=True, timeout=500)
    else:
        write_image(tmp_path, path.name, noise)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(MediaError) as caught:
        await decode_image(path, scratch=tmp_path, sandbox=sandbox)
    assert caught.value.reason is Reason.UNREADABLE


async def test_conflicting_frame_headers_are_rejected(tmp_path: Path, sandbox: Sandbox) -> None:
    """The first frame header says 64 x 64, a second one 60000 x 60000."""
    jpeg = encode_jpeg(quadrants(64, 64))
    at = jpeg.index(b"\xff\xc0")
    larger = jpeg[at : at + 5] + struct.pack(">HH", 60_000, 60_000) + jpeg[at + 9 : at + 19]
    path = tmp_path / "two.jpg"
    path.write_bytes(jpeg[: at + 19] + larger + jpeg[at + 19 :])
    with pytest.raises(MediaError):
        await decode_image(path, scratch=tmp_path, sandbox=sandbox)


def test_oversized_file_is_rejected_before_reading(tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    path.write_bytes(png(64, 64))
    os.truncate(path, MAX_BYTES + 1)
    with pytest.raises(MediaError) as caught:
        read_header(path)
    assert caught.value.reason is Reason.PICTURE_TOO_LARGE


def test_links_and_directories_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "link.png").symlink_to("/etc/passwd")
    for path in (tmp_path, tmp_path / "link.png", tmp_path / "missing.png"):
        with pytest.raises(MediaError) as caught:
            read_header(path)
        assert caught.value.reason is Reason.NOT_A_FILE


def test_jpeg_and_png_encoding() -> None:
    image = quadrants(1280, 720)
    png_data, jpeg_data = encode_png(image), encode_jpeg(image)
    assert np.array_equal(cv2.imdecode(np.frombuffer(png_data, np.uint8), cv2.IMREAD_COLOR)[..., ::-1], image)  # type: ignore[index] # it was decoded
    header = sniff_image(jpeg_data)
    assert header is not None
    assert (header.format, header.width, header.height, header.orientation) == (ImageFormat.JPEG, 1280, 720, 1)
    assert len(jpeg_data) < len(encode_jpeg(image, quality=100))
