"""Shorts as ffmpeg makes them: small pictures for engines, sound of several parts, and an encode that is in step."""

import json
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from cutroom.media.probe import probe_header
from cutroom.media.process import MediaError
from cutroom.media.sandbox import Sandbox
from cutroom.media.shorts import Encode, Part, encode_output, make_sound, shown_rate, take_frames, take_thumbnail
from tests.media.conftest import Encode as Make

RATE = Fraction(30_000, 1001)
PARTS = (Part(2.0, float(90 / RATE)), Part(10.5, float(60 / RATE)))


@pytest.fixture
def mix(encode: Make, film: Path) -> Path:
    return encode("mix.mka", "-i", str(film), "-vn", "-c:a", "flac", "-ar", "48000", "-ac", "2")


def lumas(path: Path) -> "np.typing.NDArray[np.uint8]":
    command = [
        "ffmpeg",
        "-v",
        "error",
        "-i",
        str(path),
        "-vf",
        "scale=1:1:flags=area,format=gray",
        "-f",
        "rawvideo",
        "-",
    ]
    return np.frombuffer(subprocess.run(command, check=True, capture_output=True).stdout, np.uint8)


def samples(path: Path) -> "np.typing.NDArray[np.float32]":
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-ar", "48000", "-ac", "1", "-f", "f32le", "-"]
    return np.frombuffer(subprocess.run(command, check=True, capture_output=True).stdout, "<f4")


async def test_pictures_of_a_stretch_are_as_many_as_it_has(film: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    info = await probe_header(film, sandbox=sandbox)
    faces, shots = await take_frames(film, info, Part(4.0, 3.0), output=tmp_path, sandbox=sandbox)
    assert (faces.width, faces.height, faces.rate) == (320, 180, Fraction(5))
    assert faces.path.stat().st_size == 15 * 320 * 180 * 3
    assert (shots.width, shots.height, shots.rate) == (160, 90, RATE)
    assert shots.path.stat().st_size == pytest.approx(90 * 160 * 90 * 3, rel=0.02)


async def test_parts_follow_each_other_and_picture_and_sound_stay_in_step(
    film: Path, mix: Path, tmp_path: Path, sandbox: Sandbox
) -> None:
    """The film flashes and beeps at each full second."""
    info = await probe_header(film, sandbox=sandbox)
    sound = await make_sound(mix, PARTS, gain_db=-6.0, peak=0.5, music=None, output=tmp_path, sandbox=sandbox)
    encode = Encode(PARTS, "[joined]null[shown]", shown_rate(info), 320, 180)
    made = await encode_output(film, info, encode, sound=sound, output=tmp_path, sandbox=sandbox)
    light = lumas(made)
    assert len(light) == 150
    flashes = [at for at in range(1, 150) if light[at] > 200 and light[at - 1] < 200]
    seconds = [float(at / RATE) for at in flashes]
    # The second part begins half a second before a beep, 90 frames in.
    expected = [1.0, 2.0, 3.003 + 0.5, 3.003 + 1.5]
    assert seconds == pytest.approx(expected, abs=0.04)
    loud = np.abs(samples(made)) > 0.05
    beeps = [at / 48_000 for at in np.nonzero(loud)[0] if not loud[max(0, at - 12_000) : at].any()]
    assert beeps[-4:] == pytest.approx(expected, abs=0.06)


async def test_a_film_that_cannot_be_read_there_is_no_output(
    film: Path, tmp_path: Path, sandbox: Sandbox, encode: Make
) -> None:
    whole = encode("whole.mp4", "-i", str(film), "-c", "copy", "-movflags", "+faststart")
    cut = tmp_path / "cut.mp4"
    data = whole.read_bytes()
    cut.write_bytes(data[: len(data) // 2])
    info = await probe_header(cut, sandbox=sandbox)
    output = tmp_path / "output"
    output.mkdir()
    late = Encode((Part(28.0, float(90 / RATE)),), "[joined]null[shown]", shown_rate(info), 320, 180)
    with pytest.raises(MediaError):
        await encode_output(cut, info, late, sound=None, output=output, sandbox=sandbox)
    early = Encode((Part(2.0, float(90 / RATE)),), "[joined]null[shown]", shown_rate(info), 320, 180)
    assert len(lumas(await encode_output(cut, info, early, sound=None, output=output, sandbox=sandbox))) == 90


async def test_sound_alone_gets_a_ground(song: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    info = await probe_header(song, sandbox=sandbox)
    encode = Encode((Part(0.5, 2.0),), "[joined]null[shown]", shown_rate(info), 180, 320)
    made = await encode_output(song, info, encode, sound=None, output=tmp_path, sandbox=sandbox)
    told = subprocess.run(
        ["ffprobe", "-v", "error", "-of", "json", "-show_entries", "stream=width,height,nb_frames", str(made)],
        check=True,
        capture_output=True,
    )
    assert json.loads(told.stdout)["streams"] == [{"width": 180, "height": 320, "nb_frames": "50"}]


async def test_music_gives_way_to_speech(encode: Make, tmp_path: Path, sandbox: Sandbox) -> None:
    music = encode("music.wav", "-f", "lavfi", "-i", "sine=f=300:r=48000:d=10,volume=-20dB", "-ac", "2")
    speech = encode(
        "speech.mka",
        "-f",
        "lavfi",
        "-i",
        "sine=f=2000:r=48000:d=10,volume='gt(t,5)':eval=frame",
        "-ac",
        "2",
        "-c:a",
        "flac",
    )
    made = await make_sound(
        speech, [Part(0.0, 10.0)], gain_db=0.0, peak=0.9, music=music, output=tmp_path, sandbox=sandbox
    )
    heard = samples(made)

    def level(start: float) -> float:
        piece = heard[round(start * 48_000) :][:48_000]
        return float(np.abs(np.fft.rfft(piece * np.hanning(48_000)))[300])

    assert level(6.5) < 0.5 * level(2.0)
    assert len(heard) == pytest.approx(480_000, abs=2_000)


async def test_a_thumbnail_is_a_picture_of_its_time(film: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    made = await take_thumbnail(film, at_seconds=3.03, output=tmp_path, sandbox=sandbox)
    assert made.read_bytes()[:2] == b"\xff\xd8"
    assert lumas(made)[0] > 200
