"""Decodes untrusted images in the sandbox, and encodes our own."""

import struct
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import INPUT, MIB, Sandbox, SandboxLimits, ffmpeg, input_url, require_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]  # height, width, RGB

MAX_BYTES = 20 * MIB
MAX_PIXELS = 40_000_000
MAX_SIDE = 16_384
MIN_SIDE = 16
DECODED_SIDE = 2048  # pixels of the longer side after decoding: more than any thumbnail shows
HEAD_BYTES = 256 * 1024  # a JPEG's frame header lies within this, even after embedded thumbnails
JPEG_QUALITY = 92
LIMITS = SandboxLimits(wall_seconds=60, cpu_seconds=30, file_bytes=64 * MIB)
BACKGROUND = 255  # white, behind transparent pixels


class ImageFormat(StrEnum):
    """Supported ffmpeg demuxers; none of them opens another file."""

    PNG = "png_pipe"
    JPEG = "jpeg_pipe"
    WEBP = "webp_pipe"
    GIF = "gif"


_DECODERS = {ImageFormat.PNG: "png", ImageFormat.JPEG: "mjpeg", ImageFormat.WEBP: "webp", ImageFormat.GIF: "gif"}
# Filters for EXIF orientations; 1 and unknown values need none.
_ROTATIONS = {
    2: "hflip",
    3: "hflip,vflip",
    4: "vflip",
    5: "transpose=cclock_flip",
    6: "transpose=clock",
    7: "transpose=clock_flip",
    8: "transpose=cclock",
}


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """Format and size from the first bytes of an image; the size is as stored, before rotation."""

    format: ImageFormat
    width: int
    height: int
    orientation: int = 1


async def decode_image(path: Path, *, scratch: Path, sandbox: Sandbox) -> "Image":
    """Pixels of a PNG, JPEG, WebP or GIF (first frame), upright, on white, at most 2048 pixels a side."""
    header = read_header(path)
    width, height = (header.height, header.width) if header.orientation >= 5 else (header.width, header.height)
    scale = min(1.0, DECODED_SIDE / max(width, height))
    width, height = max(MIN_SIDE, round(width * scale)), max(MIN_SIDE, round(height * scale))
    rotation = f"{_ROTATIONS[header.orientation]}," if header.orientation in _ROTATIONS else ""
    filters = f"{rotation}scale={width}:{height}:flags=area,format=rgba"
    # -noautorotate: newer ffmpeg versions apply the EXIF orientation themselves, older ones do not.
    arguments = ["-noautorotate", *_input_options(header.format), "-map", "0:v:0", "-vf", filters, "-frames:v", "1"]
    arguments += ["-f", "rawvideo", "image.raw"]
    raw = scratch / "image.raw"
    try:
        await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=scratch, limits=LIMITS)
        data = raw.read_bytes() if raw.exists() else b""
    finally:
        raw.unlink(missing_ok=True)
    if len(data) != width * height * 4:
        raise MediaError(Reason.UNREADABLE, "The image is damaged.", detail=f"{len(data)} bytes of pixels")
    return _on_background(data, width=width, height=height)


def _input_options(image_format: ImageFormat) -> list[str]:
    """One demuxer, one decoder, bounded sizes, no other file."""
    return [
        *("-f", image_format.value),
        *("-protocol_whitelist", "file"),
        *("-format_whitelist", image_format.value),
        *("-codec_whitelist", _DECODERS[image_format]),
        *("-max_pixels", str(MAX_PIXELS)),
        *("-max_streams", "1"),
        # Fail on truncated images instead of filling them with gray.
        *("-err_detect", "explode", "-xerror"),
        *("-threads", "1"),
        *("-i", input_url()),
    ]


def _on_background(data: bytes, *, width: int, height: int) -> "Image":
    import numpy as np  # noqa: PLC0415 - the API process imports this module without numpy

    pixels = np.frombuffer(data, np.uint8).reshape(height, width, 4)
    if (pixels[..., 3] == 255).all():
        return pixels[..., :3].copy()
    alpha = pixels[..., 3:].astype(np.float32) / 255
    return np.rint(pixels[..., :3] * alpha + BACKGROUND * (1 - alpha)).astype(np.uint8)


def read_header(path: Path) -> ImageHeader:
    """Reads and validates the header; rejects anything unsupported or too large before decoding."""
    size_bytes = require_file(path)
    if size_bytes == 0:
        raise MediaError(Reason.EMPTY, "The file is empty.")
    if size_bytes > MAX_BYTES:
        raise MediaError(Reason.PICTURE_TOO_LARGE, f"The image has more than {MAX_BYTES // MIB} MiB.")
    with path.open("rb") as file:
        header = sniff_image(file.read(HEAD_BYTES))
    if header is None:
        raise MediaError(Reason.UNSUPPORTED_FORMAT, "The file is not a PNG, JPEG, WebP or GIF image.")
    check_size(header)
    return header


def check_size(header: ImageHeader) -> None:
    if max(header.width, header.height) > MAX_SIDE or header.width * header.height > MAX_PIXELS:
        raise MediaError(Reason.PICTURE_TOO_LARGE, f"The image has more than {MAX_PIXELS // 1_000_000} megapixels.")
    if min(header.width, header.height) < MIN_SIDE:
        raise MediaError(Reason.UNREADABLE, f"The image has less than {MIN_SIDE} pixels on a side.")


def sniff_image(data: bytes) -> ImageHeader | None:
    """Detects the format from the first bytes; the file name is ignored."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            return ImageHeader(ImageFormat.PNG, *struct.unpack(">II", data[16:24]))
        if data[:6] in (b"GIF87a", b"GIF89a"):
            return ImageHeader(ImageFormat.GIF, *struct.unpack("<HH", data[6:10]))
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp_header(data)
        if data.startswith(b"\xff\xd8\xff"):
            return _jpeg_header(data)
    except struct.error:
        return None
    return None


def _webp_header(data: bytes) -> ImageHeader | None:
    kind = data[12:16]
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack("<HH", data[26:30])
        return ImageHeader(ImageFormat.WEBP, width & 0x3FFF, height & 0x3FFF)
    if kind == b"VP8L" and data[20:21] == b"\x2f":
        (bits,) = struct.unpack("<I", data[21:25])
        return ImageHeader(ImageFormat.WEBP, (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8X":
        if data[20] & 0x02:  # animated, which ffmpeg cannot decode
            return None
        width, height = (1 + int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
        return ImageHeader(ImageFormat.WEBP, width, height)
    return None


def _jpeg_header(data: bytes) -> ImageHeader | None:
    """The size is in the first frame header; EXIF, if any, comes before it."""
    at, orientation = 2, 1
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker in {0xFF, 0x01} or 0xD0 <= marker <= 0xD8:  # fill bytes, and markers without a length
            at += 1 if marker == 0xFF else 2
            continue
        (length,) = struct.unpack(">H", data[at + 2 : at + 4])
        body = data[at + 4 : at + 2 + length]
        if marker == 0xE1 and body.startswith(b"Exif\0\0"):
            orientation = _orientation(body[6:])
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", body[1:5])
            return ImageHeader(ImageFormat.JPEG, width, height, orientation)
        if marker in {0xD9, 0xDA} or length < 2:
            return None
        at += 2 + length
    return None


def _orientation(exif: bytes) -> int:
    """EXIF tag 0x0112 of the first directory; 1 if missing or invalid."""
    order = {b"II": "<", b"MM": ">"}.get(exif[:2])
    if order is None or len(exif) < 10:
        return 1
    (start,) = struct.unpack(order + "I", exif[4:8])
    if start + 2 > len(exif):
        return 1
    (count,) = struct.unpack(order + "H", exif[start : start + 2])
    for number in range(min(count, 64)):
        entry = exif[start + 2 + 12 * number : start + 14 + 12 * number]
        if len(entry) == 12 and struct.unpack(order + "H", entry[:2])[0] == 0x0112:
            (value,) = struct.unpack(order + "H", entry[8:10])
            return int(value) if 1 <= value <= 8 else 1
    return 1


def encode_jpeg(image: "Image", *, quality: int = JPEG_QUALITY) -> bytes:
    """Encodes with 4:4:4 chroma, because subsampling blurs colored text."""
    import cv2  # noqa: PLC0415 - as above

    sharp = [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
    return _encode(image, ".jpg", [cv2.IMWRITE_JPEG_QUALITY, quality, *sharp, cv2.IMWRITE_JPEG_OPTIMIZE, 1])


def encode_png(image: "Image") -> bytes:
    return _encode(image, ".png", [])


def _encode(image: "Image", extension: str, options: list[int]) -> bytes:
    import cv2  # noqa: PLC0415 - as above

    encoded, data = cv2.imencode(extension, cv2.cvtColor(image, cv2.COLOR_RGB2BGR), options)
    if not encoded:
        raise MediaError(Reason.CRASHED, "The image could not be encoded.")
    return data.tobytes()
