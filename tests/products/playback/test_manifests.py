"""Playlists and manifests: every track is named, one sound is the first, and readers of others understand them."""

import xml.etree.ElementTree as ET

import m3u8

from cutroom.products.playback.manifests import Kind, Track, manifest, master_playlist

DASH = "{urn:mpeg:dash:schema:mpd:2011}"


def track(kind: Kind, name: str, language: str | None = None, **told: object) -> Track:
    representation = (
        f'<Representation xmlns="urn:mpeg:dash:schema:mpd:2011" id="{kind[0]}/{name}" width="640" height="360" />'
    )
    codecs = {"picture": "avc1.64001e", "sound": "mp4a.40.2", "text": "wvtt"}[kind]
    packaged = {
        "name": f"{kind[0]}/{name}",
        "codecs": codecs,
        "bandwidth": 100_000,
        "average_bandwidth": 80_000,
        "representation": representation,
        "frame_rate": "25.000",
        "channels": "2" if kind == "sound" else "",
        **told,
    }
    return Track(kind, name, language, packaged)


TRACKS = [
    track("picture", "360p", bandwidth=700_000),
    track("picture", "240p"),
    track("sound", "original", "en"),
    track("sound", "pt", "pt"),
    track("text", "en", "en"),
]


def test_every_size_comes_with_every_sound_and_text() -> None:
    read = m3u8.loads(master_playlist(TRACKS, first="en", original="en"))
    assert [each.uri for each in read.playlists] == ["p/240p/index.m3u8", "p/360p/index.m3u8"]
    assert read.playlists[1].stream_info.bandwidth == 800_000
    assert read.playlists[0].stream_info.codecs == "avc1.64001e,mp4a.40.2"
    assert read.playlists[0].stream_info.resolution == (640, 360)
    assert [(each.type, each.language, each.default) for each in read.media] == [
        ("AUDIO", "en", "YES"),
        ("AUDIO", "pt", "NO"),
        ("SUBTITLES", "en", "NO"),
    ]


def test_a_language_of_its_own_is_heard_first() -> None:
    read = m3u8.loads(master_playlist(TRACKS, first="pt", original="en"))
    assert [each.language for each in read.media if each.default == "YES"] == ["pt"]
    assert [each.language for each in read.media] == ["pt", "en", "en"]


def test_sound_alone_can_be_played() -> None:
    read = m3u8.loads(master_playlist(TRACKS[2:4], first="en", original="en"))
    assert [each.uri for each in read.playlists] == ["s/original/index.m3u8"]
    assert read.playlists[0].stream_info.resolution is None


def test_a_picture_without_sound_names_none() -> None:
    read = m3u8.loads(master_playlist(TRACKS[:2], first="und", original="und"))
    assert (len(read.playlists), len(read.media)) == (2, 0)
    assert read.playlists[0].stream_info.audio is None


def test_the_manifest_holds_the_same_tracks() -> None:
    root = ET.fromstring(manifest(TRACKS, first="pt", seconds=12.5))  # noqa: S314 (we wrote it ourselves)
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
