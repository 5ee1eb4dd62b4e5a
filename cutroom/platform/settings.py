"""All settings of one installation, read once from CUTROOM_* environment variables."""

import os
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


def default_models_dir() -> Path:
    """Among the user's own data."""
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "cutroom" / "models"


class Settings(BaseSettings):
    """What differs between installations. What differs between plans is in accounts/plans.toml."""

    model_config = SettingsConfigDict(env_prefix="CUTROOM_", frozen=True, extra="ignore")

    # Where the parts are.
    database_url: SecretStr
    owner_database_url: SecretStr | None = None  # migrations and the operator command line only
    redis_url: SecretStr
    temporal_address: str = "127.0.0.1:7233"
    temporal_namespace: str = "default"
    s3_endpoint: str | None = None
    s3_bucket: str = "media"
    s3_region: str = "us-east-1"
    s3_access_key: SecretStr
    s3_secret_key: SecretStr
    gcs_account_file: Path | None = None  # where the bucket is Google's: a service account's key, for its sessions
    gcs_endpoint: str = "https://storage.googleapis.com"

    # The one secret from which every other key is derived (platform/secret_box.py).
    secret_key: SecretStr = Field(min_length=32)

    # The HTTP process.
    api_host: str = "127.0.0.1"
    api_port: int = 8700
    public_url: str | None = None  # how callers reach us, when that differs from host and port
    trusted_proxies: str | None = None  # whose X-Forwarded-For is believed; comma-separated addresses
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None
    worker_metrics_port: int | None = None
    database_pool_size: int = Field(default=20, ge=1, le=500)

    # How long POST /videos waits for a worker to look at a URL before it goes on without; 0 does not wait at all.
    preflight_seconds: float = Field(default=3.0, ge=0, le=10)

    # The worker process.
    worker_queues: str = "control,media,speech,voice,vision,egress,download"  # comma-separated: which queues it serves
    running_jobs_per_library: int = Field(default=8, ge=1)
    media_concurrency: int = Field(default=2, ge=1)
    download_concurrency: int = Field(default=4, ge=1)
    egress_denied_networks: str | None = None  # comma-separated: denied to callers' URLs beside the private ones
    cache_dir: Path = Path("/var/tmp/cutroom")  # noqa: S108 (local copies of media; bounded, and private to us)
    cache_max_bytes: int = Field(default=50 * 1024**3, ge=1024**3)
    ffmpeg: Path = Path("/usr/bin/ffmpeg")
    ffprobe: Path = Path("/usr/bin/ffprobe")
    packager: Path | None = None  # Shaka Packager; unless given, the one of the extra `playback`
    playback: Literal["on", "off"] = "on"  # off: imports are not made playable
    sandbox: Literal["required", "off"] = "required"  # off only where the container itself is the sandbox

    # Engines. Names of local ones are those of their models; remote ones speak the protocol of OpenAI.
    models_dir: Path = Field(default_factory=default_models_dir)
    asr_engines: str = "whisper-base"  # comma-separated, in the order to try: models, or `remote`
    speaker_embedder: str = "wespeaker-resnet34"  # or `none`: everybody is one speaker
    separator: str = "spleeter-2stems"  # or `none`: speech is not taken apart from other sound
    translators: str = "firefox,apertium"  # comma-separated, in the order to prefer: firefox, apertium, chat
    tts_engines: str = "kokoro"  # who reads text aloud; comma-separated, in the order to try: kokoro, remote
    voice_cloner: str = "transfer"  # `remote`, or `none`: who reads it in the voice of a sample
    embedder: str = "minilm-l6-v2"  # or `none`: moments are chosen by words alone, as where the model is not pulled
    ranker: str = "none"  # or `chat`: a language model orders the moments that were found
    writer: str = "extractive"  # or `chat`: who writes titles and descriptions
    thumbnail_engine: str = "compositor"  # or `remote`: a server that makes pictures
    background_remover: str = "isnet-small"  # or `isnet-medium`, or `none`: subjects stay in their pictures
    speech_concurrency: int = Field(default=1, ge=1)
    speech_threads: int = Field(default=0, ge=0)  # of one task; 0 is all processors
    remote_asr_url: str | None = None
    remote_asr_key: SecretStr = SecretStr("")
    remote_asr_model: str = "whisper-1"
    remote_tts_url: str | None = None
    remote_tts_key: SecretStr = SecretStr("")
    remote_tts_model: str = "tts-1"
    remote_tts_voices: str = ""  # comma-separated, as in alloy:en-US:female: the voices of the remote speaker
    remote_images_url: str | None = None
    remote_images_key: SecretStr = SecretStr("")
    remote_images_model: str = "gpt-image-1"
    chat_url: str | None = None
    chat_key: SecretStr = SecretStr("")
    chat_model: str = ""
    chat_pairs: str = ""  # comma-separated, as in en-de,en-fr: what the chat model is trusted to translate

    # Professional hosting. Without a token nothing can be hosted.
    mux_token_id: str | None = None
    mux_token_secret: SecretStr = SecretStr("")
    mux_webhook_secret: SecretStr | None = None  # of events, which only make us look sooner
    mux_url: str = "https://api.mux.com"
    # The web app.
    sign_up: Literal["off", "open"] = "off"  # whether strangers may make an account; the operator always can
    new_library_plan: Literal["free", "creator", "pro", "business"] = "free"  # of what people make in the web app

    # Limits that do not belong to a plan.
    failed_credentials_per_minute: int = Field(default=120, ge=1)
    plans_file: Path | None = None

    # Credits.
    prices_file: Path | None = None
    reservation_seconds: int = Field(default=24 * 60 * 60, ge=1, le=30 * 24 * 60 * 60)  # what is unused then goes back

    # Telemetry.
    log_level: str = "INFO"
    otlp_endpoint: str | None = None

    @property
    def base_url(self) -> str:
        return self.public_url or f"http://{self.api_host}:{self.api_port}"
