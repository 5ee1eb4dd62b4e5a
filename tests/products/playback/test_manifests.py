"""Tests for HLS and DASH manifests."""

import xml.etree.ElementTree as ET

import m3u8

from cutroom.products.playback.manifests import ManifestTrack, TrackKind, manifest, master_playlist

DASH = "{urn:mpeg:dash:schema:mpd:2011}"


def track(kind: TrackKind, name: str, language: str | None = None, **attributes: object) -> ManifestTrack:
    representation = (
        f'<Representation xmlns="urn:mpeg:dash:schema:mpd:2011" id="{kind[0]}/{name}" width="640" height="360" />'
    )
    codecs = {"video": "avc1.64001e", "audio": "mp4a.40.2", "text": "wvtt"}[kind]
    packaged = {
        "name": f"{kind[0]}/{name}",
        "codecs": codecs,
        "bandwidth": 100_000,
        "average_bandwidth": 80_000,
        "representation": representation,
        "frame_rate": "25.000",
        "channels": "2" if kind == "audio" else "",
        **attributes,
    }
    return ManifestTrack(kind, name, language, packaged)


TRACKS = [
    track("video", "360p", bandwidth=700_000),
    track("video", "240p"),
    track("audio", "original", "en"),
    track("audio", "pt", "pt"),
    track("text", "en", "en"),
]


def test_playlist_lists_all_renditions_audio_and_subtitles() -> None:
    playlist = m3u8.loads(master_playlist(TRACKS, default_language="en", original="en"))
    assert [each.uri for each in playlist.playlists] == ["v/240p/index.m3u8", "v/360p/index.m3u8"]
    assert playlist.playlists[1].stream_info.bandwidth == 800_000
    assert playlist.playlists[0].stream_info.codecs == "avc1.64001e,mp4a.40.2"
    assert playlist.playlists[0].stream_info.resolution == (640, 360)
    assert [(each.type, each.language, each.default) for each in playlist.media] == [
        ("AUDIO", "en", "YES"),
        ("AUDIO", "pt", "NO"),
        ("SUBTITLES", "en", "NO"),
    ]


def test_default_language_comes_first() -> None:
    playlist = m3u8.loads(master_playlist(TRACKS, default_language="pt", original="en"))
    assert [each.language for each in playlist.media if each.default == "YES"] == ["pt"]
    assert [each.language for each in playlist.media] == ["pt", "en", "en"]


def test_audio_only_playlist() -> None:
    playlist = m3u8.loads(master_playlist(TRACKS[2:4], default_language="en", original="en"))
    assert [each.uri for each in playlist.playlists] == ["a/original/index.m3u8"]
    assert playlist.playlists[0].stream_info.resolution is None


def test_video_without_audio_has_no_audio_group() -> None:
    playlist = m3u8.loads(master_playlist(TRACKS[:2], default_language="und", original="und"))
    assert (len(playlist.playlists), len(playlist.media)) == (2, 0)
    assert playlist.playlists[0].stream_info.audio is None


def test_dash_manifest_lists_the_same_tracks() -> None:
    root = ET.fromstring(manifest(TRACKS, default_language="pt", seconds=12.5))  # noqa: S314 (we wrote it ourselves)
    assert root.get("mediaPresentationDuration") == "PT12.500S"
    groups = root.findall(f".//{DASH}AdaptationSet")
    assert [(each.get("contentType"), each.get("lang")) for each in groups] == [
        ("video", None),
        ("audio", "pt"),
        ("audio", "en"),
        ("text", "en"),
    ]
    assert len(groups[0].findall(f"{DASH}Representation")) == 2
    roles = [each.get("value") for each in root.findall(f".//{DASH}Role")]
    assert roles == ["main", "alternate", "subtitle"]
