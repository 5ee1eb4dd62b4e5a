"""Counts the requests that a page makes on its own, and which of them the event stream explains."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.async_api import Page, Request

# Reports each message of the stream with the sections that it reloads, by their URLs.
_REPORT_MESSAGES = """(() => {
    const Original = window.EventSource;
    window.EventSource = class extends Original {
        constructor(...given) {
            super(...given);
            for (const kind of ["changed", "missed", "progress"]) this.addEventListener(kind, (event) => {
                const topics = kind === "changed" ? JSON.parse(event.data) : null;
                const sections = kind === "progress" ? [] : [...document.querySelectorAll("[data-live]")].filter(
                    (each) => topics === null || each.dataset.live.split(" ").some((topic) => topics.includes(topic)));
                window.reportMessage(kind, sections.map((each) => each.getAttribute("hx-get")));
            });
        }
    };
})()"""
_OWN = frozenset({"xhr", "fetch", "document", "eventsource"})
_STREAM, _MEDIA = "/events", ("/media/", "/files/", "/uploads/")  # not requests of the page itself


@dataclass
class PageRequests:
    """What was observed while it was watching; each message explains one request of each section that it reloads."""

    requests: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    messages: Counter[str] = field(default_factory=Counter)

    @property
    def unexplained(self) -> Counter[str]:
        return self.requests - self.explained

    def add_message(self, kind: str, urls: list[str]) -> None:
        self.messages[kind] += 1
        self.explained.update(_path(url) for url in urls)

    def add_request(self, request: Request) -> None:
        path = _path(request.url)
        is_own = request.resource_type in _OWN and path != _STREAM and not path.startswith(_MEDIA)
        if is_own:
            self.requests[path] += 1


def _path(url: str) -> str:
    return urlsplit(url).path


async def report_messages(page: Page, observed: list[PageRequests]) -> None:
    """Pass on the messages of every stream that the page opens from now on, to all that are watching."""

    def add(kind: str, urls: list[str]) -> None:
        for each in observed:
            each.add_message(kind, urls)

    await page.expose_function("reportMessage", add)
    await page.add_init_script(_REPORT_MESSAGES)


@asynccontextmanager
async def watch_requests(page: Page, observed: list[PageRequests]) -> AsyncIterator[PageRequests]:
    """Watches the page, which is not touched inside the block."""
    watching = PageRequests()
    observed.append(watching)
    page.on("request", watching.add_request)
    try:
        yield watching
    finally:
        page.remove_listener("request", watching.add_request)
        observed.remove(watching)
