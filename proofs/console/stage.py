"""Shared state of the console proof's steps, its test video, and an OAuth app that connects."""

import http.server
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

from cutroom.accounts.oauth import register_client
from cutroom.platform.clock import system_clock
from dev.fixtures.speech_clips import clips_folder, ensure_clips
from proofs.console.browser import BrowserSession
from proofs.stage.oauth_client import AuthorizationRequest
from proofs.stage.webhook_receiver import Receiver
from tests.support.servers.smtp_server import SmtpServer
from tests.support.stage import Stage

EMAIL = "ada@example.com"
PASSWORD = "a video about lenses"  # noqa: S105 (of a test account)
MARKUP = "<img src=x onerror=alert(1)>"
VIDEO_NAME = f"Lens {MARKUP}.mp4"
SPOKEN = "leisure"  # a word spoken in the video
JOB_SECONDS = 600.0
CHUNK_DELAY_MS = 120  # delay of each upload chunk, so that the reload happens in the middle


@dataclass
class ConsoleStage:
    """State shared by the steps; `ids` are filled in as they go."""

    stage: Stage
    browser: BrowserSession
    receiver: Receiver
    video_file: Path
    smtp: SmtpServer
    ids: dict[str, str] = field(default_factory=dict)


def make_speech_video(path: Path) -> Path:
    """Two spoken sentences over moving video at a high bitrate, so that the upload takes a while."""
    clips = ensure_clips(clips_folder())
    audio = [str(clips / name) for name in ("0870.wav", "0890.wav")]
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "gradients=s=640x360:r=25:speed=0.02:seed=7"]
    join = "[1:a]apad=pad_dur=0.8[a];[a][2:a]concat=n=2:v=0:a=1[s]"
    encode = [
        "-c:v",
        "libx264",
        "-preset",
        "ultrafast",
        "-b:v",
        "4M",
        "-minrate",
        "4M",
        "-maxrate",
        "4M",
        "-bufsize",
        "4M",
    ]
    command += ["-i", audio[0], "-i", audio[1], "-filter_complex", join, "-map", "0:v", "-map", "[s]", "-shortest"]
    subprocess.run([*command, *encode, "-x264-params", "nal-hrd=cbr", "-c:a", "aac", str(path)], check=True)
    return path


async def connect_oauth_app(console: ConsoleStage) -> None:
    """An app requests access, the user selects the workspace, and the app lists voices with its token."""
    with callback_server() as (address, params):
        connection = console.stage.accounts.connection
        client = await register_client(connection, f"Reader {MARKUP}", [address], owner_id=None, now=system_clock())
        request = AuthorizationRequest(client.id)
        await console.browser.go("/oauth/authorize?" + urlencode(request.fields(redirect_uri=address)))
        await console.browser.capture("consent", views=("laptop", "phone"))
        await console.browser.page.check(f"input[name=library][value='{console.ids['workspace']}']")
        await console.browser.page.click("button[value=allow]")
        await console.browser.wait_for("body", has_text="Connected")
        fields = {
            "grant_type": "authorization_code",
            "client_id": client.id,
            "code": params["code"][0],
            "redirect_uri": address,
            "code_verifier": request.verifier,
        }
        async with httpx.AsyncClient(base_url=console.stage.api.url) as app:
            token = (await app.post("/oauth/token", data=fields)).json()["access_token"]
            headers = {"Authorization": f"Bearer {token}"}
            assert (await app.get("/v1/voices", headers=headers)).status_code == 200
    await console.browser.go("/apps")
    await console.browser.capture("apps")


@contextmanager
def callback_server() -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Serve the OAuth redirect URI on loopback, as a native app does; collects the query parameters."""
    params: dict[str, list[str]] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/callback"):
                params.update(parse_qs(urlsplit(self.path).query))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Done</title><link rel=icon href=data:,><p>Connected</p>")

        def log_message(self, *_: object) -> None:
            """Disable logging."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/callback", params
    finally:
        server.shutdown()
