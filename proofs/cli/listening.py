"""`webhooks listen` with a receiver that fails once, and the official library to verify signatures."""

import asyncio
import json
import signal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from standardwebhooks import Webhook

from proofs.cli.shell import Shell


class _Receiver(ThreadingHTTPServer):
    """Records what it gets; the first request is refused."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received: list[tuple[dict[str, str], bytes]] = []


class _Handler(BaseHTTPRequestHandler):
    server: _Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(500 if len(self.server.received) == 1 else 204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""


async def prove_listening(shell: Shell, video: str) -> None:
    for url in ("https://example.com/hook", "http://example.com", "http://127.0.0.1@example.com", "0", "file:///x"):
        await shell.run("webhooks", "listen", url, code=2)
    secret = (await shell.run("webhooks", "secret")).document["secret"]
    shell.expect(
        "the secret is kept", found=(await shell.run("webhooks", "secret")).document["secret"], expected=secret
    )
    with _Receiver() as receiver:
        Thread(target=receiver.serve_forever, daemon=True).start()
        port = str(receiver.server_address[1])
        listener = shell.start("webhooks", "listen", port, "--types", "video.updated", "--limit", "1")
        await listener.until("Forwarding to")
        await asyncio.sleep(0)
        await shell.run("titles", video, "--overwrite")
        ran = shell.judge(await asyncio.to_thread(listener.wait), code=0)
        shown = json.loads(ran.out)
        shell.expect("a refused event is sent again", found=(shown["status"], shown["attempts"]), expected=(204, 2))
        for headers, body in receiver.received:
            event = Webhook(secret).verify(body, headers)
            shell.expect("the event", found=(event["type"], event["data"]["id"]), expected=("video.updated", video))
        stopped = shell.start("webhooks", "listen", port)
        await stopped.until("Forwarding to")
        stopped.send(signal.SIGINT)
        ended = shell.judge(await asyncio.to_thread(stopped.wait), code=130)
        shell.expect("how to go on", found="--after" in ended.err)
        receiver.shutdown()
