"""Hostile ids, paths, hosts, headers and methods."""

import httpx

from proofs.hardening.attacks import Scene, summary
from proofs.hardening.wire import WireResponse, exchange, request_bytes

IDS, METHODS, HOSTS, SMUGGLING, CREDENTIALS = "ids and paths", "methods", "hosts", "smuggling", "credentials"
HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
HEADER_BYTES = 8 * 1024 * 1024


async def attack_requests(scene: Scene) -> None:
    await _attack_ids(scene)
    await _attack_methods(scene)
    await _attack_hosts(scene)
    await _attack_credentials(scene)
    await _attack_framing(scene)
    await _attack_with_headers(scene)


async def _attack_ids(scene: Scene) -> None:
    client, foreign, library = scene.attacker.client, scene.victim_video, scene.victim.library_id
    paths = {
        "another tenant's video": f"/v1/videos/{foreign}",
        "another tenant's transcript": f"/v1/videos/{foreign}/transcript",
        "another tenant's jobs": f"/v1/videos/{foreign}/jobs",
        "another tenant's job": f"/v1/jobs/import_{foreign}",
        "another tenant's library as a parameter": f"/v1/videos/{foreign}?libraryId={library}",
        "SQL in an id": "/v1/videos/'%20OR%20'1'='1",
        "a wildcard as an id": "/v1/videos/%25",
        "NUL in an id": f"/v1/videos/{foreign}%00",
        "a path in an id": f"/v1/videos/..%2F..%2Flibraries%2F{library}",
        "an id of 20,000 characters": "/v1/videos/" + "a" * 20_000,
        "an id in upper case": f"/v1/videos/{foreign.upper()}",
        "digits of another script": "/v1/videos/%D9%A1%D9%A2%D9%A3",
        "dots in a path": f"/v1/folders/../videos/{foreign}",
        "a parameter of the path": f"/v1/videos/{foreign};x=y",
        "a file beside the static files": "/static/..%2f..%2f..%2fpyproject.toml",
        "a file beside the reference": "/docs/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "a metrics page on the public port": "/metrics",
    }
    for tried, path in paths.items():
        request = client.build_request("GET", "/")
        request.url = httpx.URL(scene.stage.api.url).copy_with(raw_path=path.encode())
        response = await client.send(request)
        scene.log.expect(IDS, tried, response, 400, 404)
        if foreign in response.text and response.status_code < 400:
            scene.log.add(IDS, f"{tried}: its content", response.text, succeeded=True)
    page = (await scene.victim.client.get("/v1/videos", params={"limit": 1})).json().get("nextPageToken")
    if page is not None:
        stolen = await client.get("/v1/videos", params={"pageToken": page})
        scene.log.expect(IDS, "another tenant's page token", stolen, 400)


async def _attack_methods(scene: Scene) -> None:
    """Requests that pretend another method must not delete the attacker's own folder either."""
    client = scene.attacker.client
    folder = (await client.post("/v1/folders", json={"name": "Kept"})).raise_for_status().json()["id"]
    path = f"/v1/folders/{folder}"
    for header in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        await client.get(path, headers={header: "DELETE"})
        await client.post("/v1/folders", json={}, headers={header: "DELETE"})
    await client.get(path, params={"_method": "DELETE"})
    kept = await client.get("/v1/folders")
    scene.log.add(METHODS, "method override headers", summary(kept), succeeded=folder not in kept.text)
    for method in ("TRACE", "CONNECT", "PROPFIND", "DEBUG"):
        headers = {"Host": "x", **scene.attacker.key.headers, "X-Secret": "echoed", "Connection": "close"}
        found = await exchange(scene.stage.api.port, request_bytes(method, path, headers))
        echoed = b"echoed" in found.received
        scene.log.add(METHODS, method, found, succeeded=echoed or found.first not in {0, 400, 404, 405})


async def _attack_hosts(scene: Scene) -> None:
    """URLs in responses name the configured host, whatever the request says."""
    client, evil = scene.attacker.client, "evil.example.com"
    headers = {"Host": evil, "X-Forwarded-Host": evil, "X-Forwarded-Proto": "https", "Forwarded": f"host={evil}"}
    created = await client.post("/v1/videos", json={"source": {"type": "upload", "fileName": "a.mp4"}}, headers=headers)
    video_id = created.raise_for_status().json()["videoId"]
    granted = await client.post(f"/v1/videos/{video_id}/uploads", json={"fileName": "a.mp4"}, headers=headers)
    scene.log.add(HOSTS, "a forged Host in an upload URL", summary(granted), succeeded=evil in granted.text)
    async with scene.anonymous as anonymous:
        metadata = await anonymous.get("/.well-known/oauth-authorization-server", headers=headers)
        scene.log.add(HOSTS, "… in the OAuth metadata", summary(metadata), succeeded=evil in metadata.text)
        moved = await anonymous.get("/library", headers=headers)
        location = moved.headers.get("location", "")
        scene.log.add(HOSTS, "… in a redirect", location, succeeded=evil in location)
    forged = {"X-Forwarded-For": "192.0.2.1", "X-Real-IP": "192.0.2.1"}
    (await client.post("/v1/folders", json={"name": "Forged"}, headers=forged)).raise_for_status()
    entries = await client.get("/v1/audit-log", params={"limit": 1})
    shown = entries.json()["entries"][0].get("clientAddress")
    scene.log.add(HOSTS, "a forged client address in the audit log", shown, succeeded=shown == "192.0.2.1")
    absolute = request_bytes(
        "GET", f"http://169.254.169.254:80/v1/videos/{scene.victim_video}", {"Host": "x", "Connection": "close"}
    )
    found = await exchange(scene.stage.api.port, absolute)
    scene.log.add(
        HOSTS, "an absolute request target, as to a proxy", found, succeeded=found.first not in {400, 401, 404}
    )


async def _attack_credentials(scene: Scene) -> None:
    good = scene.attacker.key.secret
    async with scene.anonymous as client:
        for tried, headers in {
            "a key with another checksum": {"Authorization": f"Bearer {good[:-1]}{'0' if good[-1] != '0' else '1'}"},
            "a key in lower case": {"Authorization": f"Bearer {good.lower()}x"},
            "a key of 60,000 characters": {"Authorization": "Bearer cr_" + "a" * 60_000},
            "a key as a cookie": {"Cookie": f"cutroom-session={good}"},
            "a forged session": {"Cookie": "cutroom-session=" + "A" * 43},
            "an unsigned JWT": {"Authorization": "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0."},
        }.items():
            scene.log.expect(CREDENTIALS, tried, await client.get("/v1/videos", headers=headers), 400, 401, 431)
        page = await client.get("/account", headers={"Cookie": "cutroom-session=" + "A" * 43})
        scene.log.expect(CREDENTIALS, "a forged session on a page", page, 303)
        query = await client.get("/v1/videos", params={"api_key": good, "access_token": good})
        scene.log.expect(CREDENTIALS, "a key in the query", query, 401)


async def _attack_framing(scene: Scene) -> None:
    """Requests whose end is ambiguous: a second request hidden in a body must not be answered."""
    key = scene.attacker.key.headers["Authorization"]
    hidden = f"GET /v1/folders HTTP/1.1\r\nHost: x\r\nAuthorization: {key}\r\n\r\n".encode()
    start = (
        f"POST /v1/folders HTTP/1.1\r\nHost: x\r\nAuthorization: {key}\r\nContent-Type: application/json\r\n".encode()
    )
    size = str(len(hidden) + 5).encode()
    chunk = f"{len(hidden):x}".encode()
    cases = {
        "a length and chunks": start
        + b"Content-Length: "
        + size
        + b"\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        + hidden,
        "two lengths": start + b"Content-Length: 2\r\nContent-Length: " + size + b"\r\n\r\n{}" + hidden,
        "a length with a sign": start + b"Content-Length: +" + size + b"\r\n\r\n{}" + hidden,
        "a space before the colon": start
        + b"Content-Length : 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        + hidden,
        "an unknown transfer coding": start + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden,
        "chunked twice": start
        + b"Transfer-Encoding: chunked, chunked\r\n\r\n"
        + chunk
        + b"\r\n"
        + hidden
        + b"\r\n0\r\n\r\n",
        "a chunk size with a sign": start + b"Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n" + hidden,
        "a folded header": start + b"X-A: b\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",
        "a bare line feed": start.replace(b"\r\n", b"\n") + b"Content-Length: 2\n\n{}",
    }
    for tried, data in cases.items():
        found = await exchange(scene.stage.api.port, data + HEALTH)
        scene.log.add(SMUGGLING, tried, found, succeeded=_is_smuggled(found))


def _is_smuggled(found: WireResponse) -> bool:
    """Whether the hidden request was answered: it is the only one that lists folders."""
    return b'{"folders":' in found.received or found.first >= 500


async def _attack_with_headers(scene: Scene) -> None:
    """Headers that are long, many or without end; the server must stop reading them."""
    port = scene.stage.api.port
    for tried, headers in {
        "a header of 8 MiB": b"X-Large: " + b"a" * HEADER_BYTES,
        "100,000 headers": b"\r\n".join(b"X-%d: a" % number for number in range(100_000)),
        "a request line of 8 MiB": b"",
    }.items():
        target = b"/v1/health" if headers else b"/" + b"a" * HEADER_BYTES
        data = b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\nConnection: close\r\n\r\n"
        found = await exchange(port, data)
        scene.log.add("large headers", tried, found, succeeded=found.first not in {0, 400, 414, 431})
    moved = await exchange(
        port, request_bytes("GET", "/sign-in?next=/%0d%0aSet-Cookie:%20a=b", {"Host": "x", "Connection": "close"})
    )
    scene.log.add(
        "large headers", "a line break in a redirect target", moved, succeeded=b"set-cookie: a=b" in moved.headers
    )
