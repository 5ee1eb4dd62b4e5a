"""Still pictures of strangers, decoded in the sandbox; and our own, encoded."""

import struct
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import INPUT, MIB, Limits, Sandbox, ffmpeg, inside, require_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]  # height, width and the three colours red, green and blue

MAX_BYTES = 20 * MIB
MAX_PIXELS = 40_000_000
MAX_SIDE = 16_384
MIN_SIDE = 16
KEPT_SIDE = 2048  # pixels of the longer side that are kept: more than any thumbnail shows
HEAD_BYTES = 256 * 1024  # in which a JPEG says how large it is; thumbnails inside of it may come first
JPEG_QUALITY = 92
LIMITS = Limits(wall_seconds=60, cpu_seconds=30, file_bytes=64 * MIB)
GROUND = 255  # white, behind what is transparent


class Format(StrEnum):
    """The demuxers in use, by ffmpeg's names; none of them opens another file."""

    PNG = "png_pipe"
    JPEG = "jpeg_pipe"
    WEBP = "webp_pipe"
    GIF = "gif"


_DECODERS = {Format.PNG: "png", Format.JPEG: "mjpeg", Format.WEBP: "webp", Format.GIF: "gif"}
# What the orientation of EXIF asks for; 1, and everything unknown, is upright.
_TURNS = {
    2: "hflip",
    3: "hflip,vflip",
    4: "vflip",
    5: "transpose=cclock_flip",
    6: "transpose=clock",
    7: "transpose=clock_flip",
    8: "transpose=cclock",
}


@dataclass(frozen=True, slots=True)
class PictureHead:
    """What the first bytes of a picture say; sizes are as stored, before it is turned upright."""

    format: Format
    width: int
    height: int
    orientation: int = 1


async def decode_picture(path: Path, *, scratch: Path, sandbox: Sandbox) -> "Picture":
    """The pixels of a PNG, JPEG, WebP or GIF (its first picture), upright, on white, at most 2048 on a side."""
    head = read_head(path)
    width, height = (head.height, head.width) if head.orientation >= 5 else (head.width, head.height)
    scale = min(1.0, KEPT_SIDE / max(width, height))
    width, height = max(MIN_SIDE, round(width * scale)), max(MIN_SIDE, round(height * scale))
    turn = f"{_TURNS[head.orientation]}," if head.orientation in _TURNS else ""
    filters = f"{turn}scale={width}:{height}:flags=area,format=rgba"
    # -noautorotate: newer versions turn by EXIF themselves, older ones do not.
    arguments = ["-noautorotate", *_reading(head.format), "-map", "0:v:0", "-vf", filters, "-frames:v", "1"]
    arguments += ["-f", "rawvideo", "picture.raw"]
    raw = scratch / "picture.raw"
    try:
        await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=scratch, limits=LIMITS)
        data = raw.read_bytes() if raw.exists() else b""
    finally:
        raw.unlink(missing_ok=True)
    if len(data) != width * height * 4:
        raise MediaError(Reason.UNREADABLE, "The picture is damaged.", detail=f"{len(data)} bytes of pixels")
    return _on_ground(data, width=width, height=height)


def _reading(form: Format) -> list[str]:
    """One format, one decoder, bounded sizes; no file is opened but this one."""
    return [
        *("-f", form.value),
        *("-protocol_whitelist", "file"),
        *("-format_whitelist", form.value),
        *("-codec_whitelist", _DECODERS[form]),
        *("-max_pixels", str(MAX_PIXELS)),
        *("-max_streams", "1"),
        # A picture that is cut off would else be filled with grey.
        *("-err_detect", "explode", "-xerror"),
        *("-threads", "1"),
        *("-i", inside()),
    ]


def _on_ground(data: bytes, *, width: int, height: int) -> "Picture":
    import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

    pixels = np.frombuffer(data, np.uint8).reshape(height, width, 4)
    if (pixels[..., 3] == 255).all():
        return pixels[..., :3].copy()
    share = pixels[..., 3:].astype(np.float32) / 255
    return np.rint(pixels[..., :3] * share + GROUND * (1 - share)).astype(np.uint8)


def read_head(path: Path) -> PictureHead:
    """What a picture says it is. What is no picture, or too large for one, is refused before anything is decoded."""
    size_bytes = require_file(path)
    if size_bytes == 0:
        raise MediaError(Reason.EMPTY, "The file is empty.")
    if size_bytes > MAX_BYTES:
        raise MediaError(Reason.PICTURE_TOO_LARGE, f"The picture has more than {MAX_BYTES // MIB} MiB.")
    with path.open("rb") as file:
        found = sniff_picture(file.read(HEAD_BYTES))
    if found is None:
        raise MediaError(Reason.UNSUPPORTED_FORMAT, "The file is not a PNG, JPEG, WebP or GIF picture.")
    check_size(found)
    return found


def check_size(head: PictureHead) -> None:
    if max(head.width, head.height) > MAX_SIDE or head.width * head.height > MAX_PIXELS:
        raise MediaError(Reason.PICTURE_TOO_LARGE, f"The picture has more than {MAX_PIXELS // 1_000_000} megapixels.")
    if min(head.width, head.height) < MIN_SIDE:
        raise MediaError(Reason.UNREADABLE, f"The picture has less than {MIN_SIDE} pixels on a side.")


def sniff_picture(data: bytes) -> PictureHead | None:
    """Tell a picture by its first bytes; the name of a file says nothing."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            return PictureHead(Format.PNG, *struct.unpack(">II", data[16:24]))
        if data[:6] in (b"GIF87a", b"GIF89a"):
            return PictureHead(Format.GIF, *struct.unpack("<HH", data[6:10]))
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp_head(data)
        if data.startswith(b"\xff\xd8\xff"):
            return _jpeg_head(data)
    except struct.error:
        return None
    return None


def _webp_head(data: bytes) -> PictureHead | None:
    kind = data[12:16]
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack("<HH", data[26:30])
        return PictureHead(Format.WEBP, width & 0x3FFF, height & 0x3FFF)
    if kind == b"VP8L" and data[20:21] == b"\x2f":
        (bits,) = struct.unpack("<I", data[21:25])
        return PictureHead(Format.WEBP, (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8X":
        if data[20] & 0x02:  # one that moves, which ffmpeg does not read
            return None
        width, height = (1 + int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
        return PictureHead(Format.WEBP, width, height)
    return None


def _jpeg_head(data: bytes) -> PictureHead | None:
    """The size stands in the first frame header; EXIF, if there is any, before it."""
    at, orientation = 2, 1
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker in {0xFF, 0x01} or 0xD0 <= marker <= 0xD8:  # filling, and marks without a length
            at += 1 if marker == 0xFF else 2
            continue
        (length,) = struct.unpack(">H", data[at + 2 : at + 4])
        body = data[at + 4 : at + 2 + length]
        if marker == 0xE1 and body.startswith(b"Exif\0\0"):
            orientation = _orientation(body[6:])
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", body[1:5])
            return PictureHead(Format.JPEG, width, height, orientation)
        if marker in {0xD9, 0xDA} or length < 2:
            return None
        at += 2 + length
    return None


def _orientation(exif: bytes) -> int:
    """The entry 0x0112 of the first directory; 1 where there is none that makes sense."""
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


def encode_jpeg(picture: "Picture", *, quality: int = JPEG_QUALITY) -> bytes:
    """Colours at full sharpness, since red letters would bleed otherwise."""
    import cv2  # noqa: PLC0415 - as above

    sharp = [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
    return _encoded(picture, ".jpg", [cv2.IMWRITE_JPEG_QUALITY, quality, *sharp, cv2.IMWRITE_JPEG_OPTIMIZE, 1])


def encode_png(picture: "Picture") -> bytes:
    return _encoded(picture, ".png", [])


def _encoded(picture: "Picture", ending: str, options: list[int]) -> bytes:
    import cv2  # noqa: PLC0415 - as above

    done, data = cv2.imencode(ending, cv2.cvtColor(picture, cv2.COLOR_RGB2BGR), options)
    if not done:
        raise MediaError(Reason.CRASHED, "The picture could not be encoded.")
    return data.tobytes()
