"""SQLAlchemy metadata of the schema; queries are written in SQL."""

from datetime import datetime
from typing import Annotated

from sqlalchemy import BigInteger, DateTime, Integer, MetaData, Text, text
from sqlalchemy.orm import DeclarativeBase, mapped_column

SCHEMA_REVISION = "0015"  # the migration that this version of the code needs

# Byte-order collation: ids sort by time and compare cheaply.
Id = Annotated[str, mapped_column(Text(collation="C"))]
Instant = Annotated[datetime, mapped_column(DateTime(timezone=True))]
Millicredits = Annotated[int, mapped_column(BigInteger)]
# Incremented by a trigger when an editable column changes.
Revision = Annotated[int, mapped_column(Integer, server_default=text("1"))]


class Table(DeclarativeBase):
    """Base class of all tables; tables with a `library_id` have a row-level security policy."""

    metadata = MetaData(
        naming_convention={
            "ix": "%(table_name)s_%(column_0_N_name)s_idx",
            "uq": "%(table_name)s_%(column_0_N_name)s_key",
            "ck": "%(table_name)s_%(constraint_name)s_check",
            "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
            "pk": "%(table_name)s_pkey",
        }
    )
