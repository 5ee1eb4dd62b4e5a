"""What the documentation refers to."""

import pytest

from dev.docs.references import find_problems, page_problems

POST = "$ curl $API/videos/x/dubs -H 'Content-Type: application/json' -d "


def test_every_reference_of_the_documentation_holds() -> None:
    assert find_problems() == []


@pytest.mark.parametrize(
    "text",
    [
        "Set `CUTROOM_ASR_ENGINES`.",
        "`just prove speech-under-load --short`",
        "$ cutroom-server admin credits grant ada@example.com 100",
        "$ uv run --env-file .data/cutroom.env cutroom-server models verify",
        "`cutroom-server admin credits grant EMAIL CREDITS [--reference R]`",
        "`GET /v1/videos/{videoId}`",
        POST + """'{"languages": ["pt"]}'""",
        '$ curl "$API/videos?limit=2" \\\n    -H "Authorization: Bearer $KEY"',
    ],
)
def test_a_reference_that_holds(text: str) -> None:
    assert list(page_problems(text)) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Set `CUTROOM_ASR_" + "ENGINE`.", "unknown setting CUTROOM_ASR_" + "ENGINE"),
        ("`just prove nothing`", "`just prove nothing`: no module proofs.nothing"),
        ("`just polish`", "`just polish`: no recipe polish"),
        ("`python -m dev.nothing`", "`python -m dev.nothing`: no module dev.nothing"),
        ("$ cutroom-server model list", "`cutroom-server model list`: No such command 'model'"),
        (
            "$ cutroom-server admin credits grant a@example.com 5 --because x",
            "`cutroom-server admin credits grant a@example.com 5 --because x`: No such option: --because",
        ),
        ("`POST /v1/dubs`", "no operation POST /v1/dubs"),
        ("$ curl $API/dubs", "`curl $API/dubs`: no operation GET /v1/dubs"),
    ],
)
def test_a_reference_that_does_not_hold(text: str, problem: str) -> None:
    assert list(page_problems(text)) == [problem]


def test_a_request_body_follows_the_schema_of_its_operation() -> None:
    (problem,) = page_problems(POST + """'{"language": "pt"}'""")
    assert "'languages' is a required property" in problem or "'language' was unexpected" in problem
