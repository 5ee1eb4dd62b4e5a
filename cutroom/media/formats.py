"""Supported containers and codecs, and container detection by signature."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

HEAD_BYTES = 4096
TS_PACKETS = 5  # sync bytes in a row that rule out a coincidence
ID3_HEADER_BYTES = 10
MAX_TOP_LEVEL_BOXES = 1000  # scanned for the moov box of an MP4
BOX_HEADER_BYTES = 8
MAX_OFFSET = 2**62  # within the range of off_t
MAX_MOOV_BYTES = 8 * 1024 * 1024  # searched for encryption boxes


class Container(StrEnum):
    """Supported ffmpeg demuxers; none of them opens another file."""

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


# Containers whose header states the duration; ffmpeg estimates the others from the bit rate.
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

# Containers that seek to the preceding key frame; in others, decoding waits for the next one.
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

# Still image formats that share MP4's box structure.
_IMAGE_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1", b"avif", b"avis", b"crx "})
_MOV_FIRST_BOXES = frozenset({b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"})


def sniff(path: Path) -> Container | None:
    """Detects the container from the first bytes; the file name is ignored."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        if not head.startswith(b"ID3") or len(head) < ID3_HEADER_BYTES:
            return sniff_header(head)
        file.seek(_id3_bytes(head))
        found = sniff_header(file.read(HEAD_BYTES))
    # Only these may follow an ID3 tag; MP3 is the fallback because players skip padding after the tag.
    return found if found in (Container.FLAC, Container.AAC) else Container.MP3


def sniff_header(head: bytes) -> Container | None:
    return next((container for container, matches in _SIGNATURES if matches(head)), None)


def is_encrypted(path: Path) -> bool:
    """Whether an MP4's moov box describes encrypted samples, which ffmpeg would copy as if they were clear."""
    with path.open("rb") as file:
        for _ in range(MAX_TOP_LEVEL_BOXES):
            start, head = file.tell(), file.read(16)
            size = int.from_bytes(head[8:16] if head[:4] == b"\0\0\0\1" else head[:4], "big")
            if head[4:8] == b"moov":
                # Protected sample entries contain a sinf box, with the scheme type in a schm box.
                moov = file.read(min(size, MAX_MOOV_BYTES))
                return b"sinf" in moov and b"schm" in moov
            if size < BOX_HEADER_BYTES:
                break
            file.seek(start + min(size, MAX_OFFSET))
    return False


def _id3_bytes(head: bytes) -> int:
    """The tag size is a 28-bit synchsafe integer."""
    size = 0
    for byte in head[6:10]:
        size = size << 7 | byte & 0x7F
    return ID3_HEADER_BYTES + size


def _is_mov(head: bytes) -> bool:
    return head[4:8] in _MOV_FIRST_BOXES and not (head[4:8] == b"ftyp" and head[8:12] in _IMAGE_BRANDS)


def _is_mpegts(head: bytes) -> bool:
    # 188-byte packets, or 192 with a 4-byte timestamp before each.
    return any(
        all(head[offset + i * size : offset + i * size + 1] == b"\x47" for i in range(TS_PACKETS))
        for offset, size in ((0, 188), (4, 192))
    )


def _is_riff(form_type: bytes) -> Callable[[bytes], bool]:
    return lambda head: head[:4] in (b"RIFF", b"RF64") and head[8:12] == form_type


def _is_mpeg_audio(layers: frozenset[int]) -> Callable[[bytes], bool]:
    def matches(head: bytes) -> bool:
        # 11 sync bits, then version, layer (0 is ADTS), bit rate and sample rate; reserved values are rejected.
        if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
            return False
        layer = head[1] >> 1 & 3
        return layer in layers and (layer == 0 or (head[2] >> 4 != 15 and head[2] >> 2 & 3 != 3))

    return matches


def _starts(*signatures: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(signatures)


_SIGNATURES: tuple[tuple[Container, Callable[[bytes], bool]], ...] = (
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
