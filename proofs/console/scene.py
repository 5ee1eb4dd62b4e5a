"""What the steps of the console's proof share: the person, the film, and a program that wants in."""

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
from proofs.console.browser import Eyes
from proofs.stage.oauth_client import Request
from tests.support.stage import Stage

PASSWORD = "a film about lenses"  # noqa: S105 (of somebody who exists for a minute)
MARKUP = "<img src=x onerror=alert(1)>"
FILM_NAME = f"Lens {MARKUP}.mp4"
SPOKEN = "leisure"  # a word that is said in the film
JOB_SECONDS = 600.0
SLOW_PIECE_MS = 120  # each piece of the upload is held back so long, so that a reload falls into its middle


@dataclass
class Scene:
    """What the steps share."""

    stage: Stage
    eyes: Eyes
    film: Path
    found: dict[str, str] = field(default_factory=dict)


def make_film(path: Path) -> Path:
    """Somebody reads two sentences over a moving picture; large enough that an upload takes a while."""
    clips = ensure_clips(clips_folder())
    sounds = [str(clips / name) for name in ("0870.wav", "0890.wav")]
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "gradients=s=960x540:r=25:speed=0.02:seed=7"]
    join = "[1:a]apad=pad_dur=0.8[a];[a][2:a]concat=n=2:v=0:a=1[s]"
    encode = [
        "-c:v",
        "libx264",
        "-preset",
        "ultrafast",
        "-b:v",
        "8M",
        "-minrate",
        "8M",
        "-maxrate",
        "8M",
        "-bufsize",
        "8M",
    ]
    command += ["-i", sounds[0], "-i", sounds[1], "-filter_complex", join, "-map", "0:v", "-map", "[s]", "-shortest"]
    subprocess.run([*command, *encode, "-x264-params", "nal-hrd=cbr", "-c:a", "aac", str(path)], check=True)
    return path


async def connect(scene: Scene) -> None:
    """A program asks, the person chooses the workspace, the program reads the voices with its token."""
    with callback_server() as (address, answers):
        connection = scene.stage.accounts.connection
        client = await register_client(connection, f"Reader {MARKUP}", [address], owner_id=None, now=system_clock())
        request = Request(client.id)
        await scene.eyes.go("/oauth/authorize?" + urlencode(request.fields(redirect_uri=address)))
        await scene.eyes.look("consent")
        await scene.eyes.page.check(f"input[name=library][value='{scene.found['workspace']}']")
        await scene.eyes.page.click("button[value=allow]")
        await scene.eyes.wait_for("body", has_text="Connected")
        fields = {
            "grant_type": "authorization_code",
            "client_id": client.id,
            "code": answers["code"][0],
            "redirect_uri": address,
            "code_verifier": request.verifier,
        }
        async with httpx.AsyncClient(base_url=scene.stage.api.url) as program:
            token = (await program.post("/oauth/token", data=fields)).json()["access_token"]
            headers = {"Authorization": f"Bearer {token}"}
            assert (await program.get("/v1/voices", headers=headers)).status_code == 200
    await scene.eyes.go("/apps")
    await scene.eyes.look("apps")


@contextmanager
def callback_server() -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Where the program listens, as one on a person's own machine does."""
    answers: dict[str, list[str]] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/callback"):
                answers.update(parse_qs(urlsplit(self.path).query))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Done</title><link rel=icon href=data:,><p>Connected</p>")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/callback", answers
    finally:
        server.shutdown()
