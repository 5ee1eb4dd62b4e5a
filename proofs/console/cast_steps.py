"""Steps of the console proof on the cast and the optimized script: a member with a voice speaks in the video."""

from proofs.console.stage import JOB_SECONDS, ConsoleStage

NAME = "Ana Duarte-Ó Súilleabháin"


async def set_up_cast(console: ConsoleStage) -> None:
    """Add a member, give her a voice, say that she speaks in the video, and turn recognition on."""
    page, browser, video_id = console.browser.page, console.browser, console.ids["video"]
    await browser.go("/cast")
    await browser.capture("cast-empty", views=("phone",))
    await page.fill("[name=name]", NAME)
    await page.keyboard.press("Enter")
    await browser.wait_for("h1", has_text=NAME)
    console.ids["member"] = page.url.removeprefix(browser.url).partition("?")[0]
    await page.select_option("[name=voice]", index=1)
    await page.click("button:has-text('Set voice')")
    await browser.wait_for("[role=status]", has_text="Changes saved")
    await browser.go(f"/videos/{video_id}?tab=transcript")
    await page.click("a:has-text('Speakers')")
    await page.select_option("[name=member]", label=NAME)
    await page.click("button:has-text('Set')")
    await browser.wait_for("#main .state.ready", has_text=NAME)
    await browser.capture("video-speakers", views=("laptop", "phone"))
    await page.click("#main .state.ready a")
    await browser.wait_for("#main .state.ready", has_text="Confirmed")
    await browser.capture("cast-member", views=("laptop", "phone"))
    await browser.go("/cast")
    await page.click("summary:has-text('Change where')")
    await page.check("[name=place][value=library]")
    await page.check("[name=consent]")
    await browser.capture("cast-recognition", views=("laptop", "phone"))
    await page.click("button:has-text('Save')")
    await browser.wait_for("#main", has_text="in all videos")
    await browser.capture("cast", views=("laptop", "phone"))


async def edit_script(console: ConsoleStage) -> None:
    """Make the optimized script, change a text beside the transcript, and open the dub that uses it."""
    page, browser, video_id = console.browser.page, console.browser, console.ids["video"]
    await browser.go(f"/videos/{video_id}?tab=transcript")
    await page.click("a:has-text('Optimized script')")
    await page.click("button:has-text('Make script')")
    await _wait_for_script(console)
    await page.fill("textarea >> nth=0", "A shorter first sentence.")
    await page.click("button:has-text('Save')")
    await browser.wait_for("td .state.ready", has_text="Edited")
    await browser.capture("video-script", views=("laptop", "phone"))
    await page.click("a:has-text('Use for a dub')")
    await browser.until("document.querySelector('[name=voiceover]').value === 'optimized'")


async def _wait_for_script(console: ConsoleStage) -> None:
    """The page says that the script is in progress until it is reloaded."""
    for _ in range(round(JOB_SECONDS)):
        if await console.browser.page.locator("textarea").count():
            return
        await console.browser.page.wait_for_timeout(1_000)
        await console.browser.go(f"/videos/{console.ids['video']}/script")
    raise AssertionError("the script was not made")
