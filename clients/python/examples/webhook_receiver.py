"""Receives webhooks and refuses forged ones: `python webhook_receiver.py 8080`, with WEBHOOK_SECRET set."""

import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from cutroom_client import WebhookVerificationError, webhooks


class Receiver(BaseHTTPRequestHandler):
    """Verifies each request before it looks at it."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = webhooks.verify(body, dict(self.headers), os.environ["WEBHOOK_SECRET"])
        except WebhookVerificationError as error:
            self.send_error(400, str(error))
            return
        print(event.id, event.type, flush=True)
        self.send_response(204)
        self.end_headers()


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
