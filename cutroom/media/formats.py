"""Which containers and codecs are opened at all, and how a container is told by its first bytes."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

HEAD_BYTES = 4096
TS_PACKETS = 5  # this many sync bytes in a row are no accident
ID3_HEADER_BYTES = 10
TOP_BOXES = 1000  # looked at for the index of an MP4
BOX_HEAD_BYTES = 8
MAX_OFFSET = 2**62  # an offset that any system takes
INDEX_BYTES = 8 * 1024 * 1024  # of which this much is searched


class Container(StrEnum):
    """The demuxers in use, by ffmpeg's names; none of them opens another file."""

    MOV = "mov"
    MATROSKA = "matroska"
    AVI = "avi"
    MPEGTS = "mpegts"
    MPEG = "mpeg"
    FLV = "flv"
    ASF = "asf"
    MXF = "mxf"
    OGG = "ogg"
    WAV = "wav"
    AIFF = "aiff"
    CAF = "caf"
    FLAC = "flac"
    MP3 = "mp3"
    AAC = "aac"
    AMR = "amr"


# Those whose header states the duration as a fact; the others have it guessed from the bit rate.
STATES_DURATION = frozenset(
    {
        Container.MOV,
        Container.MATROSKA,
        Container.AVI,
        Container.ASF,
        Container.MXF,
        Container.WAV,
        Container.AIFF,
        Container.FLAC,
    }
)

# Those that find the key frame before a place; in the others a reader lands anywhere and waits for the next one.
SEEKS_TO_KEY_FRAMES = frozenset({Container.MOV, Container.MATROSKA, Container.AVI, Container.MXF})

VIDEO_DECODERS = (
    *("h264", "hevc", "vp8", "vp9", "libdav1d", "libaom-av1", "av1"),
    *("mpeg1video", "mpeg2video", "mpeg4", "msmpeg4", "msmpeg4v2", "h263", "flv", "vp6", "vp6f"),
    *("mjpeg", "prores", "dnxhd", "dvvideo", "ffv1", "theora", "wmv1", "wmv2", "wmv3", "vc1"),
)
AUDIO_DECODERS = (
    *("aac", "aac_latm", "mp3float", "mp3", "mp2float", "mp2", "mp1float", "ac3", "eac3"),
    *("opus", "libopus", "vorbis", "libvorbis", "flac", "alac", "wmav1", "wmav2", "wmapro"),
    *("amrnb", "amrwb", "libopencore_amrnb", "libopencore_amrwb", "adpcm_ima_wav", "adpcm_ms"),
    *("pcm_u8", "pcm_s8", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be"),
    *("pcm_f32le", "pcm_f32be", "pcm_f64le", "pcm_f64be", "pcm_alaw", "pcm_mulaw", "pcm_dvd", "pcm_bluray"),
)
DECODERS = ",".join((*VIDEO_DECODERS, *AUDIO_DECODERS))

# Still pictures share the boxes of MP4.
_PICTURE_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1", b"avif", b"avis", b"crx "})
_MOV_FIRST_BOXES = frozenset({b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"})


def sniff(path: Path) -> Container | None:
    """Tell the container by its first bytes; the name of a file says nothing."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        if not head.startswith(b"ID3") or len(head) < ID3_HEADER_BYTES:
            return sniff_head(head)
        file.seek(_id3_bytes(head))
        found = sniff_head(file.read(HEAD_BYTES))
    # A tag may stand before these only; players skip zeros behind it, so that MP3 is also the guess.
    return found if found in (Container.FLAC, Container.AAC) else Container.MP3


def sniff_head(head: bytes) -> Container | None:
    return next((container for container, fits in _SIGNS if fits(head)), None)


def is_protected(path: Path) -> bool:
    """Whether the index of an MP4 describes encrypted samples, which ffmpeg would pass on as if they were plain."""
    with path.open("rb") as file:
        for _ in range(TOP_BOXES):
            start, head = file.tell(), file.read(16)
            size = int.from_bytes(head[8:16] if head[:4] == b"\0\0\0\1" else head[:4], "big")
            if head[4:8] == b"moov":
                # The name of the scheme stands in a box of its own, inside one that only protected samples have.
                index = file.read(min(size, INDEX_BYTES))
                return b"sinf" in index and b"schm" in index
            if size < BOX_HEAD_BYTES:
                break
            file.seek(start + min(size, MAX_OFFSET))
    return False


def _id3_bytes(head: bytes) -> int:
    """The size is four times seven bits."""
    size = 0
    for byte in head[6:10]:
        size = size << 7 | byte & 0x7F
    return ID3_HEADER_BYTES + size


def _is_mov(head: bytes) -> bool:
    return head[4:8] in _MOV_FIRST_BOXES and not (head[4:8] == b"ftyp" and head[8:12] in _PICTURE_BRANDS)


def _is_mpegts(head: bytes) -> bool:
    # 188 bytes a packet, or 192 with four bytes of time before each.
    return any(
        all(head[offset + i * size : offset + i * size + 1] == b"\x47" for i in range(TS_PACKETS))
        for offset, size in ((0, 188), (4, 192))
    )


def _is_riff(kind: bytes) -> Callable[[bytes], bool]:
    return lambda head: head[:4] in (b"RIFF", b"RF64") and head[8:12] == kind


def _is_mpeg_audio(layers: frozenset[int]) -> Callable[[bytes], bool]:
    def fits(head: bytes) -> bool:
        # Eleven set bits; then version, layer (0 is ADTS), bit rate and sample rate, neither of them forbidden.
        if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
            return False
        layer = head[1] >> 1 & 3
        return layer in layers and (layer == 0 or (head[2] >> 4 != 15 and head[2] >> 2 & 3 != 3))

    return fits


def _starts(*signs: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(signs)


_SIGNS: tuple[tuple[Container, Callable[[bytes], bool]], ...] = (
    (Container.MOV, _is_mov),
    (Container.MATROSKA, _starts(b"\x1a\x45\xdf\xa3")),
    (Container.AVI, _is_riff(b"AVI ")),
    (Container.WAV, _is_riff(b"WAVE")),
    (Container.OGG, _starts(b"OggS")),
    (Container.FLAC, _starts(b"fLaC")),
    (Container.FLV, _starts(b"FLV\x01")),
    (Container.ASF, _starts(b"\x30\x26\xb2\x75\x8e\x66\xcf\x11")),
    (Container.MXF, _starts(b"\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02")),
    (Container.AIFF, lambda head: head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC")),
    (Container.CAF, _starts(b"caff\x00\x01")),
    (Container.AMR, _starts(b"#!AMR\n", b"#!AMR-WB\n")),
    (Container.MPEG, _starts(b"\x00\x00\x01\xba")),
    (Container.MPEGTS, _is_mpegts),
    (Container.AAC, _is_mpeg_audio(frozenset({0}))),
    (Container.MP3, _is_mpeg_audio(frozenset({1, 2, 3}))),
)
