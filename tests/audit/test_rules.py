"""Rules of the hash chain, as properties over generated logs and manipulations."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.audit.rules import (
    EMPTY,
    GENESIS,
    MAX_TEXT,
    AuditEntry,
    ChainedEntry,
    ChainFault,
    ChainHead,
    ChainVerifier,
    canonical,
    chain_hash,
    parse_head,
    recordable_url,
    shortened,
    target_ids,
)

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
TEXT = st.text(max_size=20)
DOCUMENTS = st.dictionaries(TEXT, st.one_of(TEXT, st.integers(), st.booleans(), st.none(), st.lists(TEXT)), max_size=4)


def keyed_hash(text: str) -> bytes:
    return hmac.digest(b"test", text.encode(), "sha256")


@st.composite
def entries(draw: st.DrawFn) -> list[AuditEntry]:
    count = draw(st.integers(min_value=1, max_value=8))
    return [
        AuditEntry(
            library_id="library",
            sequence=number,
            at=NOW + timedelta(microseconds=draw(st.integers(0, 10**12))),
            action=draw(TEXT),
            actor_kind=draw(st.sampled_from(["key", "token", "person", "guest", "system"])),
            actor_id=draw(TEXT),
            user_id=draw(st.none() | TEXT),
            targets=draw(DOCUMENTS),
            client_address=draw(st.none() | TEXT),
            request_id=draw(st.none() | TEXT),
            details=draw(DOCUMENTS),
        )
        for number in range(1, count + 1)
    ]


def chained(log: Sequence[AuditEntry]) -> list[ChainedEntry]:
    previous, made = GENESIS, []
    for entry in log:
        previous = chain_hash(keyed_hash, previous, entry)
        made.append(ChainedEntry(entry, previous))
    return made


def head_of(log: Sequence[ChainedEntry]) -> ChainHead:
    return ChainHead(log[-1].entry.sequence, log[-1].hash) if log else EMPTY


def faults(log: Sequence[ChainedEntry], head: ChainHead, expected: ChainHead | None = None) -> list[ChainFault]:
    verifier = ChainVerifier(keyed_hash, expected)
    for each in log:
        verifier.check(each)
    verifier.finish(head)
    return verifier.faults


@given(entries())
def test_untouched_log_has_no_faults(log: list[AuditEntry]) -> None:
    made = chained(log)
    assert faults(made, head_of(made), head_of(made)) == []
    assert faults(made, head_of(made), head_of(made[:1])) == []


def test_empty_log_has_no_faults() -> None:
    assert faults([], EMPTY) == []


@given(entries(), st.data())
def test_any_changed_field_is_found_where_it_was_changed(log: list[AuditEntry], data: st.DataObject) -> None:
    made = chained(log)
    place = data.draw(st.integers(0, len(made) - 1))
    change: tuple[str, Any] = data.draw(
        st.sampled_from(
            [
                ("library_id", "other"),
                ("at", made[place].entry.at + timedelta(microseconds=1)),
                ("action", made[place].entry.action + "x"),
                ("actor_kind", "other"),
                ("actor_id", made[place].entry.actor_id + "x"),
                ("user_id", (made[place].entry.user_id or "") + "x"),
                ("targets", {**made[place].entry.targets, "added": 1}),
                ("client_address", (made[place].entry.client_address or "") + "x"),
                ("request_id", (made[place].entry.request_id or "") + "x"),
                ("details", {**made[place].entry.details, "added": 1}),
            ]
        )
    )
    tampered = list(made)
    tampered[place] = ChainedEntry(replace(made[place].entry, **dict([change])), made[place].hash)
    assert [fault.sequence for fault in faults(tampered, head_of(made))] == [place + 1]


@given(entries(), st.data())
def test_removed_entry_is_found(log: list[AuditEntry], data: st.DataObject) -> None:
    made = chained(log)
    place = data.draw(st.integers(0, len(made) - 1))
    assert faults(made[:place] + made[place + 1 :], head_of(made))


@given(entries(), st.data())
def test_removed_entries_with_later_ones_renumbered_are_found(log: list[AuditEntry], data: st.DataObject) -> None:
    made = chained(log)
    place = data.draw(st.integers(0, len(made) - 1))
    rest = [
        ChainedEntry(replace(each.entry, sequence=each.entry.sequence - 1), each.hash) for each in made[place + 1 :]
    ]
    left = [*made[:place], *rest]
    assert faults(left, ChainHead(len(left), made[-1].hash))


@given(entries())
def test_truncated_log_with_a_turned_back_head_is_found_only_against_a_kept_head(log: list[AuditEntry]) -> None:
    made = chained(log)
    assert faults(made[:-1], head_of(made[:-1])) == []
    assert faults(made[:-1], head_of(made[:-1]), head_of(made))


@given(entries())
def test_log_that_was_written_anew_is_found_only_with_another_key_or_a_kept_head(log: list[AuditEntry]) -> None:
    made = chained([replace(log[0], action="forged"), *log[1:]])
    kept = head_of(chained([replace(log[0], action="original"), *log[1:]]))
    assert faults(made, head_of(made), kept)
    unkeyed = [ChainedEntry(each.entry, hashlib.sha256(canonical(each.entry).encode()).digest()) for each in made]
    assert faults(unkeyed, head_of(unkeyed))


def test_head_survives_its_text_form() -> None:
    head = ChainHead(12, bytes(range(32)))
    assert parse_head(str(head)) == head
    for text in ("", "12", "12:ab", f"x:{'0' * 64}", f"-1:{'0' * 64}"):
        with pytest.raises(ValueError, match="SEQUENCE:HASH"):
            parse_head(text)


def test_targets_are_ids_only() -> None:
    document = {
        "id": "a",
        "videoId": "b",
        "voice_id": "c",
        "workspaceId": "w",
        "secret": "s",
        "title": "t",
        "count": 3,
        "jobs": [{"id": "j1"}, {"other": 1}],
    }
    assert target_ids(document) == {"id": "a", "videoId": "b", "voiceId": "c", "jobIds": ["j1"]}


def test_long_settings_are_cut() -> None:
    cut = shortened({"guidelines": "x" * 5_000, "colors": ["#000000"] * 1_000, "count": 2})
    assert len(cut["guidelines"]) == MAX_TEXT
    assert len(cut["colors"]) == 100
    assert cut["count"] == 2


@pytest.mark.parametrize(
    ("url", "recorded"),
    [
        ("https://hooks.example.com/a?token=secret#part", "https://hooks.example.com/a"),
        ("https://user:secret@hooks.example.com:8443/", "https://hooks.example.com:8443/"),
    ],
)
def test_recorded_url_has_no_credentials_query_or_fragment(url: str, recorded: str) -> None:
    assert recordable_url(url) == recorded
