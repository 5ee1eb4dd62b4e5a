"""Settings of one deployment, read once from CUTROOM_* environment variables."""

import os
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from cutroom.platform.pooler import Pooler
from cutroom.platform.task_queues import TaskQueue

Item = TypeVar("Item")


def _split_commas(value: object) -> object:
    return [item.strip() for item in value.split(",") if item.strip()] if isinstance(value, str) else value


CommaSeparated = Annotated[list[Item], NoDecode, BeforeValidator(_split_commas)]


def default_models_dir() -> Path:
    """Follows the XDG base directory specification."""
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "cutroom" / "models"


class ModelSourceSettings(BaseSettings):
    """Where `cutroom-server models pull` downloads from, besides package registries; there are no default servers."""

    model_config = SettingsConfigDict(env_prefix="CUTROOM_", frozen=True, extra="ignore", env_ignore_empty=True)

    model_hub: str | None = None
    translation_models_url: str | None = None  # a mirror of the Firefox Translations models


class RouterSettings(BaseSettings):
    """All that `cutroom-server router` needs; it listens on CUTROOM_ROUTER_HOST and CUTROOM_ROUTER_PORT."""

    model_config = SettingsConfigDict(env_prefix="CUTROOM_", frozen=True, extra="ignore", env_ignore_empty=True)

    directory_url: SecretStr  # of the directory's database
    cell_token: SecretStr = Field(min_length=32)
    router_host: str = "127.0.0.1"
    router_port: int = 8690
    trusted_proxies: CommaSeparated[str] = []
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None
    log_level: str = "INFO"


class MoverSettings(BaseSettings):
    """What the commands that manage cells need."""

    model_config = SettingsConfigDict(env_prefix="CUTROOM_", frozen=True, extra="ignore", env_ignore_empty=True)

    directory_url: SecretStr
    cells_dir: Path | None = None  # with the environment of each cell in `<cell>.env`
    log_level: str = "INFO"


class TemporalSettings(BaseSettings):
    """Where Temporal is; all that `cutroom-server temporal setup` needs."""

    model_config = SettingsConfigDict(env_prefix="CUTROOM_", frozen=True, extra="ignore")

    temporal_address: str = "127.0.0.1:7233"
    temporal_namespace: str = "default"
    temporal_retention_days: int = Field(default=3, ge=1, le=365)  # of finished workflows; set by `temporal setup`


class Settings(TemporalSettings):
    """Settings per deployment; limits per plan are in accounts/plans.toml."""

    model_config = SettingsConfigDict(env_prefix="CUTROOM_", frozen=True, extra="ignore")

    # Services.
    database_url: SecretStr  # of the process's own role
    # Where processes share an environment: for each its own role, in place of `database_url`.
    api_database_url: SecretStr | None = None
    worker_database_url: SecretStr | None = None
    relay_database_url: SecretStr | None = None  # of the outbox relay, which runs in the worker
    owner_database_url: SecretStr | None = None  # migrations and the operator command line only
    redis_url: SecretStr
    s3_endpoint: str | None = None
    s3_bucket: str = "media"
    s3_region: str = "us-east-1"
    s3_access_key: SecretStr
    s3_secret_key: SecretStr
    gcs_account_file: Path | None = None  # for a GCS bucket: the service account key that opens upload sessions
    gcs_endpoint: str = "https://storage.googleapis.com"

    # The root secret from which every other key is derived (platform/secret_box.py).
    secret_key: SecretStr = Field(min_length=32)

    # API process.
    api_host: str = "127.0.0.1"
    api_port: int = 8700
    public_url: str | None = None  # the URL callers use, if it differs from host and port
    trusted_proxies: CommaSeparated[str] = []  # addresses whose X-Forwarded-For is trusted
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None
    worker_metrics_port: int | None = None
    worker_health_port: int | None = None
    database_pool_size: int = Field(default=20, ge=1, le=500)  # also how many requests an API process runs at once
    admission: Literal["on", "off"] = "off"  # whether an overloaded API process sheds requests
    waiting_requests: int = Field(default=16, ge=1, le=1000)  # of all libraries, while an API process is overloaded
    database_pooler: Pooler = Pooler.NONE  # what the database URLs lead to; the owner's leads to PostgreSQL itself

    # How long POST /videos waits for the preflight check of a URL before it accepts the video anyway; 0 disables it,
    # and the test of destination buckets.
    preflight_seconds: float = Field(default=3.0, ge=0, le=10)

    # Worker process.
    worker_queues: CommaSeparated[TaskQueue] = Field(default=list(TaskQueue), min_length=1)
    shutdown_grace_seconds: float = Field(default=30.0, ge=1, le=3600)  # for running tasks; others take over the rest
    # Versions: `on` keeps a workflow on the build that started it, and needs `cutroom-server workers promote`.
    worker_versioning: Literal["on", "off"] = "off"
    worker_build_id: str | None = Field(default=None, min_length=1)  # defaults to the version of the code
    running_jobs_per_library: int = Field(default=8, ge=1)
    media_concurrency: int = Field(default=2, ge=1)
    download_concurrency: int = Field(default=4, ge=1)
    imports_per_library: int = Field(default=3, ge=1)  # downloads at once, in all workers
    imports_per_host: int = Field(default=3, ge=1)
    import_min_bytes_per_second: int = Field(default=32 * 1024, ge=1)  # in every window
    import_window_seconds: float = Field(default=60.0, gt=0, le=3600)
    import_grace_seconds: float = Field(default=600.0, ge=0, le=6 * 3600)  # added to the time that the least rate takes
    egress_denied_networks: CommaSeparated[IPv4Network | IPv6Network] = []  # in addition to private networks
    cache_dir: Path = Path("/var/tmp/cutroom")  # noqa: S108 - a bounded local media cache
    cache_max_bytes: int = Field(default=50 * 1024**3, ge=1024**3)
    ffmpeg: Path = Path("/usr/bin/ffmpeg")
    ffprobe: Path = Path("/usr/bin/ffprobe")
    packager: Path | None = None  # Shaka Packager; defaults to the binary of the `playback` extra
    video_encoder: Literal["libx264", "h264_nvenc"] = "libx264"  # of every encode of queue `media`
    playback: Literal["on", "off"] = "on"  # off: imported videos are not packaged for streaming
    sandbox: Literal["required", "off"] = "required"  # `off` only if the container itself is the sandbox

    # Engines. Local engines are named after their model; remote engines use the OpenAI API.
    device: Literal["cpu", "cuda"] = "cpu"  # of engines on onnxruntime and CTranslate2
    models_dir: Path = Field(default_factory=default_models_dir)
    models_manifest: Path | None = None  # replaces the bundled manifest
    asr_engines: CommaSeparated[str] = ["whisper-base"]  # in the order to try: model names, or `remote`
    speaker_embedder: str = "wespeaker-resnet34"  # or `none`: no diarization, a single speaker
    separator: str = "spleeter-2stems"  # or `none`: no source separation
    translators: CommaSeparated[str] = ["firefox", "apertium"]  # in order of preference; also `chat`, `ctranslate2`
    drafts_refused: bool = False  # translations of draft quality are made only with `acceptDraft`
    route_quality: CommaSeparated[str] = []  # classes set by the operator, such as `chat:en-pt:review`
    madlad_model: str = ""  # a MADLAD-400 model of the manifest, for `ctranslate2`
    madlad_pairs: CommaSeparated[str] = []  # language pairs it may translate, such as `en-de`
    tts_engines: CommaSeparated[str] = ["kokoro", "piper", "pico"]  # all offer their voices; also `remote`
    voice_cloner: str = "transfer"  # or `remote`, or `none`: no voice cloning
    embedder: str = "minilm-l6-v2"  # or `none`: moments are ranked by words alone
    ranker: str = "none"  # or `chat`: a language model ranks candidate moments
    writer: str = "extractive"  # or `chat`: a language model writes titles and descriptions
    thumbnail_engine: str = "compositor"  # or `remote`: an image generation server
    face_landmarker: str = "mediapipe-face"  # or `none`: neither closed eyes nor moving mouths are recognized
    background_remover: str = "isnet-small"  # or `isnet-medium`, or `none`: backgrounds are kept
    speech_concurrency: int = Field(default=1, ge=1)
    speech_threads: int = Field(default=0, ge=0)  # per batch task; 0 uses all cores
    voice_concurrency: int = Field(default=0, ge=0)  # interactive speech tasks; 0 derives it from the cores
    voice_threads: int = Field(default=0, ge=0)  # per such task; 0 uses all cores, at most 4
    batch_niceness: int = Field(default=5, ge=0, le=19)  # of batch engines and media programs; 0 is normal priority
    remote_asr_url: str | None = None
    remote_asr_key: SecretStr = SecretStr("")
    remote_asr_model: str = "whisper-1"
    remote_tts_url: str | None = None
    remote_tts_key: SecretStr = SecretStr("")
    remote_tts_model: str = "tts-1"
    remote_tts_voices: CommaSeparated[str] = []  # `name:language:gender`, such as `alloy:en-US:female`
    remote_images_url: str | None = None
    remote_images_key: SecretStr = SecretStr("")
    remote_images_model: str = "gpt-image-1"
    chat_url: str | None = None
    chat_key: SecretStr = SecretStr("")
    chat_model: str = ""
    chat_pairs: CommaSeparated[str] = []  # language pairs the chat model may translate, such as `en-de`
    chat_local_model: str = ""  # a GGUF model of the manifest, served by llama.cpp in place of `chat_url`
    chat_concurrency: int = Field(default=2, ge=1, le=32)  # simultaneous requests for one document

    # Professional hosting, disabled without a token.
    mux_token_id: str | None = None
    mux_token_secret: SecretStr = SecretStr("")
    mux_webhook_secret: SecretStr | None = None  # verifies Mux webhooks; without it, hosting relies on polling
    mux_url: str = "https://api.mux.com"

    # Console.
    sign_up: Literal["off", "open"] = "off"  # `open` lets anyone create an account
    new_library_plan: Literal["free", "creator", "pro", "business"] = "free"  # plan of libraries created in the console
    workspaces_per_account: int = Field(default=20, ge=1)  # that an account can create in the console and own

    # Decodes Temporal's payloads for operators at /operator/codec/decode; disabled without a token.
    codec_token: SecretStr | None = Field(default=None, min_length=32)
    codec_origin: str | None = None  # of Temporal's web UI, for CORS

    # Lets the router in front of several cells ask for the library of a credential; disabled without a token.
    cell_token: SecretStr | None = Field(default=None, min_length=32)

    # Mail to people with accounts, disabled without a server and a sender.
    smtp_host: str | None = None
    smtp_port: int = Field(default=587, ge=1, le=65535)
    smtp_security: Literal["starttls", "tls", "off"] = "starttls"
    smtp_user: str | None = None
    smtp_password: SecretStr = SecretStr("")
    mail_from: str | None = None  # an address, or `Name <address>`

    # Limits independent of the plan.
    failed_credentials_per_minute: int = Field(default=120, ge=1)
    account_requests_per_minute: int = Field(default=6_000, ge=1)  # in all libraries together
    account_free_work_per_day: int = Field(default=10_000, ge=1)  # requests that start work without a price
    upload_wait_seconds: int = Field(default=24 * 60 * 60, ge=1, le=7 * 24 * 60 * 60)  # for the first byte of an upload
    upload_slots: int = Field(default=64, ge=1)  # concurrent uploads, per API process
    upload_slots_per_library: int = Field(default=16, ge=1)
    upload_slots_per_account: int = Field(default=32, ge=1)  # in all libraries together
    upload_idle_seconds: float = Field(default=30.0, gt=0, le=600)  # without a byte from the sender
    upload_dir: Path | None = None  # where received bytes wait for the object store; the system's temporary directory
    plans_file: Path | None = None

    # Credits.
    prices_file: Path | None = None
    reservation_seconds: int = Field(default=24 * 60 * 60, ge=1, le=30 * 24 * 60 * 60)  # then unused credits return

    # Erasure and backups.
    erasure_log: str = "erasures"  # a prefix in the media bucket, `s3://bucket/prefix`, or an absolute directory
    revocation_log: str = "revocations"  # likewise
    backup_retention_days: int = Field(default=30, ge=0, le=3650)  # after which every backup is deleted

    # Telemetry.
    log_level: str = "INFO"
    otlp_endpoint: str | None = None

    @property
    def api_database(self) -> str:
        """The database URL of the API's role."""
        return (self.api_database_url or self.database_url).get_secret_value()

    @property
    def worker_database(self) -> str:
        """The database URL of the worker's role."""
        return (self.worker_database_url or self.database_url).get_secret_value()

    @property
    def relay_database(self) -> str:
        """The database URL of the relay's role."""
        url = self.relay_database_url
        return self.worker_database if url is None else url.get_secret_value()

    @property
    def base_url(self) -> str:
        return self.public_url or f"http://{self.api_host}:{self.api_port}"

    @property
    def sends_mail(self) -> bool:
        return self.smtp_host is not None and self.mail_from is not None

    @property
    def is_secure(self) -> bool:
        """Whether callers reach the API over TLS."""
        return self.base_url.startswith("https://")
