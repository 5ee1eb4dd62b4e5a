"""Logging in and out: keys, the browser, profiles, and what is stored where."""

import re
import stat
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx

from cutroom.accounts.scopes import Scope
from cutroom.web.runtime import open_runtime
from proofs.cli.shell import Shell
from proofs.cli.stage import CommandStage
from proofs.stage.oauth_client import BrowserUser

_PAGE = re.compile(r"(http://\S+/oauth/authorize\S+)")


async def prove_keys(shell: Shell, stage: CommandStage) -> None:
    """Keys from standard input, their storage, and every way in which a key can be wrong."""
    accounts, person = stage.stage.accounts, stage.stage.person
    config = Path(shell.environment["XDG_CONFIG_HOME"]) / "cutroom"
    missing = await shell.run("whoami", code=3)
    shell.expect("code without a login", found=missing.error["code"], expected="NOT_LOGGED_IN")
    await shell.run("login", "--with-key", stdin="not a key\n", code=2)
    await shell.run("login", "--with-key", stdin=f"cr_{'x' * 46}\n", code=3)
    shell.expect("a rejected key is not stored", found=(config / "credentials.json").exists(), expected=False)
    await shell.run("login", "--with-key", "--store", "paper", stdin=stage.stage.key.secret, code=2)
    keyring = await shell.run("login", "--with-key", "--store", "keyring", stdin=stage.stage.key.secret, code=2)
    shell.expect("no keyring is said", found="keyring" in keyring.error["message"])
    logged_in = await shell.run("login", "--with-key", stdin=f"  {stage.stage.key.secret}\n")
    shell.expect("library", found=logged_in.document["library"]["id"], expected=person.library_id)
    for path, mode in ((config, 0o700), (config / "credentials.json", 0o600), (config / "config.json", 0o600)):
        shell.expect(f"mode of {path.name}", found=stat.S_IMODE(path.stat().st_mode), expected=mode)
    shell.expect("whoami", found=(await shell.run("whoami")).document["library"]["id"], expected=person.library_id)
    other = await shell.run("whoami", "--base-url", "http://127.0.0.1:9", code=3)
    shell.expect("the key is sent to no other service", found=other.error["code"], expected="OTHER_SERVICE")
    elsewhere = {"CUTROOM_API_KEY": stage.stage.key.secret, "CUTROOM_BASE_URL": "http://127.0.0.1:9"}
    await shell.run("whoami", environment=elsewhere, code=10)
    await shell.run("whoami", "--base-url", "ftp://127.0.0.1", code=2)
    await shell.run("whoami", environment={"CUTROOM_API_KEY": "rubbish"}, code=2)
    await shell.run("whoami", "--profile", "../x", code=2)
    narrow = await accounts.key(person, scopes=[Scope.JOBS_READ])
    shell.secrets.append(narrow.secret)
    await shell.run("login", "--with-key", "--profile", "narrow", "--max-credits", "0.5", stdin=narrow.secret)
    await shell.run("videos", "list", "--profile", "narrow", code=4)
    await shell.run("videos", "list", environment={"CUTROOM_PROFILE": "narrow"}, code=4)
    listed = (await shell.run("profiles")).document["profiles"]
    shell.expect("profiles", found=[each["name"] for each in listed], expected=["default", "narrow"])
    shell.expect("limit of the profile", found=listed[1]["maxCredits"], expected=0.5)
    await shell.run("logout", "--profile", "narrow")
    await shell.run("videos", "list", "--profile", "narrow", code=3)


async def prove_browser(shell: Shell, stage: CommandStage) -> None:
    """The browser login: allowed, denied, forged redirects, and revocation on logout."""
    settings = stage.stage.settings
    async with open_runtime(settings.model_copy(update={"api_database_url": None})) as runtime:
        user = await BrowserUser.sign_in(runtime, stage.stage.api.url, stage.stage.person)
        async with httpx.AsyncClient() as browser:
            login = shell.start("login", "--no-browser", "--profile", "browser")
            fields = await _asked(await login.until("/oauth/authorize"))
            callback = fields["redirect_uri"]
            for name, forged in {
                "a wrong state": f"{callback}?code=oac_x&state=wrong",
                "no state": f"{callback}?code=oac_x",
                "a repeated field": f"{callback}?code=a&code=b&state={fields['state']}",
                "another path": f"{callback}/more?code=x&state={fields['state']}",
            }.items():
                answer = await browser.get(forged)
                shell.expect(f"{name} is ignored", found=answer.status_code, expected=404)
            rebound = await browser.get(f"{callback}?code=x&state={fields['state']}", headers={"Host": "evil.example"})
            shell.expect("another host is ignored", found=rebound.status_code, expected=404)
            library = stage.stage.person.library_id
            granted = [scope.value for scope in Scope if scope is not Scope.TTS_WRITE]
            sent = await _consent(user, fields, library, scopes=granted)
            shell.expect("the page says so", found="You are logged in" in (await browser.get(sent)).text)
            ran = shell.judge(login.wait(), code=0)
            shell.expect("library", found=ran.document["library"]["id"], expected=library)
            shell.expect(
                "whoami",
                found=(await shell.run("whoami", "--profile", "browser")).document["profile"],
                expected="browser",
            )
            keys = (await user.client.get("/keys")).text
            shell.expect("the key is listed", found="Command line on" in keys)
            await shell.run("logout", "--profile", "browser")
            shell.expect(
                "logout revokes the key",
                found="Command line on" in (await user.client.get("/keys")).text,
                expected=False,
            )
            denied = shell.start("login", "--no-browser", "--profile", "browser")
            fields = await _asked(await denied.until("/oauth/authorize"))
            await browser.get(await _consent(user, fields, library, scopes=granted, answer="deny"))
            shell.judge(denied.wait(), code=3)
        await user.client.aclose()


async def _asked(output: str) -> dict[str, str]:
    page = _PAGE.search(output)
    assert page is not None, output
    return dict(parse_qsl(urlsplit(page[1]).query))


async def _consent(
    user: BrowserUser, fields: dict[str, str], library: str, *, scopes: list[str], answer: str = "allow"
) -> str:
    """Answers the page; returns where the browser is sent to."""
    form = {**fields, "csrf": await user.csrf(), "library": library, "scope_granted": scopes, "answer": answer}
    found: str = (await user.client.post("/oauth/authorize", data=form)).headers["location"]
    return found
