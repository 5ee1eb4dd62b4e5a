"""Collects the tables of every package's `models` module, for migrations."""

import pkgutil
from importlib import import_module

import cutroom
from cutroom.platform.tables import Table

for _module in pkgutil.walk_packages(cutroom.__path__, "cutroom."):
    if _module.name.endswith(".models") and not _module.ispkg:
        import_module(_module.name)

METADATA = Table.metadata
