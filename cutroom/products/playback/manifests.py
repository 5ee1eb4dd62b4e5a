"""Builds HLS and DASH manifests from separately packaged tracks."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cutroom.media.packager import DASH, PLAYLIST

TrackKind = Literal["video", "audio", "text"]
ROLE = "urn:mpeg:dash:role:2011"
AUDIO_GROUP, TEXT_GROUP = "audio", "text"


@dataclass(frozen=True, slots=True)
class ManifestTrack:
    """A packaged track; `packaged` holds the packager's metadata."""

    kind: TrackKind
    name: str
    language: str | None
    packaged: Mapping[str, Any]

    @property
    def folder(self) -> str:
        return str(self.packaged["name"])


def master_playlist(tracks: Sequence[ManifestTrack], *, default_language: str, original: str) -> str:
    """The HLS master playlist: all renditions, audio and subtitle tracks; one language is the default."""
    videos, audio, subtitles = _video_tracks(tracks), _audio_tracks(tracks, default_language), _of_kind(tracks, "text")
    lines = ["#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-INDEPENDENT-SEGMENTS", ""]
    default = audio[0] if audio else None
    lines += [_media("AUDIO", AUDIO_GROUP, each, is_default=each is default, original=original) for each in audio]
    lines += [_media("SUBTITLES", TEXT_GROUP, each, is_default=False, original=original) for each in subtitles]
    groups = (f',AUDIO="{AUDIO_GROUP}"' if audio else "") + (f',SUBTITLES="{TEXT_GROUP}"' if subtitles else "")
    audio_peak = max((int(each.packaged["bandwidth"]) for each in audio), default=0)
    audio_average = max((int(each.packaged["average_bandwidth"]) for each in audio), default=0)
    audio_codecs = sorted({each.packaged["codecs"] for each in audio})
    for each in videos or ([default] if default is not None else []):
        packaged, is_video = each.packaged, each.kind == "video"
        peak = int(packaged["bandwidth"]) + (audio_peak if is_video else 0)
        average = int(packaged["average_bandwidth"]) + (audio_average if is_video else 0)
        codecs = ",".join([packaged["codecs"], *audio_codecs] if is_video else audio_codecs)
        size = _resolution(packaged) if is_video else ""
        lines.append("")
        lines.append(
            f'#EXT-X-STREAM-INF:BANDWIDTH={peak},AVERAGE-BANDWIDTH={average},CODECS="{codecs}"{size}{groups},'
            "CLOSED-CAPTIONS=NONE"
        )
        lines.append(f"{each.folder}/{PLAYLIST}")
    return "\n".join(lines) + "\n"


def _of_kind(tracks: Sequence[ManifestTrack], kind: str) -> list[ManifestTrack]:
    return [each for each in tracks if each.kind == kind]


def _video_tracks(tracks: Sequence[ManifestTrack]) -> list[ManifestTrack]:
    """Lowest bandwidth first: players start with the first entry."""
    return sorted(_of_kind(tracks, "video"), key=lambda each: int(each.packaged["bandwidth"]))


def _audio_tracks(tracks: Sequence[ManifestTrack], default_language: str) -> list[ManifestTrack]:
    """The default language first: some players use the order instead of the DEFAULT attribute."""
    return sorted(_of_kind(tracks, "audio"), key=lambda each: each.language != default_language)


def _media(kind: str, group: str, track: ManifestTrack, *, is_default: bool, original: str) -> str:
    channels = f',CHANNELS="{track.packaged["channels"]}"' if track.packaged.get("channels") else ""
    name = f"{track.language} (original)" if track.language == original and kind == "AUDIO" else str(track.language)
    return (
        f'#EXT-X-MEDIA:TYPE={kind},GROUP-ID="{group}",NAME="{name}",LANGUAGE="{track.language}",'
        f'DEFAULT={"YES" if is_default else "NO"},AUTOSELECT=YES{channels},URI="{track.folder}/{PLAYLIST}"'
    )


def _resolution(packaged: Mapping[str, Any]) -> str:
    representation = ET.fromstring(packaged["representation"])  # noqa: S314 - our own packager wrote it
    return (
        f",RESOLUTION={representation.get('width')}x{representation.get('height')},FRAME-RATE={packaged['frame_rate']}"
    )


def manifest(tracks: Sequence[ManifestTrack], *, default_language: str, seconds: float) -> str:
    """The DASH manifest of the same tracks; the default language has the role `main`."""
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
    if videos := _video_tracks(tracks):
        shared = {"id": "0", "contentType": "video", "segmentAlignment": "true", "startWithSAP": "1"}
        group = ET.SubElement(period, _tag("AdaptationSet"), shared)
        for each in videos:
            group.append(ET.fromstring(each.packaged["representation"]))  # noqa: S314 - our own packager wrote it
    audio = _audio_tracks(tracks, default_language)
    for index, each in enumerate([*audio, *_of_kind(tracks, "text")], 1):
        shared = {"id": str(index), "contentType": each.kind, "lang": str(each.language), "segmentAlignment": "true"}
        group = ET.SubElement(period, _tag("AdaptationSet"), shared)
        role = "subtitle" if each.kind == "text" else "main" if each is audio[0] else "alternate"
        ET.SubElement(group, _tag("Role"), {"schemeIdUri": ROLE, "value": role})
        group.append(ET.fromstring(each.packaged["representation"]))  # noqa: S314 - our own packager wrote it
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _tag(name: str) -> str:
    return f"{{{DASH}}}{name}"
