"""The lists that players read, put together from tracks that were packaged one by one."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cutroom.media.packager import DASH, PLAYLIST

Kind = Literal["picture", "sound", "text"]
ROLE = "urn:mpeg:dash:role:2011"
AUDIO_GROUP, TEXT_GROUP = "sound", "text"


@dataclass(frozen=True, slots=True)
class Track:
    """A track that can be listed; `packaged` is what the packager said of it."""

    kind: Kind
    name: str
    language: str | None
    packaged: Mapping[str, Any]

    @property
    def folder(self) -> str:
        return str(self.packaged["name"])


def master_playlist(tracks: Sequence[Track], *, first: str, original: str) -> str:
    """HLS: every size with every sound and text; the sound of one language is the one that is heard first."""
    pictures, sounds, texts = _pictures(tracks), _sounds(tracks, first), _of(tracks, "text")
    lines = ["#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-INDEPENDENT-SEGMENTS", ""]
    chosen = sounds[0] if sounds else None
    lines += [_media("AUDIO", AUDIO_GROUP, each, is_default=each is chosen, original=original) for each in sounds]
    lines += [_media("SUBTITLES", TEXT_GROUP, each, is_default=False, original=original) for each in texts]
    groups = (f',AUDIO="{AUDIO_GROUP}"' if sounds else "") + (f',SUBTITLES="{TEXT_GROUP}"' if texts else "")
    loudest = max((int(each.packaged["bandwidth"]) for each in sounds), default=0)
    usual = max((int(each.packaged["average_bandwidth"]) for each in sounds), default=0)
    spoken = sorted({each.packaged["codecs"] for each in sounds})
    for each in pictures or ([chosen] if chosen is not None else []):
        told, is_picture = each.packaged, each.kind == "picture"
        peak = int(told["bandwidth"]) + (loudest if is_picture else 0)
        average = int(told["average_bandwidth"]) + (usual if is_picture else 0)
        codecs = ",".join([told["codecs"], *spoken] if is_picture else spoken)
        size = _size(told) if is_picture else ""
        lines.append("")
        lines.append(
            f'#EXT-X-STREAM-INF:BANDWIDTH={peak},AVERAGE-BANDWIDTH={average},CODECS="{codecs}"{size}{groups},'
            "CLOSED-CAPTIONS=NONE"
        )
        lines.append(f"{each.folder}/{PLAYLIST}")
    return "\n".join(lines) + "\n"


def _of(tracks: Sequence[Track], kind: str) -> list[Track]:
    return [each for each in tracks if each.kind == kind]


def _pictures(tracks: Sequence[Track]) -> list[Track]:
    """The lightest first: what a player starts with it should not have to wait for."""
    return sorted(_of(tracks, "picture"), key=lambda each: int(each.packaged["bandwidth"]))


def _sounds(tracks: Sequence[Track], first: str) -> list[Track]:
    """The one that is heard first stands first: some players go by the order and not by what is said of it."""
    return sorted(_of(tracks, "sound"), key=lambda each: each.language != first)


def _media(kind: str, group: str, track: Track, *, is_default: bool, original: str) -> str:
    channels = f',CHANNELS="{track.packaged["channels"]}"' if track.packaged.get("channels") else ""
    name = f"{track.language} (original)" if track.language == original and kind == "AUDIO" else str(track.language)
    return (
        f'#EXT-X-MEDIA:TYPE={kind},GROUP-ID="{group}",NAME="{name}",LANGUAGE="{track.language}",'
        f'DEFAULT={"YES" if is_default else "NO"},AUTOSELECT=YES{channels},URI="{track.folder}/{PLAYLIST}"'
    )


def _size(told: Mapping[str, Any]) -> str:
    shown = ET.fromstring(told["representation"])  # noqa: S314 - our own packager wrote it
    return f",RESOLUTION={shown.get('width')}x{shown.get('height')},FRAME-RATE={told['frame_rate']}"


def manifest(tracks: Sequence[Track], *, first: str, seconds: float) -> str:
    """DASH: the same tracks; the language that is heard first has the role `main`."""
    ET.register_namespace("", DASH)
    root = ET.Element(
        _tag("MPD"),
        {
            "profiles": "urn:mpeg:dash:profile:isoff-live:2011",
            "minBufferTime": "PT4S",
            "type": "static",
            "mediaPresentationDuration": f"PT{seconds:.3f}S",
        },
    )
    period = ET.SubElement(root, _tag("Period"), {"id": "0"})
    if pictures := _pictures(tracks):
        shared = {"id": "0", "contentType": "video", "segmentAlignment": "true", "startWithSAP": "1"}
        group = ET.SubElement(period, _tag("AdaptationSet"), shared)
        for each in pictures:
            group.append(ET.fromstring(each.packaged["representation"]))  # noqa: S314 - our own packager wrote it
    sounds = _sounds(tracks, first)
    for at, each in enumerate([*sounds, *_of(tracks, "text")], 1):
        kind = "audio" if each.kind == "sound" else "text"
        shared = {"id": str(at), "contentType": kind, "lang": str(each.language), "segmentAlignment": "true"}
        group = ET.SubElement(period, _tag("AdaptationSet"), shared)
        role = "subtitle" if each.kind == "text" else "main" if each is sounds[0] else "alternate"
        ET.SubElement(group, _tag("Role"), {"schemeIdUri": ROLE, "value": role})
        group.append(ET.fromstring(each.packaged["representation"]))  # noqa: S314 - our own packager wrote it
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _tag(name: str) -> str:
    return f"{{{DASH}}}{name}"
