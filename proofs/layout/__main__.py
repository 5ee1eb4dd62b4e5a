"""Code layout: one declaration per product, one owner per table, no import cycles, and the field's vocabulary."""

import sys
from collections import Counter
from contextlib import AbstractContextManager, nullcontext

from dev.environment import PROJECT
from dev.structure import example_product, modules, sql_ownership, vocabulary
from proofs.stage.report import Report, prove

PACKAGE = PROJECT / "cutroom"
MAX_OUTSIDE_FILES = 5
MAX_FLAT_FILES = 25
MAX_DUPLICATE_CLASSES = 10


async def proof(report: Report, short: bool) -> None:  # noqa: ARG001, FBT001 (one form: it only reads files)
    outside = example_product.outside_files()
    report.claim(
        "Files outside its folder that the example product edits",
        expected=f"at most {MAX_OUTSIDE_FILES}",
        measured=f"{len(outside)}: {', '.join(outside)}",
        holds=0 < len(outside) <= MAX_OUTSIDE_FILES,
    )
    writes = sql_ownership.foreign_writes(PACKAGE)
    reads = sql_ownership.foreign_private_reads(PACKAGE)
    uses = sum(1 for _ in sql_ownership.table_uses(PACKAGE))
    report.claim(
        f"SQL that writes a table of another package, of {uses} uses of tables",
        expected="0",
        measured=_listed(writes),
        holds=not writes and uses > 0,
    )
    report.claim(
        "SQL that reads a private table of another package", expected="0", measured=_listed(reads), holds=not reads
    )
    cycles = modules.import_cycles()
    report.claim(
        f"Import cycles over {', '.join(modules.PACKAGES)}",
        expected="0",
        measured="; ".join(", ".join(each) for each in cycles) or 0,
        holds=not cycles,
    )
    folders = modules.files_by_folder(PROJECT)
    fullest = max(folders, key=lambda folder: folders[folder])
    report.claim(
        f"Python files in the fullest of {len(folders)} folders",
        expected=f"at most {MAX_FLAT_FILES}",
        measured=f"{folders[fullest]} in {fullest}",
        holds=folders[fullest] <= MAX_FLAT_FILES,
    )
    terms = vocabulary.private_terms(PROJECT)
    most = ", ".join(f"{term} ({count})" for term, count in Counter(each.term for each in terms).most_common(10))
    report.claim("Private terms", expected="0", measured=most or 0, holds=not terms)
    duplicates = modules.duplicate_class_names(PACKAGE)
    report.claim(
        "Public class names declared in two or more modules",
        expected=f"at most {MAX_DUPLICATE_CLASSES}",
        measured=f"{len(duplicates)}: {', '.join(sorted(duplicates))}",
        holds=len(duplicates) <= MAX_DUPLICATE_CLASSES,
    )
    report.figures(
        product_outside_files=len(outside),
        foreign_sql_writes=len(writes),
        foreign_sql_reads=len(reads),
        import_cycles=len(cycles),
        flat_files_max=folders[fullest],
        private_terms=len(terms),
        duplicate_class_names=len(duplicates),
    )


def _listed(uses: list[sql_ownership.TableUse]) -> str:
    places = [f"{use.module.relative_to(PROJECT)}:{use.line} {use.table}" for use in uses]
    return f"{len(places)}: {'; '.join(places)}" if places else "0"


def no_services() -> AbstractContextManager[None]:
    return nullcontext()


if __name__ == "__main__":
    sys.exit(prove("Layout", proof, within=no_services))
