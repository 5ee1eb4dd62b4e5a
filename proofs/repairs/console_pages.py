"""What a person reads in the console: states, tabs, prices, and pages that fit a laptop and a phone."""

import asyncio
import re
import time

import httpx
from playwright.async_api import Page

from cutroom.accounts.sessions import change_password
from cutroom.platform.clock import system_clock
from cutroom.products.declaration import VideoTab
from proofs.console.browser import LAPTOP, PHONE, Findings, open_browser
from proofs.repairs.stage import RepairsStage, Rows
from tests.support.stage import upload

PASSWORD = "a talk about lenses"  # noqa: S105 (of a test account)
COOKIE = "cutroom-session"
IMPORT_SECONDS = 300.0
DUBBED = "pt"
PRICE = re.compile(r"· ([\d.]+) credits?")
STATE = re.compile(r'<span class="state (\w+)">(.*?)</span>\s*(?:</|<[a-z])', re.DOTALL)
WORDS = {
    "queued": r"(Transcript: )?(Queued|Waiting for the upload)",
    "processing": r"(Transcript: )?Processing( \d+ %)?( · (about .+|less than a minute) left)?|Preparing \d+ %",
    "ready": r"Ready|Current (thumbnail|title|description)|Enabled|Delivered",
    "failed": r"(Transcript: )?(Failed: .+|Canceled( .+)?)",
}
PHONE_PATHS = (
    "/library",
    "/trash",
    "/credits",
    "/keys",
    "/webhooks",
    "/notifications",
    "/voices",
    "/storage",
    "/workspace/new",
    "/account",
    "/account/sessions",
    "/account/second-factor",
)


async def check(stage: RepairsStage, rows: Rows) -> None:
    person = stage.running.person
    await change_password(stage.connection, person.user_id, PASSWORD, now=system_clock())
    async with httpx.AsyncClient(base_url=stage.running.api.url, timeout=60) as browser:
        await _sign_in(browser, person.email)
        await _check_states(stage, rows, browser)
        await _check_sync_report(stage, rows, browser)
        await _check_tabs(stage, rows, browser)
        await _check_layout(stage, rows, browser.cookies[COOKIE])


async def _sign_in(browser: httpx.AsyncClient, email: str) -> None:
    token = re.search(r'name="csrf" value="(\w+)"', (await browser.get("/sign-in")).text)
    assert token is not None
    fields = {"csrf": token[1], "email": email, "password": PASSWORD, "next": "/library"}
    assert (await browser.post("/sign-in", data=fields)).status_code == 303


async def _check_states(stage: RepairsStage, rows: Rows, browser: httpx.AsyncClient) -> None:
    """A file that is no video fails on every page with its reason and one thing to do; no state is a bare name."""
    file = stage.folder / "broken.mp4"
    file.write_bytes(b"no video" * 1000)
    broken = await upload(stage.client, file, file_name="broken.mp4")
    deadline = time.monotonic() + IMPORT_SECONDS
    while (job := (await stage.client.get(f"/v1/jobs/import_{broken}")).json())["status"] not in {"ready", "failed"}:
        if time.monotonic() > deadline:
            break
        await asyncio.sleep(0.5)
    said = f"Failed: {job.get('error', {}).get('message')} Upload another file"
    pages = {path: (await browser.get(path)).text for path in ("/library", *_tabs(broken), *_tabs(stage.talk))}
    where = [path for path in ("/library", f"/videos/{broken}?tab=overview") if said in _text(pages[path])]
    rows.check(
        13,
        "a failure is shown with its reason and one thing to do",
        expected="in the library and on its page",
        measured=f"on {len(where)} of 2 pages",
        holds=len(where) == 2,
    )
    states = [(dot, _text(text)) for page in pages.values() for dot, text in STATE.findall(page)]
    wrong = sorted({text for dot, text in states if not re.fullmatch(WORDS[dot], text)})
    rows.check(
        13,
        f"states in words that agree with their dot, on {len(pages)} pages",
        expected="all",
        measured=wrong or f"all {len(states)}",
        holds=bool(states) and not wrong,
    )


async def _check_sync_report(stage: RepairsStage, rows: Rows, browser: httpx.AsyncClient) -> None:
    """A line whose tempo was raised is called faster; a dub of the talk was made for the progress of jobs."""
    dub = (await stage.client.get(f"/v1/videos/{stage.talk}/dubs/{DUBBED}")).json()
    page = (await browser.get(f"/videos/{stage.talk}?tab=dubs")).text
    section = page.partition('aria-label="Portuguese dub"')[2].partition("</section>")[0]
    tempos = [round(line["stretch"], 2) for line in dub.get("sync", {}).get("segments", [])]
    changed = sorted(tempo for tempo in tempos if tempo != 1)
    said = sorted(float(tempo) for tempo in re.findall(r"<title>line [^<]*?([\d.]+) times as fast", section))
    rows.check(
        13,
        "the sync report says how many times as fast a line is spoken",
        expected=f"{len(changed)} of {len(tempos)} lines",
        measured=f"{len(said)} lines",
        holds=bool(tempos) and said == changed,
    )


async def _check_tabs(stage: RepairsStage, rows: Rows, browser: httpx.AsyncClient) -> None:
    """Tabs are pages of their own, and several languages are one order at one price."""
    opened = [
        tab for tab, path in zip(VideoTab, _tabs(stage.talk), strict=True)
        if re.search(rf'id="tab-{tab}"[^>]* aria-current="page"', (await browser.get(path)).text)
    ]  # fmt: skip
    rows.check(
        17, "tabs that open without scripts", expected="all 7", measured=len(opened), holds=opened == list(VideoTab)
    )
    form = (await browser.get(f"/videos/{stage.talk}?tab=dubs")).text
    codes = re.findall(r'<input type="checkbox" name="dub" value="([\w-]+)"', form)[:2]
    prices = []
    for count in range(1, len(codes) + 1):
        fields = {"kind": "dub", "dub": codes[:count], "product": "plus"}
        button = PRICE.search((await browser.get(f"/videos/{stage.talk}/price", params=fields)).text)
        prices.append(float(button[1]) if button else 0.0)
    rows.check(
        17,
        "the button shows the price of all chosen languages",
        expected="twice the price of one",
        measured=", ".join(f"{price:g}" for price in prices),
        holds=len(prices) == 2 and prices[0] > 0 and prices[1] == round(2 * prices[0], 3),
    )


async def _check_layout(stage: RepairsStage, rows: Rows, session: str) -> None:
    """One browser visit: what can be made is on the first screen, and no page scrolls sideways on a phone."""
    async with open_browser(stage.running.api.url, stage.folder, short=True) as browser:
        await browser.page.context.add_cookies([{"name": COOKIE, "value": session, "url": browser.url}])
        await browser.page.set_viewport_size(LAPTOP)
        await browser.go(f"/videos/{stage.talk}")
        shown, below = await _offers(browser.page)
        rows.check(
            17,
            "what can be made next, with its price, on the first screen of a laptop",
            expected="all of it",
            measured=f"{shown - below} of {shown}",
            holds=shown > 0 and not below,
        )
        await browser.page.set_viewport_size(PHONE)
        paths = (*PHONE_PATHS, *_tabs(stage.talk))
        for path in paths:
            await browser.go(path)
            await browser.check_layout(path)
    _report_phone(rows, browser.findings, len(paths))


async def _offers(page: Page) -> tuple[int, int]:
    """How many products are offered with a price, and how many of them are below the fold or without one."""
    height = await page.evaluate("innerHeight")
    below = 0
    offers = await page.locator("a.offer").all()
    for offer in offers:
        box = await offer.bounding_box()
        is_priced = re.search(r"\d credits?\b|Free", await offer.inner_text()) is not None
        below += box is None or box["y"] + box["height"] > height or not is_priced
    return len(offers), below


def _report_phone(rows: Rows, findings: Findings, pages: int) -> None:
    for claim, found in {
        f"pages that scroll sideways at 390 px, of {pages}": findings.sideways,
        f"serious accessibility violations at 390 px, on {pages} pages": findings.axe_serious,
    }.items():
        rows.check(17, claim, expected="0", measured=found or 0, holds=not found)


def _tabs(video_id: str) -> list[str]:
    return [f"/videos/{video_id}?tab={tab}" for tab in VideoTab]


def _text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())
