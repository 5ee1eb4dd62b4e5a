"""Descriptions of the API scopes, as shown when creating keys and granting access."""

from cutroom.accounts.scopes import Scope

SCOPE_DESCRIPTIONS = {
    Scope.VIDEOS_READ: "View videos, products, folders and quotes",
    Scope.VIDEOS_WRITE: "Import and edit videos, reserve credits, manage folders, characters, brand voices and reviews",
    Scope.TRANSCRIPTS_READ: "Read transcripts and subtitles",
    Scope.DUBS_WRITE: "Create dubs and translated captions",
    Scope.SHORTS_WRITE: "Generate shorts, promos and clips",
    Scope.THUMBNAILS_WRITE: "Generate thumbnails",
    Scope.PACKAGING_WRITE: "Generate titles and descriptions",
    Scope.DOWNLOADS_WRITE: "Prepare and download files",
    Scope.JOBS_READ: "View jobs",
    Scope.WEBHOOKS_WRITE: "Manage webhooks; for owners and admins, read the audit log",
    Scope.TTS_READ: "View cloned voices",
    Scope.TTS_SYNTHESIZE: "Synthesize speech",
    Scope.TTS_WRITE: "Clone, edit and delete voices",
}
