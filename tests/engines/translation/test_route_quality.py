"""Routes are rated by measurements, or by the operator; what was never measured is a draft."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.translation.port import Quality, Route
from cutroom.engines.translation.route_quality import ModelDirection, load_measurements, load_ratings

ENTRY = """[[measured]]
engine = "firefox"
model = "firefox-{source}-{target}"
source = "{source}"
target = "{target}"
right = {right}
lines = {lines}
fingerprint = "{fingerprint}"
"""


def entry(source: str, target: str, right: int, lines: int = 100, fingerprint: str = "0" * 64) -> str:
    return ENTRY.format(source=source, target=target, right=right, lines=lines, fingerprint=fingerprint)


def direction(source: str, target: str, model: str | None = None) -> ModelDirection:
    return ModelDirection("firefox", model or f"firefox-{source}-{target}", source, target)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "route_quality.toml"
    path.write_text(entry("en", "pt", 80) + entry("de", "en", 95) + entry("fr", "en", 64))
    return path


@pytest.mark.parametrize(
    ("source", "target", "route"),
    [
        ("en", "pt", Route("en", "pt", Quality.REVIEW, share=0.8)),
        ("de", "en", Route("de", "en", Quality.PUBLISHABLE, share=0.95)),
        ("fr", "en", Route("fr", "en", Quality.DRAFT, share=0.64)),
        ("pt", "en", Route("pt", "en", Quality.DRAFT)),
    ],
)
def test_share_sets_the_class(table: Path, source: str, target: str, route: Route) -> None:
    assert load_ratings(path=table).rate(direction(source, target)) == route


def test_measurement_holds_for_one_model(table: Path) -> None:
    rated = load_ratings(path=table).rate(direction("en", "pt", model="firefox-en-pt-base"))
    assert (rated.quality, rated.share) == (Quality.DRAFT, None)


def test_pivot_within_an_engine_multiplies_shares(table: Path) -> None:
    ratings = load_ratings(path=table)
    route = ratings.rate(direction("de", "en"), direction("en", "pt"))
    assert (route.source, route.target, route.via, route.quality) == ("de", "pt", ("en",), Quality.REVIEW)
    assert route.share == pytest.approx(0.76)
    assert ratings.rate(direction("ja", "en"), direction("en", "pt")).quality is Quality.DRAFT


def test_operator_class_replaces_the_measured_one(table: Path) -> None:
    ratings = load_ratings(["firefox:EN-pt:publishable", "chat:en-pt-PT:review"], table)
    assert ratings.rate(direction("en", "pt")) == Route("en", "pt", Quality.PUBLISHABLE)
    assert ratings.rate(ModelDirection("chat", "any", "en", "pt-PT")).quality is Quality.REVIEW
    assert ratings.rate(ModelDirection("chat", "any", "en", "pt")).quality is Quality.DRAFT


@pytest.mark.parametrize("text", ["", "chat", "chat:en-pt", "chat:enpt:review", "chat:en-pt:good", "a:b-c:review:d"])
def test_malformed_operator_class_is_refused(text: str) -> None:
    with pytest.raises(EngineUnavailableError, match="CUTROOM_ROUTE_QUALITY"):
        load_ratings([text])


@pytest.mark.parametrize(
    "text",
    [
        entry("en", "pt", 1, lines=0),
        entry("en", "pt", -1),
        entry("en", "pt", 3, lines=2),
        entry("en", "pt", 1, fingerprint="none"),
        entry("en", "pt", 1) + 'quality = "publishable"\n',
        entry("en", "pt", 1) + entry("EN", "pt", 2).replace("firefox-EN-pt", "firefox-en-pt"),
    ],
)
def test_malformed_table_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(text)
    with pytest.raises((ValidationError, ValueError)):
        load_measurements(path)


def test_bundled_table_is_valid() -> None:
    for found, measurement in load_measurements().items():
        assert 0 <= measurement.share <= 1
        assert load_ratings().rate(found).quality is Quality.of_share(measurement.share)
