"""Changed and exchanged URLs of files and playback."""

from datetime import timedelta

import httpx

from cutroom.library.playback import PlaybackLinks
from cutroom.platform.clock import system_clock
from cutroom.platform.storage.links import FileLinks
from proofs.hardening.attacks import Scene

FAMILY = "signed URLs"


async def attack_links(scene: Scene, poster: str) -> None:
    """`poster` is a URL that the attacker has; the paths of the victim's objects can be guessed from ids."""
    url = httpx.URL(poster)
    _, _, token, path = url.path.split("/", 3)
    victim = f"libraries/{scene.victim.library_id}/videos/{scene.victim_video}"
    links = FileLinks(scene.runtime.secret_box, scene.stage.api.url)
    now = system_clock()
    expired = httpx.URL(links.url(path, now=now - timedelta(hours=2))).path
    later = f"{int(token[3:11], 16) + 86_400:08x}"
    name = path.rpartition("/")[2]
    paths = {
        "its own token for another tenant's object": f"/files/{token}/{victim}/{name}",
        "its own token for another object of its own": f"/files/{token}/{path.rpartition('/')[0]}/source",
        "an expired URL": expired,
        "a later expiry": f"/files/{token[:3]}{later}{token[11:]}/{path}",
        "a changed signature": f"/files/{token[:-1]}{'0' if token[-1] != '0' else '1'}/{path}",
        "a signature in upper case": f"/files/{token[:3]}{token[3:].upper()}/{path}",
        "no signature": f"/files/{token[:11]}/{path}",
        "a path with dots": f"/files/{token}/{path}/../../{scene.victim_video}/{name}",
        "an encoded path": f"/files/{token}/{path.replace('/', '%2f')}",
        "a trailing slash": f"/files/{token}/{path}/",
        "a parameter": f"/files/{token}/{path}?response-content-type=text/html",
        "a file name that was not signed": f"/files/{token}/{path}?name=page.html",
        "a file token for playback": f"/media/{token}/{scene.victim.library_id}/{scene.victim_video}/master.m3u8",
        "an object outside of libraries": f"/files/{token}/erasures/x.json",
    }
    playback = PlaybackLinks(scene.runtime.secret_box, scene.stage.api.url)
    own = httpx.URL(playback.url(scene.attacker.library_id, "x" * 26, "master.m3u8", now=now)).path.split("/")[2]
    paths["playback: its own token for another tenant's video"] = (
        f"/media/{own}/{scene.victim.library_id}/{scene.victim_video}/master.m3u8"
    )
    async with scene.anonymous as client:
        (await client.get(url.raw_path.decode())).raise_for_status()  # the control
        for tried, target in paths.items():
            request = client.build_request("GET", "/")
            request.url = httpx.URL(scene.stage.api.url).copy_with(raw_path=target.encode())
            scene.log.expect(FAMILY, tried, await client.send(request), 400, 403, 404)
        scene.log.expect(FAMILY, "deleting a file at its URL", await client.delete(url.raw_path.decode()), 405)
        scene.log.expect(
            FAMILY, "replacing a file at its URL", await client.put(url.raw_path.decode(), content=b"x"), 405
        )
