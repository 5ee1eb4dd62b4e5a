"""Extracts a video's audio in two formats, in chunks that join without gaps.

`speech` is 16 kHz mono FLAC for speech recognition, which suffers from lossy codecs more than listeners do.
`mix` is 48 kHz stereo FLAC in Matroska, the source for dubs: lossless, because it is encoded again later.
Loudness is unchanged. Both cover the whole timeline from 0, with silence where there is no audio, so that they stay in
sync with the video.
"""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from cutroom.media.chunks import MediaChunk, chunk_progress, plan_chunks, write_concat_list
from cutroom.media.formats import Container
from cutroom.media.probe import MediaInfo, input_options
from cutroom.media.process import FfmpegProgress, MediaError, OnFraction, Reason
from cutroom.media.sandbox import GIB, INPUT, Sandbox, SandboxLimits, ffmpeg

MIX_RATE = 48_000
SPEECH_RATE = 16_000
RATIO = MIX_RATE // SPEECH_RATE
MIX_BIT_RATE = "160k"
CHUNK_ALIGNMENT_SAMPLES = 1024 * RATIO  # chunk boundaries fall on whole samples of both rates
# Decoders and resamplers need a preroll, whose output is discarded.
PREROLL_SAMPLES = 160 * CHUNK_ALIGNMENT_SAMPLES  # about 10 s: Ogg pages may be that far apart
CHUNK_SECONDS = 600.0  # about 10 s of processing
JOINED_NAMES = ("speech.flac", "mix.mka")
JOIN_LIMITS = SandboxLimits(wall_seconds=900, cpu_seconds=600, file_bytes=32 * GIB)


class AudioFiles(NamedTuple):
    """Audio files of one chunk, or joined."""

    speech: Path
    mix: Path


def plan_audio(info: MediaInfo, *, chunk_seconds: float = CHUNK_SECONDS) -> list[MediaChunk]:
    rate = Fraction(MIX_RATE)
    return plan_chunks(
        info.duration_seconds, rate=rate, chunk_seconds=chunk_seconds, multiple_of=CHUNK_ALIGNMENT_SAMPLES
    )


async def make_audio(
    path: Path,
    info: MediaInfo,
    *,
    output: Path,
    sandbox: Sandbox,
    on_fraction: OnFraction | None = None,
    chunk_seconds: float = CHUNK_SECONDS,
) -> AudioFiles | None:
    """Makes and joins all chunks, keeping those already in the output directory; None without an audio stream."""
    if info.audio_streams == 0:
        return None
    chunks = plan_audio(info, chunk_seconds=chunk_seconds)
    made = []
    for chunk in chunks:
        files = audio_chunk_files(chunk, output)
        if not files.mix.exists():  # renamed last
            report = chunk_progress(chunk, chunks, on_fraction)
            await make_audio_chunk(path, info, chunk, output=output, sandbox=sandbox, on_fraction=report)
        made.append(files)
    return await join_audio(made, output=output, sandbox=sandbox)


def audio_chunk_files(chunk: MediaChunk, output: Path) -> AudioFiles:
    number = f"{chunk.index:05}"
    return AudioFiles(output / f"speech-{number}.flac", output / f"mix-{number}.mka")


async def make_audio_chunk(
    path: Path,
    info: MediaInfo,
    chunk: MediaChunk,
    *,
    output: Path,
    sandbox: Sandbox,
    on_fraction: OnFraction | None = None,
) -> AudioFiles:
    """Decodes once and writes both formats."""
    progress = FfmpegProgress(chunk.seconds, on_fraction)
    # Fall back to decoding from the start if nothing is found after seeking.
    for preroll in dict.fromkeys((min(chunk.start, PREROLL_SAMPLES), chunk.start)):
        seek = ["-ss", f"{(chunk.start - preroll) / MIX_RATE:.6f}"]
        arguments = [*seek, *input_options(info.container), *_output_options(chunk, preroll)]
        await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, progress=progress)
        if progress.seconds > 0:
            break
    if progress.seconds <= 0:
        raise MediaError(Reason.UNREADABLE, "The audio of the file cannot be read.")
    files = audio_chunk_files(chunk, output)
    for part, file in (("speech.part", files.speech), ("mix.part", files.mix)):
        (output / part).replace(file)
    return files


def _output_options(chunk: MediaChunk, preroll: int) -> list[str]:
    """Splits one decoded stream into two files, each with an exact number of samples."""
    end = preroll + chunk.count
    # async=1 fills timestamp gaps with silence and drops overlaps, from 30 ms on; first_pts=0 pads before the first
    # sample. apad and atrim then make the length exact.
    chain = (
        f"[0:a:0]aresample={MIX_RATE}:async=1:min_hard_comp=0.03:first_pts=0,"
        "aformat=sample_fmts=fltp:channel_layouts=stereo,asplit=2[a][b];"
        f"[a]aresample={SPEECH_RATE},aformat=sample_fmts=s16:channel_layouts=mono,"
        f"{_exact_length(preroll // RATIO, -(-end // RATIO))}[speech];"
        f"[b]aformat=sample_fmts=s16,{_exact_length(preroll, end)}[mix]"
    )
    # bitexact omits the encoder name, so that the same input gives the same bytes.
    bare = ["-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact"]
    return [
        *("-filter_complex", chain),
        *("-map", "[speech]", "-c:a", "flac", *bare, "-f", "flac", "speech.part"),
        *("-map", "[mix]", "-c:a", "flac", *bare, "-f", "matroska", "mix.part"),
    ]


def _exact_length(start: int, end: int) -> str:
    return f"apad,atrim=start_sample={start}:end_sample={end},asetpts=N/SR/TB"


async def join_audio(chunks: Sequence[AudioFiles], *, output: Path, sandbox: Sandbox) -> AudioFiles:
    """Joins chunks losslessly: copies packets, and re-encodes `speech` to FLAC; one chunk is renamed."""
    joined = AudioFiles(*(output / name for name in JOINED_NAMES))
    if len(chunks) == 1:
        return AudioFiles(chunks[0].speech.rename(joined.speech), chunks[0].mix.rename(joined.mix))
    # FLAC numbers its frames, so concatenated packets would be invalid for decoders other than ffmpeg.
    await _join([each.speech for each in chunks], joined.speech, ["-c:a", "flac", "-f", "flac"], sandbox=sandbox)
    await _join([each.mix for each in chunks], joined.mix, ["-c:a", "copy", "-f", "matroska"], sandbox=sandbox)
    return joined


async def _join(paths: Sequence[Path], joined: Path, codec: Sequence[str], *, sandbox: Sandbox) -> None:
    listed = write_concat_list(paths, joined.parent)
    arguments = ["-f", "concat", "-protocol_whitelist", "file", "-i", f"file:{listed.name}", "-map", "0:a:0", *codec]
    arguments += ["-fflags", "+bitexact", "-flags:a", "+bitexact", "joined.part"]
    await ffmpeg(sandbox, arguments, inputs={}, output=joined.parent, limits=JOIN_LIMITS)
    (joined.parent / "joined.part").replace(joined)


async def encode_mix(path: Path, *, output: Path, sandbox: Sandbox) -> Path:
    """Encodes the mix for listening: AAC in MP4."""
    arguments = [*input_options(Container.MATROSKA), "-map", "0:a:0", "-c:a", "aac", "-b:a", MIX_BIT_RATE]
    arguments += ["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact", "-f", "mp4", "mix.m4a"]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=JOIN_LIMITS)
    return output / "mix.m4a"


async def decode_speech(
    path: Path, *, output: Path, sandbox: Sandbox, start_seconds: float = 0.0, seconds: float | None = None
) -> Path:
    """Decodes `speech` to raw 16-bit samples in the output directory, completely or a range of it."""
    seek = ["-ss", f"{start_seconds:.6f}"] + (["-t", f"{seconds:.6f}"] if seconds is not None else [])
    arguments = [*seek, *input_options(Container.FLAC), "-map", "0:a:0", "-f", "s16le", "speech.raw"]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=JOIN_LIMITS)
    return output / "speech.raw"
