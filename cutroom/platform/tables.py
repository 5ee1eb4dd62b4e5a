"""The one metadata object that describes the schema; queries themselves are written as SQL."""

from datetime import datetime
from typing import Annotated

from sqlalchemy import BigInteger, DateTime, MetaData, Text
from sqlalchemy.orm import DeclarativeBase, mapped_column

# Byte order, so that ids sort in time and comparisons cost nothing.
Id = Annotated[str, mapped_column(Text(collation="C"))]
Instant = Annotated[datetime, mapped_column(DateTime(timezone=True))]
Millicredits = Annotated[int, mapped_column(BigInteger)]


class Table(DeclarativeBase):
    """A table at rest. Every table with a `library_id` is behind a row-level security policy."""

    metadata = MetaData(
        naming_convention={
            "ix": "%(table_name)s_%(column_0_N_name)s_idx",
            "uq": "%(table_name)s_%(column_0_N_name)s_key",
            "ck": "%(table_name)s_%(constraint_name)s_check",
            "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
            "pk": "%(table_name)s_pkey",
        }
    )
