"""Replaces a part of an AAC stream by frames of another encoding, at joints where both use the same windows."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cutroom.media.process import MediaError, Reason

FRAME_SAMPLES = 1_024
SETTLE_FRAMES = 8  # in which the rate control and the filters of an encoding that starts within the audio settle
BLOCK_BYTES = 1 << 20
_HEADER, _CRC = 7, 2
_FIELDS = 3  # bytes of a frame that have its window
_SYNC = 0xFFF
_CHANNEL_PAIR = 1
_LONG_WINDOW = 0
_UNKNOWN = 255  # several windows, or channels that have their own


@dataclass(frozen=True, slots=True)
class AacStream:
    """An ADTS file: where its frames start, and the window shape of those that are one long window."""

    path: Path
    starts: Sequence[int]  # of each frame, and the end of the last one
    shapes: Sequence[int]

    @property
    def frames(self) -> int:
        return len(self.shapes)

    def between(self, first: int, last: int) -> "StreamPart":
        """The frames from `first` up to but excluding `last`."""
        return StreamPart(self.path, self.starts[first], self.starts[last])


@dataclass(frozen=True, slots=True)
class StreamPart:
    """A range of bytes of a file."""

    path: Path
    start: int
    end: int

    def read(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            file.seek(self.start)
            left = self.end - self.start
            while left > 0 and (block := file.read(min(left, BLOCK_BYTES))):
                left -= len(block)
                yield block


def read_stream(path: Path) -> AacStream:
    """Index the frames of an ADTS file; raises MediaError if it is none."""
    starts, shapes, size = array("Q"), array("B"), path.stat().st_size
    at = 0
    with path.open("rb") as file:
        while at < size:
            file.seek(at)
            head = file.read(_HEADER + _CRC + _FIELDS)
            if len(head) < _HEADER or head[0] << 4 | head[1] >> 4 != _SYNC:
                raise _malformed(at)
            length = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
            header = _HEADER if head[1] & 1 else _HEADER + _CRC
            if length <= header or at + length > size:
                raise _malformed(at)
            starts.append(at)
            shapes.append(_window_shape(head[header : min(header + _FIELDS, length)]))
            at += length
    starts.append(at)
    return AacStream(path, starts, shapes)


def _window_shape(payload: bytes) -> int:
    """Of a frame that begins with a channel pair which shares one long window."""
    if len(payload) < _FIELDS:
        return _UNKNOWN
    bits = int.from_bytes(payload, "big")
    element, shared, window, shape = bits >> 21, bits >> 16 & 1, bits >> 13 & 3, bits >> 12 & 1
    return shape if (element, shared, window) == (_CHANNEL_PAIR, 1, _LONG_WINDOW) else _UNKNOWN


@dataclass(frozen=True, slots=True)
class Replacement:
    """Frames of a new encoding, the first of which is at `offset` of the old one."""

    stream: AacStream
    offset: int
    changed: tuple[int, int]  # frames of the old stream that have to be replaced, the last one excluded


@dataclass(frozen=True, slots=True)
class Joint:
    """Which frames of the old stream a replacement takes the place of."""

    first: int
    last: int


def find_joint(old: AacStream, replacement: Replacement) -> Joint | None:
    """Where a replacement begins and ends; None if the streams have no matching windows around what has changed.

    Each sample is decoded from two frames, which have to be of windows that add up: at a joint, the frames on both
    sides are one long window of one shape in both streams.
    """
    new, offset = replacement.stream, replacement.offset
    changed_first, changed_last = replacement.changed
    begins, ends = offset == 0, offset + new.frames == old.frames
    earliest = 1 if begins else offset + SETTLE_FRAMES
    latest = old.frames if ends else min(old.frames, offset + new.frames - SETTLE_FRAMES)
    first = next((at for at in range(changed_first, earliest - 1, -1) if _fits(old, new, at, offset)), None)
    last = next((at for at in range(changed_last, latest) if _fits(old, new, at, offset)), None)
    if first is None and begins:
        first = 0
    if last is None and ends:
        last = old.frames
    return Joint(first, last) if first is not None and last is not None else None


def _fits(old: AacStream, new: AacStream, at: int, offset: int) -> bool:
    around = (old.shapes[at - 1], old.shapes[at], new.shapes[at - 1 - offset], new.shapes[at - offset])
    return around[0] != _UNKNOWN and len(set(around)) == 1


def spliced(old: AacStream, replacements: Sequence[Replacement]) -> list[StreamPart] | None:
    """The stream with all replacements, which are in order, as pieces; None if one of them has no joint."""
    pieces, at = [], 0
    for each in replacements:
        joint = find_joint(old, each)
        if joint is None or joint.first < at:
            return None
        pieces.append(old.between(at, joint.first))
        pieces.append(each.stream.between(joint.first - each.offset, joint.last - each.offset))
        at = joint.last
    pieces.append(old.between(at, old.frames))
    return pieces


def changed_frames(first_sample: int, last_sample: int, *, frames: int) -> tuple[int, int]:
    """The frames that a range of samples is in: a frame begins one frame earlier than what it is the first half of."""
    return max(0, first_sample // FRAME_SAMPLES), min(frames, last_sample // FRAME_SAMPLES + 3)


def _malformed(at: int) -> MediaError:
    return MediaError(Reason.UNREADABLE, "The track is not an AAC stream.", detail=f"at byte {at}")
