"""Steps of the console proof on the video page: offers, dubs, the sync report, a download and thumbnails."""

import re

from proofs.console.stage import JOB_SECONDS, ConsoleStage

SPANISH = "section[aria-label='Spanish dub']"
PREVIEW, PREVIEW_PIXELS = ".preview .neighbors li > :first-child", 168
MIN_OFFERS = 5
PRICE = re.compile(r"\d credits?\b|Free")


HAVE_WIDTHS = """selector => {
    const found = [...document.querySelectorAll(selector)];
    return found.length > 0 && found.every(each => each.clientWidth > 0);
}"""


async def see_offers(console: ConsoleStage) -> None:
    """What can be made next is on the first screen of a laptop, each with its price."""
    page, browser = console.browser.page, console.browser
    await browser.go(f"/videos/{console.ids['video']}")
    offers = await page.locator("a.offer").all()
    boxes = [await offer.bounding_box() for offer in offers]
    bottoms = [box["y"] + box["height"] for box in boxes if box is not None]
    texts = [await offer.inner_text() for offer in offers]
    is_on_screen = len(bottoms) == len(offers) >= MIN_OFFERS and max(bottoms) <= await page.evaluate("innerHeight")
    browser.findings.actions_above_fold = is_on_screen and all(PRICE.search(text) for text in texts)
    assert browser.findings.actions_above_fold, texts
    await browser.capture("video")


async def request_dub(console: ConsoleStage) -> None:
    """The button shows the exact price of all chosen languages, and the page updates itself."""
    page, browser = console.browser.page, console.browser
    await page.click(".offer:has-text('Dub')")
    spanish = page.locator("#make-dub .chip:has([value=es])")
    other = page.locator("#make-dub .chip:not(:has([value=es]))").first
    await spanish.click()
    await browser.wait_for("#make-dub button.main", has_text="Dub into Spanish ·")
    one = await _price(console)
    await other.click()
    await browser.wait_for("#make-dub button.main", has_text=" and ")
    assert await _price(console) > one
    await browser.capture("video-order")
    await other.click()
    await browser.wait_for("#make-dub button.main", has_text="Dub into Spanish ·")
    # Spanish is a draft: nothing is ordered before that is confirmed.
    await page.click("#make-dub button.main")
    assert not await page.evaluate("document.querySelector('#make-dub').checkValidity()")
    assert not await page.locator(SPANISH).count()
    await page.check("#make-dub [name=draft]")
    await browser.wait_for("#make-dub [name=draft]:checked")
    await page.click("#make-dub button.main")
    await browser.wait_for(f"{SPANISH} .state")
    async with browser.following() as watching:
        await browser.wait_for(f"{SPANISH} :is(.state.ready, .state.failed)", seconds=JOB_SECONDS)
    assert watching.messages["changed"], watching
    assert watching.messages["progress"], watching  # the bar moves by the stream
    assert await page.locator(f"{SPANISH} .state.ready").count(), await page.inner_text(f"{SPANISH} .state")
    await browser.wait_for(SPANISH, has_text="Draft. It shows what is said")


async def _price(console: ConsoleStage) -> float:
    text = await console.browser.page.inner_text("#make-dub button.main")
    return float(text.partition(" · ")[2].split()[0])


async def switch_language(console: ConsoleStage) -> None:
    """The dub becomes an audio track of the stream: the page picks it up, and the player fetches it."""
    page, browser = console.browser.page, console.browser
    await browser.until(
        "document.getElementById('live').dataset.streamed.split(',').includes('es')", seconds=JOB_SECONDS
    )
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    await page.click("#audio-tracks button[data-language=es]")
    await browser.until("document.querySelector('.stage').dataset.audioSource === 'stream es'")
    await page.evaluate(
        "() => { const player = document.getElementById('player'); player.currentTime = 0; return player.play(); }"
    )
    await browser.until("document.getElementById('player').currentTime > 0.8")
    assert not await page.evaluate("document.getElementById('player').muted")
    assert any("/media/" in url and "/a/es-" in url for url in fetched), fetched
    await page.click("#audio-tracks button[data-language=en]")
    await browser.until("document.querySelector('.stage').dataset.audioSource === 'stream en'")
    await page.evaluate("document.getElementById('player').pause()")


async def open_report(console: ConsoleStage) -> None:
    page = console.browser.page
    await page.click("details[data-report=es] summary")
    spans = await page.locator("details[data-report=es] .spans.dub rect").count()
    assert spans >= 2, spans
    await console.browser.capture("video-dubs")


async def download(console: ConsoleStage) -> None:
    """Prepare the original file, and fetch it."""
    page, browser = console.browser.page, console.browser
    await page.click("#tab-publish")
    await page.click("button:has-text('Prepare download')")
    link = page.locator("section[aria-label=Downloads] a", has_text="Download").first
    await link.wait_for(state="visible", timeout=JOB_SECONDS * 1000)
    fetched = await page.request.get(await link.get_attribute("href") or "")
    assert fetched.ok, fetched.status
    assert "attachment" in fetched.headers["content-disposition"], fetched.headers
    assert await fetched.body() == console.video_file.read_bytes()
    await browser.capture("video-publish")


async def review_thumbnail(console: ConsoleStage) -> None:
    """Detected images are shown for review, and used after approval."""
    page, browser = console.browser.page, console.browser
    await page.click("#tab-thumbnails")
    await page.check("#make-thumbnail [name=review]")
    await browser.wait_for("#make-thumbnail button.main", has_text="Generate thumbnail · 7 credits")
    await page.click("#make-thumbnail button.main")
    await browser.wait_for("#review .shot img", seconds=JOB_SECONDS)
    await browser.capture("video-review")
    await page.click("#review button[value=approve]")
    await browser.wait_for(".thumb img", seconds=JOB_SECONDS)


async def choose_poster(console: ConsoleStage) -> None:
    """Set the second thumbnail as the video's poster; the preview shows thumbnails as wide as in a list."""
    page, browser = console.browser.page, console.browser
    await page.wait_for_function(HAVE_WIDTHS, arg=PREVIEW)  # the page has just been updated
    widths = set(await page.eval_on_selector_all(PREVIEW, "all => all.map(each => each.clientWidth)"))
    assert widths == {PREVIEW_PIXELS}, widths
    await page.click(".thumb button >> nth=0")
    await browser.wait_for("[role=status]", has_text="Thumbnail set")
    await browser.wait_for(".thumb.chosen .state.ready")
    sql = "SELECT poster_path FROM videos WHERE id = $1"
    poster = await console.stage.accounts.connection.fetchval(sql, console.ids["video"])
    assert "/thumbnails/" in poster, poster
    await browser.capture("video-thumbnails")
