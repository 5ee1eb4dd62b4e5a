"""Files encoded by ffmpeg that exceed limits or use rare codecs, special files and names, and valid controls."""

import os
import socket
import struct
import zlib
from pathlib import Path

from proofs.hostile.file_cases import (
    Case,
    ExpectedOutcome,
    Workspace,
    WriteFile,
    encode,
    encoded,
    from_good,
    with_content,
)

VIDEO = ("-f", "lavfi", "-i", "testsrc2=s=320x240:r=30:d=4")
AUDIO = ("-f", "lavfi", "-i", "sine=d=4")
H264 = ("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p")
PNG = ("-c:v", "png")
SIDE_PIXELS = 30_000
BIG_ATTACHMENT_BYTES = 64_000_000
RARE_CODECS = (
    "magicyuv",
    "utvideo",
    "huffyuv",
    "ffvhuff",
    "zmbv",
    "flashsv",
    "asv1",
    "snow",
    "cljr",
    "png",
    "zlib",
    "qtrle",
)

HOSTILE_NAMES = (
    *("../../../../etc/passwd", "/etc/passwd", "-i.mp4", "--help", "concat:canary.mp4|x.mp4", "file:canary.mp4"),
    *("http:canary.mp4", "$(touch x).mp4", "`id`.mp4", "a;id.mp4", "a\nb.mp4", "%s%n%d.mp4", "frame%03d.mp4"),
    *("\u202egpj.mp4", "é" * 100 + ".mp4", " .mp4", "'\".mp4", "con.mp4", "pipe:0", "x.m3u8", "x.ffconcat"),
)


def make_good(folder: Path) -> dict[str, Path]:
    """Valid media: controls that must be imported, and sources for corrupted files."""
    both = (*VIDEO, *AUDIO)
    recipes: dict[str, tuple[str, ...]] = {
        "mp4": (*both, *H264, "-c:a", "aac", "-movflags", "+faststart", "-f", "mp4"),
        "moov last": (*both, *H264, "-c:a", "aac", "-f", "mov"),
        "mkv": (*both, *H264, "-c:a", "libopus", "-f", "matroska"),
        "webm": (*both, "-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libvorbis", "-f", "webm"),
        "avi": (*both, "-c:v", "mpeg4", "-c:a", "libmp3lame", "-f", "avi"),
        "ts": (*both, *H264, "-g", "30", "-c:a", "aac", "-f", "mpegts"),
        "mp3": (*AUDIO, "-c:a", "libmp3lame", "-f", "mp3"),
        "flac": (*AUDIO, "-c:a", "flac", "-f", "flac"),
        "ogg": (*AUDIO, "-c:a", "libvorbis", "-f", "ogg"),
        "mjpeg": (*VIDEO, "-c:v", "mjpeg", "-huffman", "default", "-f", "mov"),
        "jpeg": (*VIDEO, "-frames:v", "1", "-c:v", "mjpeg", "-f", "image2pipe"),
        "wav": (*AUDIO, "-c:a", "pcm_s16le", "-f", "wav"),
    }
    good = {}
    for name, recipe in recipes.items():
        good[name] = folder / f"good {name}"
        encode(folder, *recipe, f"file:{good[name]}")
    return good


def cases() -> list[Case]:
    return [*_controls(), *_too_large(), *_too_much(), *_rare_codecs(), *_images(), *_special_files(), *_names()]


def _controls() -> list[Case]:
    names = ("mp4", "moov last", "mkv", "webm", "avi", "ts", "mp3", "flac", "ogg", "wav")
    return [Case(f"good {name}", from_good(name, lambda data: data), ExpectedOutcome.READY) for name in names]


def _source(size: str, *, rate: int = 5, frames: int = 5) -> tuple[str, ...]:
    return ("-f", "lavfi", "-i", f"color=c=teal:s={size}:r={rate}", "-frames:v", str(frames))


def _too_large() -> list[Case]:
    # The largest allowed sizes test the memory limit, which some decoders exceed.
    return [
        Case(
            "mjpeg of 8192 x 8192",
            encoded(*_source("8192x8192"), "-c:v", "mjpeg", "-f", "matroska"),
            ExpectedOutcome.EITHER,
        ),
        Case(
            "ffv1 of 8192 x 8192",
            encoded(*_source("8192x8192", frames=2), "-c:v", "ffv1", "-f", "matroska"),
            ExpectedOutcome.EITHER,
        ),
        Case("h264 of 8192 x 4320", encoded(*_source("8192x4320"), *H264, "-f", "mp4"), ExpectedOutcome.EITHER),
        Case("mjpeg of 8208 x 16", encoded(*_source("8208x16"), "-c:v", "mjpeg", "-f", "matroska")),
        Case("mpeg4 of 16 x 8190", encoded(*_source("16x8190"), "-c:v", "mjpeg", "-f", "mov"), ExpectedOutcome.EITHER),
        Case("h264 of 16384 x 2", encoded(*_source("16384x2"), *H264, "-f", "mp4")),
        Case("mjpeg of 30000 x 30000", from_good("mjpeg", _enlarged)),
        Case(
            "png video of 16000 x 16000",
            encoded(*_source("16000x16000", frames=1), "-pix_fmt", "gray", *PNG, "-f", "mov"),
        ),
        Case("video that changes its size", _changing_size, ExpectedOutcome.EITHER),
    ]


def _enlarged(data: bytes) -> bytes:
    """Set 30000 x 30000 in every JPEG frame and in the movie header; ffmpeg cannot encode that size."""
    side = struct.pack(">H", SIDE_PIXELS)
    head = bytes.fromhex("ffc0001108")  # start of frame: 8 bits, three components
    old = head + struct.pack(">HH", 240, 320)
    return data.replace(old, head + side + side).replace(struct.pack(">HH", 320, 240), side + side)


def _huge_png() -> bytes:
    """A black one-bit image: 100 MB of zeros compressed to 100 kB."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    header = struct.pack(">IIBBBBB", SIDE_PIXELS, SIDE_PIXELS, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes((SIDE_PIXELS // 8 + 1) * SIDE_PIXELS), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def _changing_size(workspace: Workspace, path: Path) -> None:
    """VP8 key frames carry their size; these alternate between tiny and large."""
    sizes = ("16x16", "2048x2048", "64x1024", "320x240", "1920x16") * 3
    segments = []
    for number, size in enumerate(sizes):
        segments.append(f"size{number}.webm")
        encode(workspace.folder, *_source(size, frames=1), "-c:v", "libvpx", "-deadline", "realtime", segments[-1])
    list_file = workspace.folder / "sizes.txt"
    list_file.write_text("".join(f"file {segment}\n" for segment in segments))
    encode(workspace.folder, "-f", "concat", "-i", "sizes.txt", "-c", "copy", "-f", "webm", str(path))


def _too_much() -> list[Case]:
    many = [word for _ in range(1000) for word in ("-map", "0:a")]
    slow = ("-f", "lavfi", "-i", "testsrc2=s=64x64:r=1:d=4")
    return [
        Case(
            "a million frames per second",
            encoded(*_source("64x64", rate=1_000_000, frames=500), "-c:v", "mpeg2video", "-f", "mov"),
        ),
        Case(
            "1000 frames per second in mkv",
            encoded(*_source("64x64", rate=1000, frames=2000), "-c:v", "mjpeg", "-f", "matroska"),
        ),
        Case("1,000 streams", encoded("-f", "lavfi", "-i", "sine=d=0.1", *many, "-c:a", "pcm_s16le", "-f", "matroska")),
        Case(
            "1,000 streams in mov", encoded("-f", "lavfi", "-i", "sine=d=0.1", *many, "-c:a", "pcm_s16le", "-f", "mov")
        ),
        Case(
            "ten years",
            encoded(*slow, "-vf", "setpts=PTS*80000000", "-c:v", "mjpeg", "-vsync", "passthrough", "-f", "matroska"),
        ),
        Case(
            "25 hours",
            encoded(*slow, "-vf", "setpts=PTS*30000", "-c:v", "mjpeg", "-vsync", "passthrough", "-f", "matroska"),
        ),
        Case(
            "encrypted",
            encoded(
                *VIDEO,
                *H264,
                "-encryption_scheme",
                "cenc-aes-ctr",
                "-encryption_key",
                "00" * 16,
                "-encryption_kid",
                "11" * 16,
                "-f",
                "mp4",
            ),
        ),
        Case("an attached font", _attached("font.ttf", 100_000), ExpectedOutcome.EITHER),
        Case("a 64 MB attachment", _attached("font.ttf", BIG_ATTACHMENT_BYTES), ExpectedOutcome.EITHER),
        Case("20 MB of metadata", _metadata, ExpectedOutcome.EITHER),
        Case("a hundred thousand chapters", _chapters, ExpectedOutcome.EITHER),
        Case("subtitles only", _subtitles),
    ]


def _attached(name: str, size: int) -> WriteFile:
    def write(workspace: Workspace, path: Path) -> None:
        (workspace.folder / name).write_bytes(bytes(size))
        attach = ("-attach", name, "-metadata:s:t", "mimetype=application/x-truetype-font")
        encode(
            workspace.folder, "-i", f"file:{workspace.good['mkv']}", "-c", "copy", *attach, "-f", "matroska", str(path)
        )

    return write


def _metadata(workspace: Workspace, path: Path) -> None:
    (workspace.folder / "tags.txt").write_text(";FFMETADATA1\ncomment=" + "x" * 20_000_000 + "\n")
    _with_metadata(workspace, path)


def _chapters(workspace: Workspace, path: Path) -> None:
    chapter = "[CHAPTER]\nTIMEBASE=1/1000\nSTART={0}\nEND={0}\ntitle=" + "c" * 50 + "\n"
    (workspace.folder / "tags.txt").write_text(
        ";FFMETADATA1\n" + "".join(chapter.format(i % 4000) for i in range(100_000))
    )
    _with_metadata(workspace, path)


def _with_metadata(workspace: Workspace, path: Path) -> None:
    inputs = ("-i", f"file:{workspace.good['mkv']}", "-f", "ffmetadata", "-i", "tags.txt")
    encode(
        workspace.folder, *inputs, "-map_metadata", "1", "-map_chapters", "1", "-c", "copy", "-f", "matroska", str(path)
    )


def _subtitles(workspace: Workspace, path: Path) -> None:
    (workspace.folder / "lines.srt").write_text("1\n00:00:00,000 --> 00:00:09,000\nhello\n")
    encode(workspace.folder, "-i", "lines.srt", "-c", "copy", "-f", "matroska", str(path))


def _rare_codecs() -> list[Case]:
    lenient = ("-strict", "-2", "-f", "matroska")
    return [
        Case(f"{codec} video", encoded(*VIDEO, "-frames:v", "10", "-c:v", codec, *lenient)) for codec in RARE_CODECS
    ]


def _images() -> list[Case]:
    one = (*VIDEO, "-frames:v", "1")
    return [
        Case("png", encoded(*one, *PNG, "-f", "image2pipe")),
        Case("png of 30000 x 30000", with_content(_huge_png())),
        Case("jpeg of 30000 x 30000", from_good("jpeg", _enlarged)),
        Case("gif", encoded(*VIDEO, "-f", "gif")),
        Case("apng", encoded(*VIDEO, "-f", "apng")),
        Case("webp", encoded(*one, "-c:v", "libwebp", "-f", "webp")),
        Case("ivf", encoded(*VIDEO, "-c:v", "libvpx", "-deadline", "realtime", "-f", "ivf")),
        Case("nut", encoded(*VIDEO, *H264, "-f", "nut")),
        Case("raw h264", encoded(*VIDEO, *H264, "-f", "h264")),
    ]


def _special_files() -> list[Case]:
    def pipe(_workspace: Workspace, path: Path) -> None:
        os.mkfifo(path)

    def listener(_workspace: Workspace, path: Path) -> None:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))

    return [
        Case("named pipe", pipe),
        Case("socket", listener),
        Case("folder", lambda _workspace, path: path.mkdir()),
        Case("missing", lambda _workspace, _path: None),
        Case("link to the secret", lambda workspace, path: path.symlink_to(workspace.bait.secret_path)),
        Case("link to good media", lambda workspace, path: path.symlink_to(workspace.good["mp4"])),
        Case("link to endless zeros", lambda _workspace, path: path.symlink_to("/dev/zero")),
        Case("link to itself", lambda _workspace, path: path.symlink_to(path.name)),
    ]


def _names() -> list[Case]:
    good = from_good("mp3", lambda data: data)
    return [Case(f"name {name!r}", good, ExpectedOutcome.EITHER, file_name=name) for name in HOSTILE_NAMES]
