"""Rates translation routes by the share of lines right in meaning, as measured on held-out talks."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.translation.port import Quality, Route
from cutroom.text.language_tags import canonical_tag

BUNDLED_MEASUREMENTS = Path(__file__).with_name("route_quality.toml")


class ModelDirection(NamedTuple):
    """One model of an engine, in one direction."""

    engine: str
    model: str
    source: str
    target: str


class Measurement(BaseModel):
    """What a reading of a model's output has found."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    engine: str
    model: str
    source: str
    target: str
    right: Annotated[int, Field(ge=0, description="Lines right in meaning.")]
    lines: Annotated[int, Field(ge=1, description="Lines that were read.")]
    fingerprint: Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of the outputs that were read.")]

    @model_validator(mode="after")
    def _check_right(self) -> "Measurement":
        if self.right > self.lines:
            raise ValueError("more lines are right than were read")
        return self

    @property
    def share(self) -> float:
        return self.right / self.lines

    @property
    def direction(self) -> ModelDirection:
        return ModelDirection(self.engine, self.model, canonical_tag(self.source), canonical_tag(self.target))


class _Measurements(BaseModel):
    model_config = ConfigDict(extra="forbid")
    measured: list[Measurement] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RouteRatings:
    """Measured shares, and classes that the operator has set by engine, source and target."""

    shares: Mapping[ModelDirection, float] = field(default_factory=dict)
    operator_classes: Mapping[tuple[str, str, str], Quality] = field(default_factory=dict)

    def rate(self, *directions: ModelDirection, is_rule_based: bool = False) -> Route:
        """The route along one engine's directions. A direction that was never measured makes it a draft."""
        first, last = directions[0], directions[-1]
        via = tuple(each.target for each in directions[:-1])
        chosen = self.operator_classes.get((first.engine, first.source, last.target))
        if chosen is not None:
            return Route(first.source, last.target, chosen, via, is_rule_based=is_rule_based)
        found = [self.shares.get(each) for each in directions]
        measured = [share for share in found if share is not None]
        share = math.prod(measured) if len(measured) == len(found) else None
        quality = Quality.DRAFT if share is None else Quality.of_share(share)
        return Route(first.source, last.target, quality, via, share=share, is_rule_based=is_rule_based)


UNRATED = RouteRatings()


@cache
def load_measurements(path: Path = BUNDLED_MEASUREMENTS) -> Mapping[ModelDirection, Measurement]:
    """Raises ValueError if the table is malformed or has a direction twice."""
    tables = _Measurements.model_validate(tomllib.loads(path.read_text()))
    found = {each.direction: each for each in tables.measured}
    if len(found) < len(tables.measured):
        raise ValueError(f"{path.name} has more than one measurement of a direction")
    return found


def load_ratings(operator_classes: Sequence[str] = (), path: Path = BUNDLED_MEASUREMENTS) -> RouteRatings:
    """The ratings of the bundled table, with classes such as `chat:en-pt:review` that replace them."""
    shares = {direction: each.share for direction, each in load_measurements(path).items()}
    return RouteRatings(shares, dict(map(_parse_class, operator_classes)))


def _parse_class(text: str) -> tuple[tuple[str, str, str], Quality]:
    try:
        engine, pair, quality = text.split(":")
        source, target = pair.split("-", 1)
        return (engine, canonical_tag(source), canonical_tag(target)), Quality(quality)
    except ValueError as error:
        raise EngineUnavailableError(
            f"CUTROOM_ROUTE_QUALITY: {text!r} is not engine:source-target:class, such as chat:en-pt:review."
        ) from error
