"""Every path that a product stores is declared with its kind."""

import pytest

from cutroom.jobs.lifecycle import JobRef
from cutroom.library.playback import MANIFEST, MASTER
from cutroom.library.rules import character_path, poster_path, source_path, uploaded_image_path, video_path
from cutroom.products.catalog import PRODUCTS
from cutroom.products.downloads.service import download_path
from cutroom.products.dubs.artifacts import DubRef
from cutroom.products.dubs.editing.takes.service import takes_path
from cutroom.products.dubs.script import DubScript
from cutroom.products.ingest.activities import _chunk_path
from cutroom.products.playback.service import playback_path
from cutroom.products.shorts.service import output_path
from cutroom.products.speech.rules import synthesis_path, voice_path
from cutroom.products.thumbnails.service import image_path
from cutroom.products.transcripts.activities import _work_path
from cutroom.products.transcripts.service import (
    aligned_path,
    alignment_path,
    revision_words_path,
    speech_path,
    subtitle_path,
)
from cutroom.products.uploads.partial_parts import _folder
from cutroom.retention.exports.rules import ExportRef
from cutroom.retention.policy.rules import UsageKind
from cutroom.retention.policy.stored_files import DECLARED, kind_of, upload_session_of
from dev.environment import PROJECT

L, V, R = "library", "video", "request"
DUB, JOB = DubRef(L, V, "pt", "plus"), JobRef(L, "job", 1)
SCRIPT = DubScript("pt", "plus", "en", "publishable", (), 1.0, (), "separation")
ORIGINAL, INTERMEDIATE, OUTPUT, DOCUMENT, DOWNLOAD = (
    UsageKind.ORIGINAL,
    UsageKind.INTERMEDIATE,
    UsageKind.OUTPUT,
    UsageKind.DOCUMENT,
    UsageKind.DOWNLOAD,
)
PATHS = [
    (source_path(L, V), ORIGINAL),
    (poster_path(L, V), DOCUMENT),
    (speech_path(L, V), INTERMEDIATE),
    (video_path(L, V, "mix.mka"), INTERMEDIATE),
    (video_path(L, V, "proxy.mp4"), INTERMEDIATE),
    (video_path(L, V, "proxy.aac"), INTERMEDIATE),
    (_chunk_path(JOB, V, "speech-00000.flac"), INTERMEDIATE),
    (alignment_path(L, V), DOCUMENT),
    (revision_words_path(L, V, 2), DOCUMENT),
    (aligned_path(L, V, 2, name="00000.json"), INTERMEDIATE),
    (_work_path(JOB, V, "speech.json"), INTERMEDIATE),
    (subtitle_path(L, V, language="pt", format_="srt"), DOCUMENT),
    (DUB.path("script.json"), OUTPUT),
    (DUB.path("0123456789abcdef-track.m4a"), OUTPUT),
    (DUB.line_path("key"), OUTPUT),
    (DUB.shared_path("lines/key.json"), OUTPUT),
    (DUB.shared_path("synthesized/key.pcm"), OUTPUT),
    (DUB.shared_path("references/key.pcm"), OUTPUT),
    (DUB.shared_path("transcribed/key.json"), OUTPUT),
    (DUB.shared_path("loudness/all.json"), OUTPUT),
    (DUB.shared_path("pitch/key.json"), OUTPUT),
    (DUB.shared_path("mixed/key.flac"), INTERMEDIATE),
    (takes_path(L, V, "preview", "take-1.pcm"), INTERMEDIATE),
    (DUB.background_path(SCRIPT, 0), OUTPUT),
    (DUB.speech_path(SCRIPT, 0), OUTPUT),
    (DUB.powers_path(SCRIPT, 0), OUTPUT),
    (output_path(L, V, R, "output-0.mp4"), OUTPUT),
    (image_path(L, V, R, "thumbnail-0.jpg"), DOCUMENT),
    (image_path(L, V, R, "frame-0.png"), DOCUMENT),
    (download_path(L, V, R, "bundle.zip"), DOWNLOAD),
    (playback_path(L, V, MASTER), OUTPUT),
    (playback_path(L, V, MANIFEST), OUTPUT),
    (playback_path(L, V, "v/360p-0/1.m4s"), OUTPUT),
    (playback_path(L, V, "chunks/0/360p-00000.mp4"), INTERMEDIATE),
    (voice_path(L, "voice", "sample-0"), DOCUMENT),
    (synthesis_path(L, "synthesis", "1/0"), OUTPUT),
    (character_path(L, "image"), DOCUMENT),
    (uploaded_image_path(L, "image"), DOCUMENT),
    (f"{_folder(L, 'session')}part", INTERMEDIATE),
    (ExportRef(L, "export").archive_path, DOCUMENT),
    (video_path(L, V, "new-product/file"), UsageKind.UNKNOWN),
    (f"libraries/{L}/new-product/file", UsageKind.UNKNOWN),
]


@pytest.mark.parametrize(("path", "kind"), PATHS, ids=[path for path, _ in PATHS])
def test_stored_paths_have_a_kind(path: str, kind: UsageKind) -> None:
    assert kind_of(path) is kind


def test_every_declared_name_is_stored_somewhere() -> None:
    names = {path.split("/", 2)[2].removeprefix(f"videos/{V}/") for path, _ in PATHS}
    unused = {each for each in DECLARED if not any(name == each or name.startswith(each) for name in names)}
    assert unused == set()


def test_names_are_declared_once() -> None:
    declared = [name for product in PRODUCTS for name in product.owns.objects]
    assert sorted(declared) == sorted(set(declared))


def test_every_module_that_builds_a_path_is_covered() -> None:
    """A new module that stores objects of a video or library needs a case above."""
    building = {
        str(path.relative_to(PROJECT / "cutroom"))
        for path in (PROJECT / "cutroom").rglob("*.py")
        if "video_path(" in (text := path.read_text()) or 'f"libraries/' in text
    }
    assert {path for path in building if not path.startswith(("retention/", "console/"))} == {
        "jobs/deletion_activities.py",  # only deletes
        "library/derived_media.py",
        "library/rules.py",
        "products/downloads/activities.py",
        "products/downloads/service.py",
        "products/dubs/service.py",
        "products/ingest/activities.py",
        "products/playback/plan.py",
        "products/playback/service.py",
        "products/hosting/activities.py",
        "products/shorts/activities.py",
        "products/shorts/service.py",
        "products/speech/rules.py",
        "products/thumbnails/inputs.py",
        "products/thumbnails/service.py",
        "products/transcripts/activities.py",
        "products/transcripts/service.py",
        "products/uploads/partial_parts.py",
    }


def test_parts_of_uploads_name_their_session() -> None:
    assert upload_session_of(f"{_folder(L, 'session')}part") == "session"
    assert upload_session_of(voice_path(L, "voice", "sample-0")) is None
