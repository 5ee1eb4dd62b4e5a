"""Corrupted RIFF, FLAC, MP3, Ogg, AAC and Matroska files."""

import struct
import zlib

from proofs.hostile.file_cases import Case, ExpectedOutcome, from_good, with_content
from proofs.hostile.files_mp4 import BOMB_BYTES, patch


def cases() -> list[Case]:
    return [*_riff(), *_audio(), *_matroska()]


def _wav(channels: int, rate: int, *, bits: int = 16, size: int = 0xFFFFFFFF, form: int = 1) -> bytes:
    block = channels * bits // 8 & 0xFFFF
    fmt = struct.pack("<HHIIHH", form, channels, rate, rate * block & 0xFFFFFFFF, block, bits)
    return (
        b"RIFF\xff\xff\xff\xffWAVEfmt "
        + struct.pack("<I", 16)
        + fmt
        + b"data"
        + struct.pack("<I", size)
        + bytes(50_000)
    )


def _riff() -> list[Case]:
    return [
        Case("wav with 65535 channels", with_content(_wav(65_535, 48_000))),
        Case("wav with zero channels", with_content(_wav(0, 48_000))),
        Case("wav with sample rate zero", with_content(_wav(1, 0))),
        Case("wav with the maximum sample rate", with_content(_wav(1, 2**32 - 1))),
        Case("wav with 65535 bits", with_content(_wav(2, 48_000, bits=65_535))),
        Case("wav with an unknown codec", with_content(_wav(2, 48_000, form=0x7777))),
        Case("wav that claims 4 GB", with_content(_wav(2, 48_000)), ExpectedOutcome.EITHER),
        Case("avi with a self-referencing index", from_good("avi", _looping_index), ExpectedOutcome.EITHER),
        Case(
            "avi with a million frames per second",
            from_good("avi", lambda d: patch(d, b"strh", 24, struct.pack("<II", 1, 1_000_000))),
        ),
        Case(
            "avi with frame rate zero",
            from_good("avi", lambda d: patch(d, b"strh", 24, bytes(8))),
            ExpectedOutcome.EITHER,
        ),
        Case(
            "avi of 30000 x 30000",
            from_good("avi", lambda d: patch(d, b"strf", 8, struct.pack("<ii", 30_000, 30_000))),
            ExpectedOutcome.EITHER,
        ),
        Case(
            "avi of negative size",
            from_good("avi", lambda d: patch(d, b"strf", 8, struct.pack("<ii", -64, -64))),
            ExpectedOutcome.EITHER,
        ),
    ]


def _looping_index(data: bytes) -> bytes:
    """Replace the padding with a super index whose entries all point to itself."""
    at = data.find(b"JUNK")
    size = int(struct.unpack_from("<I", data, at + 4)[0])
    entries = max(0, (size - 24) // 16)
    index = struct.pack("<HBBI4s12x", 4, 0, 0, entries, b"00dc") + struct.pack("<QII", at, size, 1) * entries
    return data[:at] + b"indx" + struct.pack("<I", size) + index.ljust(size, b"\0")[:size] + data[at + 8 + size :]


def _audio() -> list[Case]:
    def total(data: bytes) -> bytes:
        return data[:21] + bytes([data[21] | 0x0F]) + b"\xff\xff\xff\xff" + data[26:]

    cover = struct.pack(">II", 3, 9) + b"image/png" + struct.pack(">IIIIII", 0, 30_000, 30_000, 32, 0, 2**31)
    return [
        Case("flac that claims a month", from_good("flac", total)),
        Case(
            "flac with a block larger than the file", from_good("flac", lambda d: d[:42] + b"\x04\xff\xff\xff" + d[42:])
        ),
        Case(
            "flac with a cover of 2 GB",
            from_good("flac", lambda d: d[:42] + b"\x06" + struct.pack(">I", len(cover))[1:] + cover + d[42:]),
            ExpectedOutcome.EITHER,
        ),
        Case(
            "mp3 with a tag of 256 MB",
            from_good("mp3", lambda d: b"ID3\x03\x00\x00\x7f\x7f\x7f\x7f" + d),
            ExpectedOutcome.EITHER,
        ),
        Case(
            "mp3 with a hundred thousand tags",
            from_good("mp3", lambda d: (b"ID3\x03\x00\x00\x00\x00\x00\x00" * 100_000) + d),
            ExpectedOutcome.EITHER,
        ),
        Case("ogg with first pages only", from_good("ogg", lambda d: d[:58] * 10_000), ExpectedOutcome.EITHER),
        Case("aac with packet headers only", with_content(b"\xff\xf1\x50\x80\x00\xff\xfc" * 10_000)),
    ]


def _element(kind: bytes, content: bytes) -> bytes:
    return kind + (0x0100000000000000 | len(content)).to_bytes(8, "big") + content


EBML = _element(b"\x1a\x45\xdf\xa3", _element(b"\x42\x82", b"matroska"))
SEGMENT = b"\x18\x53\x80\x67"


def _matroska() -> list[Case]:
    void = b"\xec\x01\x00\x00\x00\x00\x00\x00\x00"
    return [
        Case("matroska with void elements only", with_content(EBML + _element(SEGMENT, void * 500_000))),
        Case(
            "matroska with a void of exabytes",
            with_content(EBML + SEGMENT + b"\x01" + b"\xff" * 7 + b"\xec\x01\x7f\xff\xff\xff\xff\xff\xff"),
        ),
        Case("matroska with nested segments", with_content(EBML + (SEGMENT + b"\x01" + b"\xff" * 7) * 20_000)),
        Case(
            "matroska with nested tags",
            with_content(
                EBML
                + _element(SEGMENT, b"\x12\x54\xc3\x67\x01" + b"\xff" * 7 + (b"\x67\xc8\x01" + b"\xff" * 7) * 20_000)
            ),
        ),
        Case("matroska with a zlib bomb", with_content(EBML + _element(SEGMENT, _bomb_track() + _bomb_cluster()))),
        Case("encrypted matroska", with_content(EBML + _element(SEGMENT, _encrypted_track() + _bomb_cluster()))),
    ]


def _track(encoding: bytes) -> bytes:
    entry = b"\xd7\x81\x01\x73\xc5\x81\x01\x83\x81\x02" + _element(b"\x86", b"A_PCM/INT/LIT")
    entry += _element(b"\xe1", b"\xb5\x88" + struct.pack(">d", 48_000) + b"\x9f\x81\x01\x62\x64\x81\x10")
    return _element(
        b"\x16\x54\xae\x6b", _element(b"\xae", entry + _element(b"\x6d\x80", _element(b"\x62\x40", encoding)))
    )


def _bomb_track() -> bytes:
    return _track(_element(b"\x50\x34", b"\x42\x54\x81\x00"))  # each block is a zlib stream


def _encrypted_track() -> bytes:
    return _track(b"\x50\x33\x81\x01" + _element(b"\x50\x35", b"\x47\xe1\x81\x05"))  # AES


def _bomb_cluster() -> bytes:
    block = b"\x81\x00\x00\x80" + zlib.compress(bytes(BOMB_BYTES), 9)
    return _element(b"\x1f\x43\xb6\x75", b"\xe7\x81\x00" + _element(b"\xa3", block) * 3)
