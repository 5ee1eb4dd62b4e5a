"""What an export contains and leaves out, its limits, file names and storage paths."""

import unicodedata
from dataclasses import dataclass
from datetime import timedelta

from cutroom.text.file_names import safe_stem

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
LIFETIME = timedelta(days=7)  # of a finished export
MAX_RUN = timedelta(days=14)  # after which an unfinished export is removed
MAX_READY = 5  # archives kept at once by one library
MAX_LISTED = 50
MAX_FILES = 500_000  # of one archive; the worker holds their names in memory
MAX_ARCHIVE_BYTES = 5 * 2**40  # the largest object of S3
MAX_PARTS = 9_000  # S3 allows ten thousand
PART_BYTES = 16 * 2**20
COPIED_BYTES = 2**20  # smaller objects, such as subtitles, are edited often: the export keeps a copy of them

# Rows of these tables are exported, except for LEFT_OUT_COLUMNS.
EXPORTED_TABLES = (
    "api_keys",
    "brand_voices",
    "captions",
    "cast_appearances",
    "cast_exclusions",
    "cast_members",
    "cast_scopes",
    "character_images",
    "characters",
    "delivery_attempts",
    "destinations",
    "dubs",
    "escrow_lines",
    "events",
    "folders",
    "glossary_terms",
    "hostings",
    "jobs",
    "ledger_balances",
    "ledger_entries",
    "ledger_transactions",
    "library_usage",
    "members",
    "notification_preferences",
    "output_copies",
    "retention_policies",
    "review_comments",
    "review_links",
    "shorts_outputs",
    "sources",
    "thumbnail_requests",
    "thumbnails",
    "transcript_revisions",
    "transcripts",
    "videos",
    "voice_consents",
    "voices",
    "webhook_deliveries",
    "webhook_endpoints",
)
LEFT_OUT_TABLES = {
    "account_mails": "mails that were sent, with hashes of their links",
    "account_security": "credentials of the owner's account",
    "audit_entries": "exported as audit-log.jsonl",
    "audit_heads": "the same as the last line of audit-log.jsonl",
    "cast_runs": "progress of the latest comparison with the cast",
    "data_keys": "wrapped keys of workflow histories",
    "event_logs": "counters of the events",
    "export_files": "state of the export itself",
    "export_parts": "state of the export itself",
    "exports": "state of the export itself",
    "idempotency_records": "sealed responses to earlier requests, kept for a day",
    "invitations": "hashes of open invitations",
    "notifications": "mails and browser notifications that were sent, for thirty days",
    "oauth_grants": "authorization codes and their challenges",
    "oauth_refresh_tokens": "hashes of tokens",
    "oauth_tokens": "hashes of tokens",
    "outbox": "workflows about to start",
    "passkeys": "public keys and counters of the owner's devices",
    "playback_tracks": "derived: playback is packaged from the exported files",
    "playbacks": "derived: playback is packaged from the exported files",
    "push_subscriptions": "sealed addresses of members' browsers",
    "recovery_codes": "hashes of the owner's recovery codes",
    "retention_deletions": "reports of the retention runs",
    "started_workflows": "machine state: ids of workflows",
    "storage_scans": "figures that are measured again every day",
    "storage_usage": "figures that are measured again every day",
    "syntheses": "speech that is kept for a day",
    "upload_parts": "state of unfinished uploads",
    "upload_sessions": "state of unfinished uploads, with hashes of their tokens",
}
LEFT_OUT_COLUMNS = {
    "api_keys": {"hash": "a credential's hash", "hint": "part of a credential"},
    "cast_appearances": {"sealed_embedding": "a sealed voice print, which is biometric data"},
    "destinations": {"sealed_secret": "a sealed secret access key"},
    "hostings": {"sealed_url": "a sealed upload URL", "upload_id": "state of an upload"},
    "review_links": {"hash": "of the secret in the link"},
    "sources": {"sealed_url": "a sealed source URL", "fingerprint": "a hash of the source URL"},
    "voices": {"sealed_url": "a sealed sample URL", "embedding": "derived from the samples by an engine"},
    "webhook_endpoints": {
        "sealed_secret": "a signing secret",
        "sealed_previous_secret": "a signing secret",
        "previous_secret_until": "belongs to a signing secret",
    },
}
# Binary columns that hold no secret.
PUBLIC_BYTES = frozenset({("sources", "sha256")})
# Of purged videos, only what the ledger refers to is kept.
KEPT_OF_PURGED_VIDEOS = frozenset({"jobs", "escrow_lines"})
# Objects of products that are not exported, beside intermediates.
LEFT_OUT_PREFIXES = {
    "playback/": "derived: segments and playlists for streaming",
    "speech/": "speech that is kept for a day",
}
# Tables whose rows settings.json repeats in one readable document.
SETTINGS_TABLES = (
    "api_keys",
    "brand_voices",
    "cast_members",
    "cast_scopes",
    "characters",
    "destinations",
    "folders",
    "glossary_terms",
    "retention_policies",
    "webhook_endpoints",
)


@dataclass(frozen=True, slots=True)
class ExportRef:
    """Identifies an export."""

    library_id: str
    export_id: str

    @property
    def workflow_id(self) -> str:
        return f"export_{self.export_id}"

    @property
    def prefix(self) -> str:
        return f"libraries/{self.library_id}/exports/{self.export_id}/"

    @property
    def archive_path(self) -> str:
        return f"{self.prefix}archive.zip"

    def work_path(self, name: str) -> str:
        """A file that is needed only until the archive is complete."""
        return f"{self.prefix}work/{name}"


def part_size(archive_bytes: int, smallest: int = PART_BYTES) -> int:
    """Bytes of each part but the last."""
    return max(smallest, -(-archive_bytes // MAX_PARTS))


class ArchiveNames:
    """Makes names of files in an archive safe and unique, whatever the case of their letters."""

    def __init__(self) -> None:
        self._taken: set[str] = {MANIFEST}

    def take(self, name: str) -> str:
        safe = "/".join(_safe_component(component) for component in name.split("/"))
        folder, slash, base = safe.rpartition("/")
        stem, dot, extension = base.rpartition(".") if "." in base else (base, "", "")
        candidate, number = safe, 1
        while _folded(candidate) in self._taken:
            number += 1
            candidate = f"{folder}{slash}{stem}-{number}{dot}{extension}"
        self._taken.add(_folded(candidate))
        return candidate


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())


def _safe_component(component: str) -> str:
    """The component itself if any file system can store it; otherwise its letters, digits, dots and dashes."""
    with_dashes = component.replace("_", "-")
    if with_dashes == safe_stem(with_dashes):
        return component
    stem, dot, extension = component.rpartition(".")
    if dot and extension.isascii() and extension.isalnum():
        return f"{safe_stem(stem)}.{extension}"
    return safe_stem(component)
