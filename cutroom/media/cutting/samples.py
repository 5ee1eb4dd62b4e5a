"""Cuts a recording of sound to the sample, with a crossfade at each joint."""

import asyncio
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from cutroom.media.audio import MIX_RATE
from cutroom.media.cutting.timeline import CutTimeline, SoundPiece
from cutroom.media.formats import Container
from cutroom.media.probe import input_options
from cutroom.media.sandbox import GIB, INPUT, Sandbox, SandboxLimits, ffmpeg

CUT_NAME = "cut.mka"
CHANNELS = 2
FRAME_BYTES = 2 * CHANNELS  # one 16-bit sample of each channel
COPIED_BYTES = 1 << 20
LIMITS = SandboxLimits(wall_seconds=1800, cpu_seconds=900, file_bytes=32 * GIB)


async def cut_audio(path: Path, container: Container, timeline: CutTimeline, *, output: Path, sandbox: Sandbox) -> Path:
    """Writes the parts of a recording that remain as FLAC in Matroska, 48 kHz stereo, as long as their frames."""
    raw, cut = output / "whole.raw", output / "cut.raw"
    # As in the mix: silence where there is no sound, so that samples can be counted from the beginning.
    chain = f"aresample={MIX_RATE}:async=1:min_hard_comp=0.03:first_pts=0"
    decoded = ["-map", "0:a:0", "-af", chain, "-ac", str(CHANNELS), "-f", "s16le", raw.name]
    await ffmpeg(sandbox, [*input_options(container), *decoded], inputs={INPUT: path}, output=output, limits=LIMITS)
    await asyncio.to_thread(cut_file, raw, cut, timeline.sound_pieces(MIX_RATE))
    raw.unlink()
    return await encode_samples(cut, CUT_NAME, muxer="matroska", output=output, sandbox=sandbox)


async def encode_samples(raw: Path, name: str, *, muxer: str, output: Path, sandbox: Sandbox) -> Path:
    """Encodes a file of raw samples in the output folder as FLAC, and deletes it."""
    samples = ["-f", "s16le", "-ar", str(MIX_RATE), "-ac", str(CHANNELS), "-protocol_whitelist", "file"]
    bare = ["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact"]
    encoded = ["-i", f"file:{raw.name}", "-c:a", "flac", *bare, "-f", muxer, name]
    await ffmpeg(sandbox, [*samples, *encoded], inputs={}, output=output, limits=LIMITS)
    await asyncio.to_thread(raw.unlink)
    return output / name


def cut_file(raw: Path, cut: Path, pieces: Sequence[SoundPiece]) -> None:
    """Cuts a file of raw samples."""
    with raw.open("rb") as source, cut.open("wb") as target:
        cut_samples(source, target, pieces)


def cut_samples(source: BinaryIO, target: BinaryIO, pieces: Sequence[SoundPiece]) -> None:
    """Copies pieces of raw samples, each of which fades into the next. Missing samples are silent."""
    tail: array[int] | None = None
    for piece in pieces:
        head = _read(source, piece.start, piece.fade)
        _write(target, _crossfaded(tail if tail is not None else _silence(piece.fade), head))
        _copy(source, target, piece.start + piece.fade, piece.end - piece.fade)
        tail = _read(source, piece.end - piece.fade, piece.fade)
    if tail is not None:
        _write(target, _crossfaded(tail, _silence(len(tail) // CHANNELS)))


def _silence(count: int) -> "array[int]":
    return array("h", bytes(count * FRAME_BYTES))


def _crossfaded(tail: "array[int]", head: "array[int]") -> "array[int]":
    """A linear crossfade of samples of equal length: of a constant signal, the same signal."""
    count = len(head) // CHANNELS
    mixed = array("h")
    for at, (left, right) in enumerate(zip(tail, head, strict=True)):
        weight = (at // CHANNELS + 0.5) / count
        mixed.append(round(left * (1 - weight) + right * weight))
    return mixed


def _copy(source: BinaryIO, target: BinaryIO, start: int, end: int) -> None:
    left = (end - start) * FRAME_BYTES
    source.seek(max(0, start) * FRAME_BYTES)
    while left > 0:
        chunk = source.read(min(left, COPIED_BYTES))
        if not chunk:
            target.write(bytes(left))
            return
        target.write(chunk)
        left -= len(chunk)


def _read(source: BinaryIO, start: int, count: int) -> "array[int]":
    source.seek(max(0, start) * FRAME_BYTES)
    data = source.read(count * FRAME_BYTES)
    samples = array("h")
    samples.frombytes(data + bytes(count * FRAME_BYTES - len(data)))
    return samples


def _write(target: BinaryIO, samples: "array[int]") -> None:
    target.write(samples.tobytes())
