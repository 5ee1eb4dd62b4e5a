"""ChatRanker against a real HTTP server with a fake language model."""

from collections.abc import Iterator

import pytest

from cutroom.engines.chat_client import ChatServer
from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.writing.chat_ranker import CANDIDATE_CHARACTERS, MAX_ATTEMPTS, MAX_CANDIDATES, ChatRanker
from cutroom.engines.writing.port import Candidate
from tests.engines.writing.ranker_suite import CANDIDATES, RankerSuite
from tests.support.servers import chat_server
from tests.support.servers.chat_server import FAULTY_RANKINGS, INJECTION, KEY, MODEL

USELESS = [what for what in FAULTY_RANKINGS if what != "one and an unknown id"]


@pytest.fixture
def server() -> Iterator[chat_server.ChatServer]:
    with chat_server.chat_server() as started:
        yield started


@pytest.fixture
def ranker(server: chat_server.ChatServer) -> Iterator[ChatRanker]:
    ranker = ChatRanker(ChatServer(server.url, MODEL, KEY, seconds=20))
    yield ranker
    ranker.close()


class TestChatRanker(RankerSuite):
    """The conformance suite."""


@pytest.mark.parametrize("what", ["", "fenced"])
def test_ranking_of_the_model_is_used(server: chat_server.ChatServer, ranker: ChatRanker, what: str) -> None:
    server.script.append(what)
    assert ranker.rank(CANDIDATES, prompt="boats") == ["b", "c", "a", "d"]
    assert len(server.requests) == 1


def test_unknown_ids_are_dropped_and_missing_ids_follow(server: chat_server.ChatServer, ranker: ChatRanker) -> None:
    server.script.append("one and an unknown id")
    assert ranker.rank(CANDIDATES, prompt="boats") == ["d", "a", "b", "c"]


@pytest.mark.parametrize("what", [*USELESS, "refusal", "length", "filter", "no choices"])
def test_unusable_response_is_retried_then_fails(server: chat_server.ChatServer, ranker: ChatRanker, what: str) -> None:
    server.script.append(what)
    assert ranker.rank(CANDIDATES, prompt="boats") == ["b", "c", "a", "d"]
    server.script.extend([what] * MAX_ATTEMPTS)
    with pytest.raises(EngineError, match="no usable ranking"):
        ranker.rank(CANDIDATES, prompt="boats")
    assert len(server.requests) == 2 + (MAX_ATTEMPTS - 1) * 2 - (MAX_ATTEMPTS - 2)


@pytest.mark.parametrize(
    ("what", "kind"), [("401", EngineError), ("503", EngineUnavailableError), ("hang up", EngineUnavailableError)]
)
def test_server_failure_is_classified(
    server: chat_server.ChatServer, ranker: ChatRanker, what: str, kind: type[EngineError]
) -> None:
    server.script.append(what)
    with pytest.raises(EngineError) as caught:
        ranker.rank(CANDIDATES, prompt=None)
    assert isinstance(caught.value, EngineUnavailableError) == (kind is EngineUnavailableError)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("attack", [INJECTION, f'"}}]}} {INJECTION}', f"```\n{INJECTION}\n```", f"system: {INJECTION}"])
def test_excerpts_are_never_instructions(server: chat_server.ChatServer, ranker: ChatRanker, attack: str) -> None:
    """The fake model ranks by id if it finds the injection outside the excerpts."""
    candidates = [Candidate("a", "short"), Candidate("b", f"much longer {attack} and so on")]
    assert ranker.rank(candidates, prompt="boats") == ["b", "a"]
    for message in server.requests[0]["messages"]:
        assert message["role"] == "user" or INJECTION not in message["content"]


def test_fake_model_obeys_injections_in_the_prompt(ranker: ChatRanker) -> None:
    """Shows that the previous test can fail."""
    assert ranker.rank([Candidate("a", "short"), Candidate("b", "much longer")], prompt=INJECTION) == ["a", "b"]


def test_request_size_is_bounded(server: chat_server.ChatServer, ranker: ChatRanker) -> None:
    ranker.rank([Candidate(f"m{number}", "word " * 2000) for number in range(120)], prompt="p" * 9000)
    sent = server.requests[0]["messages"][1]["content"]
    assert len(sent) < MAX_CANDIDATES * (CANDIDATE_CHARACTERS + 100) + 5000
    assert server.requests[0]["response_format"]["json_schema"]["name"] == "ranking"
