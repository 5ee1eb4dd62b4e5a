"""A part of an AAC track is replaced: the rest is the same bytes, and there is nothing to hear at the joints."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from cutroom.media.dubbing import write_track
from cutroom.media.process import MediaError
from cutroom.media.sandbox import Sandbox
from cutroom.media.splicing.aac_frames import FRAME_SAMPLES, read_stream
from cutroom.media.splicing.tracks import ChangedAudio, TrackLevel, splice_track

RATE, SECONDS = 48_000, 12
LEVEL = TrackLevel(1.5, 0.82)
MIN_SNR_DB = 20.0  # relative to an encoding of the whole track; two encodings differ by their quantization
MAX_CLICK = 0.05  # of a sample at a joint, more than what the encoding of the whole track has


def speech_like(seed: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    """Bursts of tones and noise with pauses, so that the encoder switches between windows."""
    rng = np.random.default_rng(seed)
    time = np.arange(RATE * SECONDS) / RATE
    envelope = np.clip(np.sin(2 * np.pi * 1.7 * time + rng.uniform(0, 6)), 0, 1) ** 0.3
    tone = sum(np.sin(2 * np.pi * f * time + rng.uniform(0, 6)) / n for n, f in enumerate((180, 420, 910, 2300), 1))
    noise = rng.normal(0, 0.1, len(time))
    mono = 0.2 * envelope * (tone + noise)
    return np.stack([mono, 0.8 * mono]).astype(np.float32)


def write_flac(path: Path, samples: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]") -> Path:
    raw = ["-f", "f32le", "-ar", str(RATE), "-ac", "2", "-i", "-"]
    command = ["ffmpeg", "-v", "error", "-y", *raw, "-c:a", "flac", "-sample_fmt", "s16", str(path)]
    subprocess.run(command, input=np.ascontiguousarray(samples.T).tobytes(), check=True)
    return path


def decode(path: Path) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-f", "f32le", "-ac", "2", "-"]
    raw = subprocess.run(command, check=True, capture_output=True).stdout
    return np.frombuffer(raw, np.float32).reshape(-1, 2).T


def frames_of(path: Path) -> list[bytes]:
    adts = path.with_suffix(".adts")
    command = ["ffmpeg", "-v", "error", "-y", "-i", str(path), "-c", "copy", "-f", "adts", str(adts)]
    subprocess.run(command, check=True)
    stream = read_stream(adts)
    return [b"".join(stream.between(at, at + 1).read()) for at in range(stream.frames)]


async def encoded(path: Path, folder: Path) -> Path:
    folder.mkdir()
    return await write_track(
        path, gain_db=LEVEL.gain_db, peak=LEVEL.peak, language="pt", output=folder, sandbox=Sandbox()
    )


@pytest.mark.parametrize("spans", [[(4.0, 5.5)], [(0.2, 1.0)], [(10.9, 11.9)], [(2.0, 2.4), (7.3, 9.0)]])
async def test_a_part_is_replaced_without_a_joint_to_hear(spans: list[tuple[float, float]], tmp_path: Path) -> None:
    before, after = speech_like(1), speech_like(1)
    for start, end in spans:
        after[:, round(start * RATE) : round(end * RATE)] = speech_like(2)[:, round(start * RATE) : round(end * RATE)]
    old = await encoded(write_flac(tmp_path / "before.flac", before), tmp_path / "old")
    whole = await encoded(write_flac(tmp_path / "after.flac", after), tmp_path / "whole")
    folder = tmp_path / "spliced"
    folder.mkdir()
    halves = [after[:, : 6 * RATE], after[:, 6 * RATE :]]
    files = [write_flac(folder / f"chunk-{number}.flac", half) for number, half in enumerate(halves)]
    changes = [ChangedAudio(round(start * RATE), round(end * RATE), files, 0) for start, end in spans]
    track = await splice_track(old, changes, level=LEVEL, language="pt", output=folder, sandbox=Sandbox())
    assert track is not None
    expected, found, former = decode(whole), decode(track), decode(old)
    assert found.shape == expected.shape
    error = found - expected
    for at in range(0, found.shape[1] - RATE // 2, RATE // 2):  # half a second each
        part = slice(at, at + RATE // 2)
        power, noise = float(np.mean(expected[:, part] ** 2)), float(np.mean(error[:, part] ** 2))
        assert noise == 0 or power < 1e-5 or 10 * np.log10(power / noise) > MIN_SNR_DB
    steps, usual = np.abs(np.diff(found)).max(), np.abs(np.diff(expected)).max()
    assert steps <= usual + MAX_CLICK
    frames = [frames_of(each) for each in (old, track)]
    assert len(frames[0]) == len(frames[1])
    same = [one == other for one, other in zip(*frames, strict=True)]
    for at, is_same in enumerate(same):
        nearest = min(min(abs(at * FRAME_SAMPLES / RATE - edge) for edge in span) for span in spans)
        inside = any(start <= at * FRAME_SAMPLES / RATE <= end for start, end in spans)
        assert is_same or inside or nearest < 1.0
    untouched = (
        slice(0, round((spans[0][0] - 1) * RATE)) if spans[0][0] > 1 else slice(round((spans[0][1] + 1) * RATE), None)
    )
    if len(spans) == 1:
        assert np.array_equal(found[:, untouched], former[:, untouched])


@pytest.mark.parametrize("content", [b"RIFF0000WAVEfmt ", b"\xff\xf1\x4c", b"\xff\xf1\x4c\x80\x00\x1f\xfc" + bytes(3)])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "stream.aac").write_bytes(content)
    with pytest.raises(MediaError):
        read_stream(tmp_path / "stream.aac")
