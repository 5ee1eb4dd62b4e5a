"""Scopes in words, for people who choose them."""

from cutroom.accounts.scopes import Scope

SCOPE_WORDS = {
    Scope.VIDEOS_READ: "See videos, products, folders and quotes",
    Scope.VIDEOS_WRITE: "Put videos in, reserve credits, make folders",
    Scope.TRANSCRIPTS_READ: "Read transcripts and subtitles",
    Scope.DUBS_WRITE: "Make dubs and translated captions",
    Scope.SHORTS_WRITE: "Make shorts, promos and clips",
    Scope.THUMBNAILS_WRITE: "Make thumbnails",
    Scope.PACKAGING_WRITE: "Write titles and descriptions",
    Scope.DOWNLOADS_WRITE: "Prepare and fetch downloads",
    Scope.JOBS_READ: "Follow jobs",
    Scope.WEBHOOKS_WRITE: "Manage webhooks",
    Scope.TTS_READ: "See cloned voices",
    Scope.TTS_SYNTHESIZE: "Have text read aloud",
    Scope.TTS_WRITE: "Clone and delete voices",
}
