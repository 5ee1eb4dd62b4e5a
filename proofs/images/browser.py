"""Opens the console of an installation in Chromium, from outside the containers and through Caddy."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Page, Request, Response, sync_playwright
from playwright.sync_api import TimeoutError as PageTimeoutError

CHROMIUM = "/usr/bin/chromium"
AUTHORITY = "Caddy Local Authority"
WAIT_MS = 300_000  # a busy machine is slow
POLL_MS = 200
PLAYED_SECONDS = 1.0
_CANCELED = "net::ERR_ABORTED"  # by the page itself, such as the rest of a video
_PLAY = "() => { const player = document.getElementById('player'); player.muted = true; player.play() }"
_POSITION = "() => document.getElementById('player').currentTime"
_LOAD_IMAGES = "() => { for (const each of document.images) each.loading = 'eager' }"
_LOADING = "() => [...document.images].some((each) => !each.complete)"
_BROKEN = "() => [...document.images].filter((each) => !each.naturalWidth).map((each) => each.src)"


@dataclass
class Visit:
    """What happened while a person signed in and opened a video and the library."""

    faults: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)  # behind the sign-in
    issuers: set[str] = field(default_factory=set)  # of the certificates
    played_seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        return not self.faults and len(self.pages) == 2 and all(AUTHORITY in each for each in self.issuers)


@dataclass(frozen=True, slots=True)
class Person:
    """How a person signs in at the public address."""

    url: str
    email: str
    password: str


def visit_console(person: Person, video_id: str, *, screenshots: Path, plays: bool) -> Visit:
    """Opens the sign-in page, a video and the library; `plays` says whether the video has been imported."""
    visit = Visit()
    screenshots.mkdir(parents=True, exist_ok=True)
    with _open_page(person.url, visit) as page:
        try:
            _walk(page, person, f"/videos/{video_id}", visit=visit, screenshots=screenshots, plays=plays)
        except PageTimeoutError as error:
            visit.faults.append(f"{page.url}: {str(error).splitlines()[0]}")
            page.screenshot(path=screenshots / "failed.png")
    return visit


@contextmanager
def _open_page(url: str, visit: Visit) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--autoplay-policy=no-user-gesture-required"],
        )
        # Chromium does not know the installation's own authority; its name is compared instead.
        page = browser.new_context(ignore_https_errors=True).new_page()
        page.set_default_timeout(WAIT_MS)
        page.set_default_navigation_timeout(WAIT_MS)

        def on_console(message: ConsoleMessage) -> None:
            if message.type == "error":
                visit.faults.append(f"{page.url}: {message.text}")

        def on_failure(request: Request) -> None:
            if request.failure != _CANCELED:
                visit.faults.append(f"{request.url}: {request.failure}")

        def on_response(response: Response) -> None:
            if not response.url.startswith((f"{url}/", "data:", "blob:")):
                visit.faults.append(f"elsewhere: {response.url}")
            elif response.status >= 400:
                visit.faults.append(f"{response.status} {response.url}")

        page.on("console", on_console)
        page.on("pageerror", lambda error: visit.faults.append(f"{page.url}: {error}"))
        page.on("requestfailed", on_failure)
        page.on("response", on_response)
        try:
            yield page
        finally:
            browser.close()


def _walk(page: Page, person: Person, path: str, *, visit: Visit, screenshots: Path, plays: bool) -> None:
    _open(page, person.url + path, visit)  # leads to the sign-in page
    page.screenshot(path=screenshots / "sign-in.png")
    page.fill("[name=email]", person.email)
    page.fill("[name=password]", person.password)
    page.click("button.main")
    page.wait_for_url(f"**{path}")
    _look(page, visit)
    if plays:
        visit.played_seconds = _play(page)
        if visit.played_seconds < PLAYED_SECONDS:
            visit.faults.append(f"the video stays at {visit.played_seconds} s")
    page.screenshot(path=screenshots / "video.png", full_page=True)
    _open(page, f"{person.url}/", visit)
    _look(page, visit)
    page.locator(f"a[href*='{path}']").first.wait_for()
    page.screenshot(path=screenshots / "library.png", full_page=True)


def _open(page: Page, url: str, visit: Visit) -> None:
    response = page.goto(url)
    details = response.security_details() if response is not None else None
    issuer = details.get("issuer") if details is not None else None
    visit.issuers.add(issuer or "no certificate")


def _look(page: Page, visit: Visit) -> None:
    """Waits for every image of the page, and records those that cannot be shown."""
    visit.pages.append(page.url)
    page.evaluate(_LOAD_IMAGES)
    for _ in range(WAIT_MS // POLL_MS):
        if not page.evaluate(_LOADING):
            break
        page.wait_for_timeout(POLL_MS)
    visit.faults += [f"no image: {each}" for each in page.evaluate(_BROKEN)]


def _play(page: Page) -> float:
    """The position that playing reaches."""
    page.evaluate(_PLAY)
    position = 0.0
    for _ in range(WAIT_MS // POLL_MS):
        position = float(page.evaluate(_POSITION))
        if position >= PLAYED_SECONDS:
            break
        page.wait_for_timeout(POLL_MS)
    return position
