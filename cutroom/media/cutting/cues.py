"""Moves the cues of our own subtitle files to the times of a recording that was cut."""

from cutroom.media.cutting.timeline import CutTimeline


def cut_cues(text: str, timeline: CutTimeline) -> str:
    """One of our SubRip or WebVTT files with the times of the output, without cues of what is cut out."""
    blocks, number = [], 0
    for block in text.strip().split("\n\n") if text.strip() else ():
        lines = block.split("\n")
        at = next((at for at, line in enumerate(lines) if " --> " in line), None)
        if at is None:
            blocks.append(block)
            continue
        times = _cut_times(lines[at], timeline)
        if times is None:
            continue
        number += 1
        heading = [str(number)] if at else []  # of SubRip
        blocks.append("\n".join([*heading, times, *lines[at + 1 :]]))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _cut_times(line: str, timeline: CutTimeline) -> str | None:
    separator = "," if "," in line else "."
    start, end = (timeline.output_seconds(_seconds(clock)) for clock in line.split(" --> "))
    clocks = [round(start * 1000), round(end * 1000)]
    return None if clocks[0] >= clocks[1] else " --> ".join(_clock(each, separator) for each in clocks)


def _seconds(clock: str) -> float:
    hours, minutes, seconds = clock.strip().replace(",", ".").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def _clock(milliseconds: int, separator: str) -> str:
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}{separator}{milliseconds:03}"
