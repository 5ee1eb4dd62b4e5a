"""Tests what the command line stores: profiles, keys, and who can read them."""

import json
import stat
from pathlib import Path

import pytest
from cutroom_client.cli.credentials import checked_key, delete_key, store_key, stored_key
from cutroom_client.cli.exits import CommandError, Exit
from cutroom_client.cli.profiles import Profile, config_dir, load_profile, load_profiles, profile_name, save_profile
from cutroom_client.cli.session import Session

KEY = "cr_" + "aB3" * 15 + "x"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_can_read_what_is_stored(tmp_path: Path) -> None:
    folder = tmp_path / "config"
    store_key(folder, "work", KEY, store="file")
    save_profile(folder, Profile("work", "https://video.example.com", 20, "file"))
    assert [mode(each) for each in (folder, folder / "credentials.json", folder / "config.json")] == [
        0o700,
        0o600,
        0o600,
    ]
    assert KEY not in (folder / "config.json").read_text()
    assert stored_key(folder, load_profile(folder, "work")) == KEY
    (folder / "credentials.json").chmod(0o644)
    stored_key(folder, load_profile(folder, "work"))
    assert mode(folder / "credentials.json") == 0o600


def test_profiles_are_kept_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        store_key(tmp_path, name, KEY, store="file")
        save_profile(tmp_path, Profile(name, f"https://{name}.example.com", None, "file"))
    delete_key(tmp_path, load_profile(tmp_path, "a"))
    assert stored_key(tmp_path, load_profile(tmp_path, "a")) is None
    assert stored_key(tmp_path, load_profile(tmp_path, "b")) == KEY
    assert sorted(load_profiles(tmp_path)) == ["a", "b"]
    assert load_profile(tmp_path, "c") == Profile("c")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"profiles": []}',
        '{"profiles": {"default": {"baseUrl": 3}}}',
        '{"profiles": {"default": {"maxCredits": -1}}}',
    ],
)
def test_a_damaged_configuration_is_reported(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(CommandError):
        load_profile(tmp_path, "default")


@pytest.mark.parametrize("name", ["", "../x", "a/b", "-a", "a" * 65, "a\n"])
def test_profile_names_are_checked(name: str) -> None:
    if not name:
        assert profile_name(name, {}) == "default"
        return
    with pytest.raises(CommandError):
        profile_name(name, {})


@pytest.mark.parametrize("text", ["", "cr_x", KEY[:-1], KEY + "x", "oat_" + KEY[3:], KEY.replace("a", "ä")])
def test_a_wrong_key_is_not_repeated(text: str) -> None:
    with pytest.raises(CommandError) as caught:
        checked_key(text)
    assert not text or text not in caught.value.message


def test_environment_selects_profile_and_folder() -> None:
    assert profile_name(None, {"CUTROOM_PROFILE": "work"}) == "work"
    assert profile_name("home", {"CUTROOM_PROFILE": "work"}) == "home"
    assert config_dir({"CUTROOM_CONFIG_DIR": "/a/b"}) == Path("/a/b")
    assert config_dir({"XDG_CONFIG_HOME": "/a"}) == Path("/a/cutroom")


def session(folder: Path, url: str | None = None, **environment: str) -> Session:
    opened = Session.open(profile=None, base_url=url, as_json=True, quiet=False)
    return Session(opened.output, folder, load_profile(folder, "default"), url, environment)


def test_a_key_is_sent_to_its_own_service_only(tmp_path: Path) -> None:
    with pytest.raises(CommandError) as caught:
        _ = session(tmp_path).api_key
    assert caught.value.exit_code is Exit.AUTHENTICATION
    store_key(tmp_path, "default", KEY, store="file")
    save_profile(tmp_path, Profile("default", "https://video.example.com", 2.5, "file"))
    assert session(tmp_path).api_key == KEY
    for url in ("http://video.example.com", "https://video.example.com:8443", "https://evil.example"):
        with pytest.raises(CommandError, match="sent nowhere else"):
            _ = session(tmp_path, url).api_key
    assert session(tmp_path, "https://evil.example", CUTROOM_API_KEY=KEY).api_key == KEY  # given for this command


def test_limits_come_from_the_command_or_the_profile(tmp_path: Path) -> None:
    save_profile(tmp_path, Profile("default", None, 2.5, None))
    assert session(tmp_path).limit(None) == 2.5
    assert session(tmp_path).limit(0.1 + 0.2) == 0.3
    assert session(tmp_path).limit(0) == 0
    assert json.loads((tmp_path / "config.json").read_text())["profiles"]["default"] == {"maxCredits": 2.5}
