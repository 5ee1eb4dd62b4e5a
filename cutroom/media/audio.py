"""The audio of a video in three forms, each made in pieces that join without a gap.

`speech` is FLAC, 16 kHz mono, what asr_engines want: lossless, since they suffer from codecs more than people do.
`mix` is FLAC, 48 kHz stereo in Matroska, the ground for dubs: what is encoded again later must not have been lossy.
`proxy` is AAC, the sound of the small proxy. Loudness is left alone. All three span the whole file, from its first
instant, with silence where there is no sound, so that they stay in step with the picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from cutroom.media.chunks import MediaChunk, part_of, plan_pieces, write_list
from cutroom.media.formats import Container
from cutroom.media.probe import MediaInfo, reading
from cutroom.media.process import MediaError, OnFraction, Progress, Reason
from cutroom.media.sandbox import GIB, INPUT, Limits, Sandbox, ffmpeg

MIX_RATE = 48_000
SPEECH_RATE = 16_000
RATIO = MIX_RATE // SPEECH_RATE
AAC_BLOCK = 1024  # samples in one AAC packet
AAC_BIT_RATE = "96k"
LISTENING_BIT_RATE = "160k"
# A joint falls on a whole AAC packet, and on a whole sample of both rates.
JOINT_SAMPLES = AAC_BLOCK * RATIO
# Decoders and resamplers need a running start; what they give in it is thrown away.
PREROLL_SAMPLES = 160 * JOINT_SAMPLES  # some 10 s: pages of Ogg may be that far apart
AAC_PREROLL_BLOCKS = 2
PIECE_SECONDS = 600.0  # some 10 s of work
JOIN_LIMITS = Limits(wall_seconds=900, cpu_seconds=600, file_bytes=32 * GIB)


@dataclass(frozen=True, slots=True)
class AudioFiles:
    """Of one piece, or of the whole."""

    speech: Path
    mix: Path
    proxy: Path


def plan_audio(info: MediaInfo, *, piece_seconds: float = PIECE_SECONDS) -> list[MediaChunk]:
    rate = Fraction(MIX_RATE)
    return plan_pieces(info.duration_seconds, rate=rate, piece_seconds=piece_seconds, multiple_of=JOINT_SAMPLES)


async def make_audio(
    path: Path,
    info: MediaInfo,
    *,
    output: Path,
    sandbox: Sandbox,
    on_fraction: OnFraction | None = None,
    piece_seconds: float = PIECE_SECONDS,
) -> AudioFiles | None:
    """All pieces and their joint; pieces already in the output folder are kept. None where there is no sound."""
    if info.audio_streams == 0:
        return None
    pieces = plan_audio(info, piece_seconds=piece_seconds)
    made = []
    for piece in pieces:
        files = piece_files(piece, output)
        if not files.proxy.exists():  # the last of the three to get its name
            told = part_of(piece, pieces, on_fraction)
            await make_audio_piece(path, info, piece, output=output, sandbox=sandbox, on_fraction=told)
        made.append(files)
    return await join_audio(made, output=output, sandbox=sandbox)


def piece_files(piece: MediaChunk, output: Path) -> AudioFiles:
    number = f"{piece.index:05}"
    return AudioFiles(output / f"speech-{number}.flac", output / f"mix-{number}.mka", output / f"proxy-{number}.aac")


async def make_audio_piece(
    path: Path,
    info: MediaInfo,
    piece: MediaChunk,
    *,
    output: Path,
    sandbox: Sandbox,
    on_fraction: OnFraction | None = None,
) -> AudioFiles:
    """Decode once, write all three."""
    progress = Progress(piece.seconds, on_fraction)
    # The second way, from the start of the file, is for one in which nothing is found after seeking.
    for preroll in dict.fromkeys((min(piece.start, PREROLL_SAMPLES), piece.start)):
        seek = ["-ss", f"{(piece.start - preroll) / MIX_RATE:.6f}"]
        arguments = [*seek, *reading(info.container), *_writing(piece, preroll)]
        await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, progress=progress)
        if progress.seconds > 0:
            break
    files = piece_files(piece, output)
    _keep_blocks(output / "proxy.part", piece)
    for part, file in (("speech.part", files.speech), ("mix.part", files.mix), ("proxy.part", files.proxy)):
        (output / part).replace(file)
    return files


def _writing(piece: MediaChunk, preroll: int) -> list[str]:
    """One decoded stream to three files, each of an exact number of samples."""
    end = preroll + piece.count
    aac_start = max(0, preroll - AAC_PREROLL_BLOCKS * AAC_BLOCK)
    # async=1 fills holes in the time stamps with silence and drops overlaps, from 30 ms on; first_pts=0 does so before
    # the first sample. apad and atrim then make the length exact.
    chain = (
        f"[0:a:0]aresample={MIX_RATE}:async=1:min_hard_comp=0.03:first_pts=0,"
        "aformat=sample_fmts=fltp:channel_layouts=stereo,asplit=3[a][b][c];"
        f"[a]aresample={SPEECH_RATE},aformat=sample_fmts=s16:channel_layouts=mono,"
        f"{_exactly(preroll // RATIO, -(-end // RATIO))}[speech];"
        f"[b]aformat=sample_fmts=s16,{_exactly(preroll, end)}[mix];"
        # A packet overlaps the next: the encoder sees one block beyond the end, and two before the start.
        f"[c]{_exactly(aac_start, end + 2 * AAC_BLOCK)}[proxy]"
    )
    # bitexact leaves out the encoder's name, so that the same input gives the same bytes.
    bare = ["-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact"]
    return [
        *("-filter_complex", chain),
        *("-map", "[speech]", "-c:a", "flac", *bare, "-f", "flac", "speech.part"),
        *("-map", "[mix]", "-c:a", "flac", *bare, "-f", "matroska", "mix.part"),
        *("-map", "[proxy]", "-c:a", "aac", "-aac_coder", "fast", "-b:a", AAC_BIT_RATE, *bare, "-f", "adts"),
        "proxy.part",
    ]


def _exactly(start: int, end: int) -> str:
    return f"apad,atrim=start_sample={start}:end_sample={end},asetpts=N/SR/TB"


def _keep_blocks(path: Path, piece: MediaChunk) -> None:
    """Keep the packets that belong to this piece, so that pieces join by laying one behind the other.

    Packet k of an AAC stream completes block k - 1 of the samples. The very first one, which completes nothing, is
    left out: the sound then starts at 0 and not a block later, at the price of a fade-in of 21 ms.
    """
    packets = split_adts(path.read_bytes())
    skip = 1 + (AAC_PREROLL_BLOCKS if piece.start else 0)
    count = -(-piece.count // AAC_BLOCK)
    kept = packets[skip : skip + count]
    if len(kept) != count:
        raise MediaError(Reason.UNREADABLE, "The sound of the file cannot be read.", detail=f"{len(kept)} of {count}")
    path.write_bytes(b"".join(kept))


def split_adts(data: bytes) -> list[bytes]:
    """Packets with their headers: thirteen bits of the header give the length."""
    packets = []
    at = 0
    while at + 7 <= len(data):
        length = (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5
        if data[at] != 0xFF or length < 7:
            break
        packets.append(data[at : at + length])
        at += length
    return packets


async def join_audio(pieces: Sequence[AudioFiles], *, output: Path, sandbox: Sandbox) -> AudioFiles:
    """One file of each form, lossless: packets are copied, or for `speech` decoded and encoded to FLAC again."""
    whole = AudioFiles(output / "speech.flac", output / "mix.mka", output / "proxy.aac")
    # A FLAC file counts its frames, which a copy of several would get wrong; other readers than ffmpeg mind.
    await _join([each.speech for each in pieces], whole.speech, ["-c:a", "flac", "-f", "flac"], sandbox=sandbox)
    await _join([each.mix for each in pieces], whole.mix, ["-c:a", "copy", "-f", "matroska"], sandbox=sandbox)
    part = output / "joined.part"
    with part.open("wb") as file:
        for each in pieces:
            file.write(each.proxy.read_bytes())
    part.replace(whole.proxy)
    return whole


async def _join(paths: Sequence[Path], joined: Path, how: Sequence[str], *, sandbox: Sandbox) -> None:
    listed = write_list(paths, joined.parent)
    arguments = ["-f", "concat", "-protocol_whitelist", "file", "-i", f"file:{listed.name}", "-map", "0:a:0", *how]
    arguments += ["-fflags", "+bitexact", "-flags:a", "+bitexact", "joined.part"]
    await ffmpeg(sandbox, arguments, inputs={}, output=joined.parent, limits=JOIN_LIMITS)
    (joined.parent / "joined.part").replace(joined)


async def encode_mix(path: Path, *, output: Path, sandbox: Sandbox) -> Path:
    """The mix as people listen to it: AAC in MP4."""
    arguments = [*reading(Container.MATROSKA), "-map", "0:a:0", "-c:a", "aac", "-b:a", LISTENING_BIT_RATE]
    arguments += ["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact", "-f", "mp4", "mix.m4a"]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=JOIN_LIMITS)
    return output / "mix.m4a"


async def decode_speech(
    path: Path, *, output: Path, sandbox: Sandbox, start_seconds: float = 0.0, seconds: float | None = None
) -> Path:
    """Samples of `speech` as they are, 16 bits each, in a file of the output folder: all of them or a stretch."""
    stretch = ["-ss", f"{start_seconds:.6f}"] + (["-t", f"{seconds:.6f}"] if seconds is not None else [])
    arguments = [*stretch, *reading(Container.FLAC), "-map", "0:a:0", "-f", "s16le", "speech.raw"]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=JOIN_LIMITS)
    return output / "speech.raw"
