"""Steps of the console proof about the account: mails, two-step sign-in, passkeys and sessions."""

import asyncio
import base64
import re
import time

import httpx

from cutroom.accounts.second_factor.rules import RECOVERY_CODES, step_at, totp
from cutroom.platform.clock import system_clock
from proofs.console.stage import EMAIL, MARKUP, PASSWORD, ConsoleStage
from tests.support.servers.smtp_server import link_in

NEW_PASSWORD = f"{PASSWORD}, again"
MAIL_SECONDS = 120.0
VIEWS = ("laptop", "dark", "phone")
# A device that verifies the person and keeps its passkeys, as a laptop or a phone does.
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


async def mailed_link(console: ConsoleStage, subject: str) -> str:
    """The path of the link in the last mail with this subject, which the worker sends."""
    deadline = time.monotonic() + MAIL_SECONDS
    while not (found := [mail for mail in console.smtp.sent_to(EMAIL) if subject in mail["Subject"]]):
        if time.monotonic() > deadline:
            raise TimeoutError(subject)
        await asyncio.sleep(0.1)
    return link_in(found[-1])


async def sign_out(console: ConsoleStage) -> None:
    await console.browser.page.click(".who summary")
    await console.browser.page.click("text=Sign out")
    await console.browser.page.wait_for_url("**/sign-in*")


async def enter_password(console: ConsoleStage, password: str) -> None:
    """The first step of signing in."""
    page = console.browser.page
    await page.fill("[name=email]", EMAIL)
    await page.fill("[name=password]", password)
    await page.click("button.main")


async def reset_password(console: ConsoleStage) -> None:
    """Forget the password, open the link in the mail, set a new one, and sign in with it."""
    page, browser = console.browser.page, console.browser
    await browser.go("/account")
    await sign_out(console)
    await page.click("text=Forgot your password?")
    await browser.capture("forgot-password", views=VIEWS)
    await page.fill("[name=email]", EMAIL)
    await page.click("button.main")
    await browser.wait_for("h1", has_text="Check your mail")
    await browser.capture("mail-sent", views=VIEWS)
    await browser.check_html(await browser.go(await mailed_link(console, "Set a new password")))
    await browser.capture("reset-password", views=VIEWS)
    await page.fill("[name=password]", NEW_PASSWORD)
    await page.click("button.main")
    await browser.wait_for("[role=status]", has_text="Password changed")
    await enter_password(console, NEW_PASSWORD)
    await browser.wait_for("h1", has_text="Library")


async def use_two_steps(console: ConsoleStage) -> None:
    """Turn two-step sign-in on, sign in with a code, and turn it off with a recovery code."""
    page, browser = console.browser.page, console.browser
    await browser.go("/account")
    await browser.capture("account", views=VIEWS)
    await page.click("text=Set up two-step sign-in")
    await browser.capture("second-factor", views=VIEWS)
    await page.fill("#main [name=password]", NEW_PASSWORD)
    await page.click("#main button.main")
    await browser.wait_for("h1", has_text="Set up two-step sign-in")
    await browser.capture("second-factor-setup", views=VIEWS)
    text = re.sub(r"\s", "", await page.inner_text("#main code.break"))
    secret = base64.b32decode(text + "=" * (-len(text) % 8))
    step = step_at(system_clock())
    await page.fill("#main [name=code]", totp(secret, step))
    await page.click("#main button.main")
    await browser.wait_for("h1", has_text="Recovery codes")
    await browser.capture("recovery-codes", views=VIEWS)
    codes = (await page.inner_text("#recovery-codes")).split()
    assert len(codes) == RECOVERY_CODES, codes
    await sign_out(console)
    await enter_password(console, NEW_PASSWORD)
    await browser.wait_for("h1", has_text="Enter your code")
    await browser.capture("sign-in-code", views=VIEWS)
    await page.fill("[name=code]", totp(secret, step + 1))  # the first one has been used
    await page.click("button.main")
    await browser.wait_for("h1", has_text="Library")
    await browser.go("/account/second-factor")
    await browser.capture("second-factor-on", views=VIEWS)
    await page.fill("form[action$=disable] [name=password]", NEW_PASSWORD)
    await page.fill("form[action$=disable] [name=code]", codes[0])
    await page.click("form[action$=disable] button")
    await browser.wait_for("[role=status]", has_text="Two-step sign-in is off")


async def use_passkey(console: ConsoleStage) -> None:
    """Add a passkey of the device, sign in with it, and delete it."""
    page, browser = console.browser.page, console.browser
    devices = await page.context.new_cdp_session(page)
    await devices.send("WebAuthn.enable")
    device = (await devices.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR}))["authenticatorId"]
    await browser.go("/account/passkeys")
    await browser.capture("passkeys-empty", views=VIEWS)
    await page.fill("#main [name=name]", f"Laptop {MARKUP}")
    await page.fill("#main [name=password]", NEW_PASSWORD)
    await page.click("#main button.main")
    await browser.wait_for("[role=status]", has_text="Passkey added")
    stored = (await devices.send("WebAuthn.getCredentials", {"authenticatorId": device}))["credentials"]
    assert [each["rpId"] for each in stored] == ["localhost"], stored
    await sign_out(console)
    await browser.capture("sign-in-passkey", views=VIEWS)
    await page.click("text=Sign in with a passkey")
    await browser.wait_for("h1", has_text="Library")
    await browser.go("/account/passkeys")
    await browser.capture("passkeys", views=VIEWS)
    await page.click("form[action$='/delete'] button")  # the dialog is accepted
    await browser.wait_for("[role=status]", has_text="Passkey deleted")
    await sign_out(console)
    await page.click("text=Sign in with a passkey")
    await browser.wait_for("[role=alert]", has_text="This passkey was not accepted")
    console.browser.findings.console_errors = [
        each for each in console.browser.findings.console_errors if "/sign-in/passkey" not in each
    ]  # the browser notes the 401 that this sign-in must get
    await devices.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": device})
    await enter_password(console, NEW_PASSWORD)
    await browser.wait_for("h1", has_text="Library")


async def end_sessions(console: ConsoleStage) -> None:
    """See a session of another browser, and sign it out."""
    page, browser = console.browser.page, console.browser
    headers = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"}
    async with httpx.AsyncClient(base_url=browser.url, headers=headers, timeout=60) as elsewhere:
        csrf = re.search(r'name="csrf" value="(\w+)"', (await elsewhere.get("/sign-in")).text)
        assert csrf is not None
        fields = {"csrf": csrf[1], "email": EMAIL, "password": NEW_PASSWORD, "next": "/library"}
        assert (await elsewhere.post("/sign-in", data=fields)).status_code == 303
        await browser.go("/account")
        await page.click("text=See where you are signed in")
        await browser.wait_for("tr", has_text="Firefox on Linux")
        await browser.capture("sessions", views=VIEWS)
        await page.click("tr:has-text('Firefox on Linux') button")
        await browser.wait_for("[role=status]", has_text="Signed out there")
        assert (await elsewhere.get("/library")).headers["location"].startswith("/sign-in")
    assert await page.locator("tr", has_text="this session").count() == 1
