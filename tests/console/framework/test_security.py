"""Content security policy of the console."""

from cutroom.console.framework.security import policy
from cutroom.platform.settings import Settings


def rules(text: str) -> dict[str, list[str]]:
    return {name: sources for name, *sources in (rule.split() for rule in text.split("; "))}


def test_media_is_loaded_from_signed_urls_and_not_from_the_object_store(settings: Settings) -> None:
    """Signed URLs start with the public URL, whatever address the console was opened at."""
    changes = {"public_url": "https://cutroom.example.com/", "s3_endpoint": "https://store.example.com"}
    found = rules(policy(settings.model_copy(update=changes)))
    assert found["img-src"] == ["'self'", "data:", "https://cutroom.example.com"]
    assert found["media-src"] == ["'self'", "blob:", "https://cutroom.example.com"]
    assert found["connect-src"] == ["'self'", "https://cutroom.example.com"]
    assert found["default-src"] == ["'none'"]


def test_external_hosts_of_a_video_are_added(settings: Settings) -> None:
    found = rules(policy(settings, media=("https://stream.example.com/a.m3u8",)))
    assert "https://stream.example.com" in found["media-src"]
    assert "https://stream.example.com" in found["connect-src"]
    assert "https://stream.example.com" not in found["img-src"]
