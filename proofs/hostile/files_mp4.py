"""MP4 and MOV files with corrupted boxes, truncated files, random bytes and bit flips."""

import random
import struct
import zlib
from collections.abc import Iterator

from proofs.hostile.file_cases import Case, ExpectedOutcome, WriteFile, from_good, with_content

BOMB_BYTES = 400_000_000
NESTED_BOXES = 20_000
FLIPS = 200


def cases() -> list[Case]:
    return [*_mp4(), *_truncated(), *_random_bytes(), *_flipped()]


def box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", 8 + len(content)) + kind + content


def full_box(kind: bytes, flags: int, content: bytes) -> bytes:
    return box(kind, struct.pack(">I", flags) + content)


FTYP = box(b"ftyp", b"isom\x00\x00\x02\x00isommp41")


def patch(data: bytes, kind: bytes, at: int, value: bytes, *, every: bool = False) -> bytes:
    """Overwrite bytes at an offset after a box's name."""
    changed, start = bytearray(data), 0
    while (found := data.find(kind, start)) >= 0:
        changed[found + 4 + at : found + 4 + at + len(value)] = value
        start = found + 4
        if not every:
            break
    return bytes(changed)


def _mp4() -> list[Case]:
    def corrupted(
        name: str, kind: bytes, at: int, value: bytes, expected: ExpectedOutcome = ExpectedOutcome.REFUSED
    ) -> Case:
        return Case(f"mp4 {name}", from_good("mp4", lambda data: patch(data, kind, at, value, every=True)), expected)

    huge, ten_years = b"\x7f\xff\xff\xff", struct.pack(">I", 315_360_000)
    return [
        Case("mov with a zlib bomb as header", with_content(FTYP + _compressed_header(BOMB_BYTES))),
        Case(
            "mov with a wrong size of its compressed header",
            with_content(FTYP + _compressed_header(1000, claimed=2**31 - 1)),
        ),
        Case("mp4 with nested boxes", with_content(FTYP + _nested(b"moov", NESTED_BOXES))),
        Case("mp4 with nested tracks", with_content(FTYP + _nested(b"trak", NESTED_BOXES))),
        Case("mp4 box of size 0", with_content(FTYP + struct.pack(">I", 0) + b"moov" + bytes(100))),
        Case("mp4 box of negative size", with_content(FTYP + struct.pack(">I4sq", 1, b"moov", -1) + bytes(100))),
        Case("mp4 box smaller than its header", with_content(FTYP + struct.pack(">I", 3) + b"moov" + bytes(100))),
        Case(
            "mp4 of empty boxes",
            with_content(FTYP + struct.pack(">I", 8) + b"free" * 1 + (struct.pack(">I", 8) + b"free") * 500_000),
        ),
        Case("mp4 without tracks", with_content(FTYP + box(b"moov", full_box(b"mvhd", 0, bytes(96))))),
        corrupted("with two thousand million samples", b"stsz", 8, huge),
        corrupted("with huge samples", b"stsz", 4, huge),
        corrupted("with two thousand million times", b"stts", 4, huge, ExpectedOutcome.EITHER),
        corrupted("with negative times", b"stts", 12, b"\xff\xff\xff\x00", ExpectedOutcome.EITHER),
        corrupted("with times of zero", b"stts", 12, bytes(4), ExpectedOutcome.EITHER),
        corrupted("with chunks outside the file", b"stco", 8, huge),
        corrupted("with two thousand million chunks", b"stsc", 4, huge, ExpectedOutcome.EITHER),
        corrupted("of ten years by its header", b"mvhd", 16, ten_years, ExpectedOutcome.EITHER),
        corrupted("of ten years by its samples", b"stts", 12, struct.pack(">I", 2_000_000_000)),
        corrupted("with a timescale of 1", b"mdhd", 12, struct.pack(">I", 1), ExpectedOutcome.EITHER),
        corrupted("with a timescale of 0", b"mdhd", 12, bytes(4), ExpectedOutcome.EITHER),
        corrupted("with the maximum timescale", b"mdhd", 12, huge, ExpectedOutcome.EITHER),
        corrupted(
            "of 30000 x 30000 by its header", b"avc1", 24, struct.pack(">HH", 30_000, 30_000), ExpectedOutcome.EITHER
        ),
        corrupted("with an edit of ten years", b"elst", 8, struct.pack(">I", 2**31 - 1), ExpectedOutcome.EITHER),
        Case("mp4 with repeating edits", from_good("moov last", _looping_edits), ExpectedOutcome.EITHER),
    ]


def _compressed_header(size: int, *, claimed: int | None = None) -> bytes:
    packed = zlib.compress(bytes(size), 9)
    content = box(b"dcom", b"zlib") + box(b"cmvd", struct.pack(">I", claimed or size) + packed)
    return box(b"moov", box(b"cmov", content))


def _nested(kind: bytes, depth: int) -> bytes:
    return b"".join(struct.pack(">I", 8 * (depth - i)) + kind for i in range(depth))


def _looping_edits(data: bytes) -> bytes:
    """Replace the first edit list with 100,000 edits that each show the whole track."""
    at = data.find(b"elst") - 4
    size = struct.unpack_from(">I", data, at)[0]
    edits = struct.pack(">Iihh", 5000, 0, 1, 0) * 100_000
    new = full_box(b"elst", 0, struct.pack(">I", 100_000) + edits)
    changed = bytearray(data[:at] + new + data[at + size :])
    for kind in (b"edts", b"trak", b"moov"):
        size_at = data.rfind(kind, 0, at) - 4
        struct.pack_into(">I", changed, size_at, struct.unpack_from(">I", data, size_at)[0] + len(new) - size)
    return bytes(changed)


def _truncated() -> Iterator[Case]:
    def until(percent: int) -> WriteFile:
        return from_good("mp4", lambda data: data[: len(data) * percent // 100])

    def last_until(percent: int) -> WriteFile:
        return from_good("moov last", lambda data: data[: len(data) * percent // 100])

    def matroska_until(percent: int) -> WriteFile:
        return from_good("mkv", lambda data: data[: len(data) * percent // 100])

    for percent in (1, 5, 25, 50, 80, 99):
        expected = ExpectedOutcome.EITHER if percent > 90 else ExpectedOutcome.REFUSED
        yield Case(f"mp4 truncated at {percent} %", until(percent), expected)
        yield Case(f"mkv truncated at {percent} %", matroska_until(percent), expected)
        yield Case(f"mp4 with its index last, truncated at {percent} %", last_until(percent))


def _random_bytes() -> list[Case]:
    noise = random.Random(7).randbytes(300_000)
    packets = b"".join(b"\x47" + noise[i : i + 187] for i in range(0, 187_000, 187))
    return [
        Case("empty file", with_content(b"")),
        Case("one byte", with_content(b"\0")),
        Case("zeros", with_content(bytes(1_000_000))),
        Case("noise", with_content(noise)),
        Case("noise after an mp4 header", with_content(FTYP + noise)),
        Case("noise after a matroska header", with_content(b"\x1a\x45\xdf\xa3\x80" + noise)),
        Case("noise after an ogg header", with_content(b"OggS" + noise)),
        Case("noise after a flac header", with_content(b"fLaC" + noise)),
        Case("noise after an asf header", with_content(b"\x30\x26\xb2\x75\x8e\x66\xcf\x11" + noise)),
        Case("noise after an flv header", with_content(b"FLV\x01\x05\0\0\0\x09" + noise)),
        Case("noise in transport packets", with_content(packets)),
    ]


def _flipped() -> Iterator[Case]:
    """Valid files with some bytes changed; some still play."""

    def flipped(seed: int) -> object:
        def change(data: bytes) -> bytes:
            rng, changed = random.Random(seed), bytearray(data)
            for _ in range(FLIPS):
                changed[rng.randrange(len(changed))] = rng.randrange(256)
            return bytes(changed)

        return change

    for seed, name in enumerate(("mp4", "mp4", "moov last", "mkv", "webm", "avi", "ts", "mp3", "flac", "ogg")):
        change = flipped(seed)
        assert callable(change)
        yield Case(f"{name} with bytes changed, {seed}", from_good(name, change), ExpectedOutcome.EITHER)
