"""Tests the characters and brand voices pages."""

import struct
import zlib

import pytest

from cutroom.accounts.principals import Role
from cutroom.library.branding import add_image
from cutroom.library.rules import MAX_CHARACTER_IMAGES, character_path, uploaded_image_path
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn

MARKUP = "<script>alert(1)</script>"
SHOWN = "&lt;script&gt;alert(1)&lt;/script&gt;"
BRAND = {"name": "Calm", "guidelines": "Whisper.", "colors": "#102030, #A0B0C0"}


def png(side: int = 32) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = (b"\x00" + b"\x7f\x30\x20" * side) * side
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


async def make(browser: Browser, accounts: Accounts, person: Person, name: str = "Ada") -> str:
    response = await browser.send("/characters", {"name": name}, ("images", f"{MARKUP}.png", png()))
    assert response.status_code == 303, response.text
    sql = "SELECT id FROM characters WHERE library_id = $1 ORDER BY id DESC LIMIT 1"
    found: str = await accounts.connection.fetchval(sql, person.library_id)
    return found


async def jobs_of(accounts: Accounts, person: Person) -> int:
    sql = "SELECT count(*) FROM jobs WHERE library_id = $1 AND type = 'character'"
    found: int = await accounts.connection.fetchval(sql, person.library_id)
    return found


async def test_uploaded_image_is_listed_as_pending_until_processed(
    browser: Browser, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    await make(browser, accounts, person, MARKUP)
    page = (await browser.get("/characters")).text
    assert MARKUP not in page
    assert page.count(SHOWN) >= 2  # the name, and the file that is being looked at
    assert 'data-live="characters" hx-get="/characters" hx-trigger="live, saved from:body"' in page
    plan = "SELECT plan FROM jobs WHERE library_id = $1 AND type = 'character'"
    image_id = (await accounts.connection.fetchval(plan, person.library_id))["image_id"]
    assert await runtime.storage.size(uploaded_image_path(person.library_id, image_id)) == len(png())


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.txt", b"not an image", "a.txt is not a PNG, JPEG, WebP or GIF image."),
        ("huge.png", png()[:16] + struct.pack(">II", 60_000, 60_000) + png()[24:], "megapixels"),
        ("tiny.png", png(4), "less than 16 pixels"),
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is not a PNG"),
    ],
)
async def test_invalid_image_rejects_the_whole_form(
    browser: Browser, accounts: Accounts, person: Person, name: str, data: bytes, words: str
) -> None:
    response = await browser.send("/characters", {"name": "Ada"}, ("images", name, data))
    assert response.status_code == 400
    assert words in response.text
    assert "No characters yet" in (await browser.get("/characters")).text
    assert await jobs_of(accounts, person) == 0


async def test_image_limit_includes_pending_images(browser: Browser, accounts: Accounts, person: Person) -> None:
    character_id = await make(browser, accounts, person)
    many = [("images", f"{number}.png", png()) for number in range(MAX_CHARACTER_IMAGES)]
    refused = await browser.send(f"/characters/{character_id}/images", {}, *many)
    assert refused.status_code == 400
    assert (await browser.send(f"/characters/{character_id}/images", {}, *many[1:])).status_code == 303
    assert await jobs_of(accounts, person) == MAX_CHARACTER_IMAGES


async def test_character_can_be_renamed_and_deleted_and_its_images_removed(
    browser: Browser, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    character_id, image_id = await make(browser, accounts, person), new_id()
    path = character_path(person.library_id, image_id)
    await runtime.storage.put(path, png())
    await add_image(accounts.connection, person.library_id, character_id, image_id=image_id, path=path)
    assert (await browser.post(f"/characters/{character_id}/rename", {"name": "Grace"})).status_code == 303
    page = (await browser.get("/characters")).text
    assert "Grace" in page
    assert "1 of 10 images" in page
    removed = await browser.post(f"/characters/{character_id}/images/{image_id}/remove")
    assert removed.status_code == 303
    sql = "SELECT argument FROM outbox WHERE workflow_id = $1"
    assert await accounts.connection.fetchval(sql, f"delete-character-images_{image_id}") == {"paths": [path]}
    assert (await browser.post(f"/characters/{character_id}/delete")).status_code == 303
    assert "No characters yet" in (await browser.get("/characters")).text


async def test_brand_voices_are_created_changed_and_deleted(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    assert (await browser.post("/brand-voices", {**BRAND, "name": MARKUP})).status_code == 303
    page = (await browser.get("/brand-voices")).text
    assert MARKUP not in page
    assert SHOWN in page
    assert 'fill="#a0b0c0"' in page
    brand_id = await accounts.connection.fetchval(
        "SELECT id FROM brand_voices WHERE library_id = $1", person.library_id
    )
    changed = await browser.post(f"/brand-voices/{brand_id}", {"name": "Loud", "guidelines": "Shout.", "colors": ""})
    assert changed.status_code == 303
    assert "Shout." in (await browser.get("/brand-voices")).text
    assert (await browser.post(f"/brand-voices/{brand_id}/delete")).status_code == 303
    assert "No brand voices yet" in (await browser.get("/brand-voices")).text


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"guidelines": " "},
        {"colors": "red"},
        {"colors": '#123456"/><script>'},
        {"colors": " ".join(f"#00000{number}" for number in range(9))},
    ],
)
async def test_invalid_brand_voice_is_rejected(browser: Browser, fields: dict[str, str]) -> None:
    assert (await browser.post("/brand-voices", {**BRAND, **fields})).status_code == 400


async def test_other_libraries_and_viewers_cannot_change_characters_or_brand_voices(
    browser: Browser, sign_in: SignIn, accounts: Accounts, person: Person
) -> None:
    character_id = await make(browser, accounts, person)
    await browser.post("/brand-voices", BRAND)
    brand_id = await accounts.connection.fetchval(
        "SELECT id FROM brand_voices WHERE library_id = $1", person.library_id
    )
    paths = [f"/characters/{character_id}/delete", f"/brand-voices/{brand_id}/delete"]
    outsider = await sign_in(await accounts.person())
    for path in paths:
        assert (await outsider.post(path)).status_code == 404
    assert (await outsider.post(f"/brand-voices/{brand_id}", BRAND)).status_code == 404
    sent = await outsider.send(f"/characters/{character_id}/images", {}, ("images", "a.png", png()))
    assert sent.status_code == 404
    workspace_id, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    looking = await sign_in(viewer)
    await looking.post("/switch", {"library": workspace_id})
    assert "New character" not in (await looking.get("/characters")).text
    assert (await looking.send("/characters", {"name": "A"}, ("images", "a.png", png()))).status_code == 403
    assert (await looking.post("/brand-voices", BRAND)).status_code == 403
