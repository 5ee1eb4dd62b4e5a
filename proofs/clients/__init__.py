"""The clients against the real service through a proxy that injects faults.

A driver is a program that runs one client: `python -m proofs.clients.python_driver`, and
`node clients/typescript/proof/driver.mjs` if it exists. CUTROOM_API_KEY, CUTROOM_BASE_URL and CUTROOM_STATE_DIR are in
its environment. It reads one JSON object per line, and answers each with one line before it reads the next.

- `{"operation": "createDubs", "path": {"videoId": "..."}, "query": {}, "body": {}, "headers": {}, "maxCredits": 2,
  "apiKey": "..."}` calls an operation; all members but the first are optional. The answer is
  `{"ok": true, "result": ...}` with the JSON that the API returned, or null. Of a
  stream, the driver reads the first piece, and its result is null.
- `{"upload": "FILE", "chunkBytes": 1048576}` uploads a file resumably. The result is `{"videoId": "..."}`.
- `{"errors": true}` asks for the class of each error code. The result is `{"NOT_FOUND": "NotFoundError", ...}`.

A call that fails is answered with
`{"ok": false, "error": {"class": "NotFoundError", "code": "NOT_FOUND", "status": 404}}`; `code` and `status`
are null if no response of the service came. The driver retries as the client does by default, but waits at most 0.2 s
between attempts unless a `Retry-After` demands more.
"""
