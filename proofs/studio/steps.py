"""Steps of the studio proof: by keyboard only, then by mouse."""

from playwright.async_api import Response, Route

from proofs.console.browser import PHONE
from proofs.studio.stage import Editor, StudioStage
from tests.support.studio.videos import StudioVideo, translated

MAX_TABS = 60  # until the first line has the focus
MAX_PAGE_BYTES = 200_000  # beside media and the player
_PLAYER = ("shaka-player", "player.js", "/media/", "/files/")


async def read_without_scripts(stage: StudioStage, video: StudioVideo) -> None:
    """The transcript and a translation are readable, all of it, page by page."""
    reader = await stage.editor(scripts=False)
    await reader.session.check_html(await reader.session.go(f"{video.path}?lang=pt"))
    assert await reader.text(1) == video.segments[0].text
    assert await reader.text(1, "line") == translated(video.segments[0])
    await reader.page.click("#more-rows a")
    shown = await reader.page.inner_text(".segment .side.source .cell")
    assert shown in {each.text for each in video.segments[1:]}, shown


async def weigh_the_page(stage: StudioStage, video: StudioVideo) -> None:
    """Everything that the page loads before further rows, beside media and the player."""
    editor, sizes = await stage.editor(), dict[str, int]()

    def note(response: Response) -> None:
        sizes.setdefault(response.url, int(response.headers.get("content-length", 0)))

    editor.page.on("response", note)
    await editor.open(video, "pt")
    counted = {
        url: size
        for url, size in sizes.items()
        if not any(each in url for each in _PLAYER) and "/studio/rows" not in url
    }
    stage.page_bytes = sum(counted.values())
    assert 0 < stage.page_bytes <= MAX_PAGE_BYTES, counted


async def edit_by_keyboard(stage: StudioStage, editor: Editor, video: StudioVideo) -> None:
    """Tab to the first line, change it, and go on to the next ones without the mouse."""
    page = editor.page
    for _ in range(MAX_TABS):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.matches('.cell')"):
            break
    await page.keyboard.press("Enter")
    await page.keyboard.press("Control+A")
    await page.keyboard.type("By keyboard only.")
    await page.keyboard.press("Enter")
    await editor.saved()
    assert (await stage.texts(video))[0] == "By keyboard only."
    assert await page.evaluate("document.activeElement.textContent") == "By keyboard only."
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.keyboard.press("End")
    await page.keyboard.type(" More.")
    await page.keyboard.press("Tab")  # saves, and edits the next line
    await page.keyboard.type(" And more.")
    await page.keyboard.press("Escape")  # the third line stays as it was
    await editor.saved()
    assert (await stage.texts(video))[1:3] == [f"{video.segments[1].text} More.", video.segments[2].text]


async def split_and_merge(stage: StudioStage, editor: Editor, video: StudioVideo) -> None:
    """Split at the cursor with a change that is not saved yet, merge again, and undo both."""
    page, before = editor.page, await stage.texts(video)
    await editor.type_into(3, "First half second half")
    for _ in range(len("second half")):
        await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("Control+Enter")
    await page.keyboard.type("the ")  # without waiting
    await editor.session.until("document.activeElement.value === 'the second half'")
    assert (await stage.texts(video))[2:4] == ["First half", "second half"]
    await page.keyboard.press("Home")
    await page.keyboard.press("Control+Backspace")
    await editor.session.until("document.activeElement.value === 'First half the second half'")
    assert await page.evaluate("document.activeElement.selectionStart") == len("First half ")
    assert (await stage.texts(video))[2] == "First half the second half"
    await page.keyboard.press("Escape")
    for count, key in ((1, "Control+z"), (2, "Control+z"), (1, "Control+Shift+z"), (1, "Control+z")):
        for _ in range(count):
            await page.keyboard.press(key)
    await editor.session.until(f"document.querySelector({editor.cell(3)!r}).textContent === {before[2]!r}")
    await editor.saved()
    assert await page.locator(".segment").count() == len(before)


async def translate_by_keyboard(_stage: StudioStage, editor: Editor, _video: StudioVideo) -> None:
    """Write a line of the dub; its price is on the button, and a later change of the original asks for a review."""
    page = editor.page
    await page.focus(editor.cell(4))
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Control+A")
    await page.keyboard.type("Escrito à mão.")
    await page.keyboard.press("Enter")
    await editor.saved()
    await editor.session.wait_for("#row-s4 .remark.stale", has_text="Changed, not spoken yet")
    await editor.session.wait_for("#studio-regenerate", has_text="credits")
    await editor.type_into(5, "Demasiado longo para o seu tempo. " * 8, "line")
    await editor.session.wait_for("#row-s5 .remark.long", has_text="s too long")
    await page.keyboard.press("Escape")
    await editor.type_into(4, "The original is different now.")
    await page.keyboard.press("Enter")
    await editor.saved()
    await page.focus(editor.cell(6))
    await page.keyboard.press("Alt+r")
    await editor.session.until("document.activeElement.textContent === 'Escrito à mão.'")
    await page.focus(editor.cell(2))
    await page.keyboard.press("Alt+s")
    await editor.session.until("document.activeElement.textContent === 'Escrito à mão.'")
    await page.keyboard.press("Tab")  # to the button that confirms the text
    await page.keyboard.press("Enter")
    await editor.saved()
    await editor.session.until("!document.querySelector('.remark.review')")


async def play_lines(_stage: StudioStage, editor: Editor, video: StudioVideo) -> None:
    """Play a line and its dub, which stop at their end; pause while a text is being edited."""
    page, line = editor.page, video.segments[2]
    await page.focus(editor.cell(3))
    for key, choice in (("Alt+o", "original"), ("Alt+d", "dub")):
        await page.keyboard.press(key)
        await editor.session.until(f"document.getElementById('player').currentTime > {line.start_seconds + 0.2}")
        await editor.session.until("document.getElementById('player').paused")
        stopped = await page.evaluate("document.getElementById('player').currentTime")
        assert line.end_seconds <= stopped < line.end_seconds + 1.5, (key, stopped)
        assert await page.get_attribute(f"#audio-{choice}", "aria-pressed") == "true"
    await page.click("#audio-original")
    await page.focus(editor.cell(2))
    await page.keyboard.press("Enter")
    for is_paused in ("false", "true"):
        await page.keyboard.press("Control+Space")
        await editor.session.until(f"document.getElementById('player').paused === {is_paused}")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Space")
    await editor.session.until("!document.getElementById('player').paused")
    await page.keyboard.press("Space")
    seek = "document.dispatchEvent(new CustomEvent('studio:seek', {detail: {seconds: 8.5}}))"
    await page.evaluate(f"() => {{ {seek}; }}")
    await editor.session.wait_for(".segment.playing", has_text=video.segments[2].text.split(":")[0])


async def edit_by_mouse(stage: StudioStage, editor: Editor, video: StudioVideo) -> None:
    """Everything has a button: edit, delete, restore, change the speaker, undo, look up the keys."""
    page = editor.page
    await page.click(editor.cell(5))
    await page.keyboard.press("Control+A")
    await page.keyboard.type("By mouse.")
    await page.click("h1")
    await editor.saved()
    assert (await stage.texts(video))[4] == "By mouse."
    await page.click(editor.cell(5))
    for button, note in (("delete", 1), ("delete", 0)):
        await page.click(f"[data-command={button}]")
        await editor.session.until(f"document.querySelectorAll('.segment.deleted').length === {note}")
    await page.click("[data-command=speaker]")
    await page.select_option("#speaker-dialog select", "new")
    await page.fill("#speaker-dialog input", "Joan")
    await page.click("#speaker-dialog button.main")
    await editor.session.wait_for("#row-s5 .who", has_text="Joan")
    await page.click("[data-command=undo]")
    await editor.session.until("document.querySelector('#row-s5 .who').textContent === 'Grace'")
    await page.click("[data-command=keys]")
    await editor.session.wait_for("#keys-help dd", has_text="Split at the cursor")
    if not stage.short:
        await editor.session.check_layout("keys of the studio")
    await page.click("#keys-help button")


async def regenerate(_stage: StudioStage, editor: Editor, _video: StudioVideo) -> None:
    """The job that the button starts is shown in words; no worker runs here."""
    await editor.page.click("#studio-regenerate")
    await editor.session.wait_for("#studio-job", has_text="Regenerating, 0 %")


async def caption_by_keyboard(stage: StudioStage, editor: Editor, video: StudioVideo) -> None:
    """Choose captions, write one, and return to the translation."""
    page = editor.page
    await page.select_option("#choose-track select", "es:captions")
    await page.wait_for_url("**lang=es*")
    await editor.saved()
    await editor.type_into(1, "Escrito a mano.", "line")
    await page.keyboard.press("Enter")
    await editor.saved()
    await page.click("#row-s1 [data-action=reset]")
    await editor.saved()
    assert await editor.text(1, "line") == translated(video.segments[0])
    if not stage.short:
        await page.set_viewport_size(PHONE)
        await editor.session.check_layout("captions in the studio (phone)")


async def lose_the_connection(stage: StudioStage, editor: Editor, video: StudioVideo) -> None:
    """A text that cannot be sent stays, and is saved when the connection is back."""

    async def abort(route: Route) -> None:
        await route.abort()

    await editor.page.route("**/studio/transcript*", abort)
    await editor.type_into(6, "Written without a connection.")
    await editor.page.keyboard.press("Enter")
    await editor.session.wait_for("#studio-status", has_text="Not saved yet. Trying again.")
    await editor.page.unroute_all(behavior="wait")
    await editor.saved()
    assert (await stage.texts(video))[5] == "Written without a connection."
    # The aborted requests are in the browser's console, and are no errors of the page.
    stage.findings.console_errors[:] = [each for each in stage.findings.console_errors if "net::ERR_FAILED" not in each]


async def visit_on_a_phone(_stage: StudioStage, editor: Editor, video: StudioVideo) -> None:
    await editor.open(video, "pt")
    await editor.session.capture("studio", views=("laptop", "phone"))
