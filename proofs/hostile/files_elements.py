"""Files built or bent byte by byte, without boxes: RIFF, FLAC, MP3, Ogg, Matroska."""

import struct
import zlib

from proofs.hostile.files_boxes import BOMB_BYTES, patch
from proofs.hostile.files_case import Case, Wanted, from_good, holding


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
        Case("wav with 65535 channels", holding(_wav(65_535, 48_000))),
        Case("wav with no channel", holding(_wav(0, 48_000))),
        Case("wav with no rate", holding(_wav(1, 0))),
        Case("wav with the highest rate", holding(_wav(1, 2**32 - 1))),
        Case("wav with 65535 bits", holding(_wav(2, 48_000, bits=65_535))),
        Case("wav with an unknown codec", holding(_wav(2, 48_000, form=0x7777))),
        Case("wav that claims 4 GB", holding(_wav(2, 48_000)), Wanted.EITHER),
        Case("avi with an index of itself", from_good("avi", _looping_index), Wanted.EITHER),
        Case(
            "avi with a million frames a second",
            from_good("avi", lambda d: patch(d, b"strh", 24, struct.pack("<II", 1, 1_000_000))),
        ),
        Case("avi with no rate", from_good("avi", lambda d: patch(d, b"strh", 24, bytes(8))), Wanted.EITHER),
        Case(
            "avi of 30000 x 30000",
            from_good("avi", lambda d: patch(d, b"strf", 8, struct.pack("<ii", 30_000, 30_000))),
            Wanted.EITHER,
        ),
        Case(
            "avi of negative size",
            from_good("avi", lambda d: patch(d, b"strf", 8, struct.pack("<ii", -64, -64))),
            Wanted.EITHER,
        ),
    ]


def _looping_index(data: bytes) -> bytes:
    """The place kept for a big index becomes an index of indexes, each of which is itself."""
    at = data.find(b"JUNK")
    size = int(struct.unpack_from("<I", data, at + 4)[0])
    entries = max(0, (size - 24) // 16)
    index = struct.pack("<HBBI4s12x", 4, 0, 0, entries, b"00dc") + struct.pack("<QII", at, size, 1) * entries
    return data[:at] + b"indx" + struct.pack("<I", size) + index.ljust(size, b"\0")[:size] + data[at + 8 + size :]


def _audio() -> list[Case]:
    def total(data: bytes) -> bytes:
        return data[:21] + bytes([data[21] | 0x0F]) + b"\xff\xff\xff\xff" + data[26:]

    picture = struct.pack(">II", 3, 9) + b"image/png" + struct.pack(">IIIIII", 0, 30_000, 30_000, 32, 0, 2**31)
    return [
        Case("flac that claims a month", from_good("flac", total)),
        Case(
            "flac with a block larger than the file", from_good("flac", lambda d: d[:42] + b"\x04\xff\xff\xff" + d[42:])
        ),
        Case(
            "flac with a cover of 2 GB",
            from_good("flac", lambda d: d[:42] + b"\x06" + struct.pack(">I", len(picture))[1:] + picture + d[42:]),
            Wanted.EITHER,
        ),
        Case(
            "mp3 with a tag of 256 MB",
            from_good("mp3", lambda d: b"ID3\x03\x00\x00\x7f\x7f\x7f\x7f" + d),
            Wanted.EITHER,
        ),
        Case(
            "mp3 with a hundred thousand tags",
            from_good("mp3", lambda d: (b"ID3\x03\x00\x00\x00\x00\x00\x00" * 100_000) + d),
            Wanted.EITHER,
        ),
        Case("ogg of first pages only", from_good("ogg", lambda d: d[:58] * 10_000), Wanted.EITHER),
        Case("aac of one packet's head", holding(b"\xff\xf1\x50\x80\x00\xff\xfc" * 10_000)),
    ]


def _element(kind: bytes, content: bytes) -> bytes:
    return kind + (0x0100000000000000 | len(content)).to_bytes(8, "big") + content


EBML = _element(b"\x1a\x45\xdf\xa3", _element(b"\x42\x82", b"matroska"))
SEGMENT = b"\x18\x53\x80\x67"


def _matroska() -> list[Case]:
    void = b"\xec\x01\x00\x00\x00\x00\x00\x00\x00"
    return [
        Case("matroska of voids", holding(EBML + _element(SEGMENT, void * 500_000))),
        Case(
            "matroska with a void of exabytes",
            holding(EBML + SEGMENT + b"\x01" + b"\xff" * 7 + b"\xec\x01\x7f\xff\xff\xff\xff\xff\xff"),
        ),
        Case("matroska of segments in segments", holding(EBML + (SEGMENT + b"\x01" + b"\xff" * 7) * 20_000)),
        Case(
            "matroska of tags in tags",
            holding(
                EBML
                + _element(SEGMENT, b"\x12\x54\xc3\x67\x01" + b"\xff" * 7 + (b"\x67\xc8\x01" + b"\xff" * 7) * 20_000)
            ),
        ),
        Case("matroska with a zlib bomb", holding(EBML + _element(SEGMENT, _bomb_track() + _bomb_cluster()))),
        Case("matroska that is encrypted", holding(EBML + _element(SEGMENT, _locked_track() + _bomb_cluster()))),
    ]


def _track(encoding: bytes) -> bytes:
    entry = b"\xd7\x81\x01\x73\xc5\x81\x01\x83\x81\x02" + _element(b"\x86", b"A_PCM/INT/LIT")
    entry += _element(b"\xe1", b"\xb5\x88" + struct.pack(">d", 48_000) + b"\x9f\x81\x01\x62\x64\x81\x10")
    return _element(
        b"\x16\x54\xae\x6b", _element(b"\xae", entry + _element(b"\x6d\x80", _element(b"\x62\x40", encoding)))
    )


def _bomb_track() -> bytes:
    return _track(_element(b"\x50\x34", b"\x42\x54\x81\x00"))  # each block is a zlib stream


def _locked_track() -> bytes:
    return _track(b"\x50\x33\x81\x01" + _element(b"\x50\x35", b"\x47\xe1\x81\x05"))  # AES


def _bomb_cluster() -> bytes:
    block = b"\x81\x00\x00\x80" + zlib.compress(bytes(BOMB_BYTES), 9)
    return _element(b"\x1f\x43\xb6\x75", b"\xe7\x81\x00" + _element(b"\xa3", block) * 3)
