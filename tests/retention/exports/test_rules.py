"""What is exported is decided for every table, column and prefix; names in the archive are safe and unique."""

import pytest
from sqlalchemy import LargeBinary

from cutroom.entrypoints.schema import METADATA
from cutroom.products.catalog import PRODUCTS
from cutroom.products.declaration import StorageKind
from cutroom.retention.exports.rules import (
    EXPORTED_TABLES,
    LEFT_OUT_COLUMNS,
    LEFT_OUT_PREFIXES,
    LEFT_OUT_TABLES,
    MAX_PARTS,
    PART_BYTES,
    PUBLIC_BYTES,
    SETTINGS_TABLES,
    ArchiveNames,
    part_size,
)

SECRET_WORDS = ("hash", "secret", "sealed", "token", "password", "hint", "code")
# Columns that share a word with secrets, but are none.
HARMLESS = {("jobs", "error_code"), ("videos", "default_language_code"), ("voice_consents", "samples_sha256")}


def test_every_table_of_a_library_is_exported_or_left_out_for_a_reason() -> None:
    of_library = {name for name, table in METADATA.tables.items() if "library_id" in table.columns}
    assert set(EXPORTED_TABLES).isdisjoint(LEFT_OUT_TABLES)
    assert {*EXPORTED_TABLES, *LEFT_OUT_TABLES} == of_library, "decide in exports/rules.py whether it is exported"
    assert all(LEFT_OUT_TABLES.values())


def test_every_binary_column_of_an_exported_table_is_left_out_or_public() -> None:
    binary = {
        (table, column.name)
        for table in EXPORTED_TABLES
        for column in METADATA.tables[table].columns
        if isinstance(column.type, LargeBinary)
    }
    left_out = {(table, column) for table, columns in LEFT_OUT_COLUMNS.items() for column in columns}
    assert binary - left_out == PUBLIC_BYTES


def test_columns_named_like_secrets_are_left_out() -> None:
    suspicious = {
        (table, column.name)
        for table in EXPORTED_TABLES
        for column in METADATA.tables[table].columns
        if any(word in column.name.split("_") for word in SECRET_WORDS)
    }
    left_out = {(table, column) for table, columns in LEFT_OUT_COLUMNS.items() for column in columns}
    assert suspicious - left_out - HARMLESS == set()


def test_left_out_columns_exist_in_exported_tables() -> None:
    for table, columns in LEFT_OUT_COLUMNS.items():
        assert table in EXPORTED_TABLES
        assert set(columns) <= set(METADATA.tables[table].columns.keys())
    assert set(SETTINGS_TABLES) <= set(EXPORTED_TABLES)


def test_every_product_with_objects_exports_them_or_leaves_them_out_for_a_reason() -> None:
    prefixes = {prefix for product in PRODUCTS for prefix in product.owns.objects}
    assert set(LEFT_OUT_PREFIXES) <= prefixes
    for product in PRODUCTS:
        kept = {name for name, kind in product.owns.objects.items() if kind is not StorageKind.INTERMEDIATE}
        remaining = kept - set(LEFT_OUT_PREFIXES)
        exports = product.export is not None or product.export_library is not None
        assert exports or not remaining, f"{product.name} declares no export of {sorted(remaining)}"


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("videos/01/source/launch.mp4", "videos/01/source/launch.mp4"),
        ("rows/voice_consents.jsonl", "rows/voice_consents.jsonl"),
        ("../../etc/passwd", "video/video/etc/passwd"),
        ("/etc/passwd", "video/etc/passwd"),
        ("a/./b", "a/video/b"),
        ("source/con.mp4", "source/video-con.mp4"),
        ("source/bell\x07\x1b[31m.mp4", "source/bell-31m.mp4"),
        ("source/back\\slash.mp4", "source/back-slash.mp4"),
        ("source/C:evil.mp4", "source/C-evil.mp4"),
        ("source/\u202egpj.exe", "source/gpj.exe"),
    ],
)
def test_names_in_the_archive_are_safe(name: str, safe: str) -> None:
    assert ArchiveNames().take(name) == safe


def test_long_names_keep_their_extension() -> None:
    name = ArchiveNames().take(f"source/{'é' * 400}.mp4")
    assert name.endswith(".mp4")
    assert all(len(component.encode()) <= 255 for component in name.split("/"))


def test_names_are_unique_whatever_their_case() -> None:
    names = ArchiveNames()
    assert [names.take(each) for each in ("a/B.mp4", "a/b.mp4", "a/b.mp4", "manifest.json")] == [
        "a/B.mp4",
        "a/b-2.mp4",
        "a/b-3.mp4",
        "manifest-2.json",
    ]


def test_part_size_grows_with_the_archive() -> None:
    assert part_size(1) == PART_BYTES
    assert -(-(5 * 2**40) // part_size(5 * 2**40)) <= MAX_PARTS
