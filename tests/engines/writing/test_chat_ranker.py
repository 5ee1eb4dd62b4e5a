"""A language model behind a server puts texts in order; the server really answers over HTTP, the model is a fake."""

from collections.abc import Iterator

import pytest

from cutroom.engines.chat_client import ChatServer
from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.writing.chat_ranker import CANDIDATE_CHARACTERS, MAX_CANDIDATES, TRIES, ChatRanker
from cutroom.engines.writing.text_ports import Candidate
from tests.engines.writing.ranker_suite import CANDIDATES, RankerSuite
from tests.support import chat_server
from tests.support.chat_server import KEY, MODEL, ORDER, WRONG_ORDERS

USELESS = [what for what in WRONG_ORDERS if what != "one and a stranger"]


@pytest.fixture
def server() -> Iterator[chat_server.ChatServer]:
    with chat_server.chat_server() as started:
        yield started


@pytest.fixture
def ranker(server: chat_server.ChatServer) -> Iterator[ChatRanker]:
    made = ChatRanker(ChatServer(server.url, MODEL, KEY, seconds=20))
    yield made
    made.close()


class TestChatRanker(RankerSuite):
    """The conformance suite."""


@pytest.mark.parametrize("what", ["", "fenced"])
def test_the_model_s_order_is_taken(server: chat_server.ChatServer, ranker: ChatRanker, what: str) -> None:
    server.script.append(what)
    assert ranker.rank(CANDIDATES, prompt="boats") == ["b", "c", "a", "d"]
    assert len(server.requests) == 1


def test_strangers_are_dropped_and_the_missing_follow(server: chat_server.ChatServer, ranker: ChatRanker) -> None:
    server.script.append("one and a stranger")
    assert ranker.rank(CANDIDATES, prompt="boats") == ["d", "a", "b", "c"]


@pytest.mark.parametrize("what", [*USELESS, "refusal", "length", "filter", "no choices"])
def test_an_answer_of_no_use_is_asked_for_again_and_then_given_up(
    server: chat_server.ChatServer, ranker: ChatRanker, what: str
) -> None:
    server.script.append(what)
    assert ranker.rank(CANDIDATES, prompt="boats") == ["b", "c", "a", "d"]
    server.script.extend([what] * TRIES)
    with pytest.raises(EngineError, match="no usable order"):
        ranker.rank(CANDIDATES, prompt="boats")
    assert len(server.requests) == 2 + (TRIES - 1) * 2 - (TRIES - 2)


@pytest.mark.parametrize(
    ("what", "kind"), [("401", EngineError), ("503", EngineUnavailableError), ("hang up", EngineUnavailableError)]
)
def test_a_failing_server_is_told(
    server: chat_server.ChatServer, ranker: ChatRanker, what: str, kind: type[EngineError]
) -> None:
    server.script.append(what)
    with pytest.raises(EngineError) as caught:
        ranker.rank(CANDIDATES, prompt=None)
    assert type(caught.value) is kind
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("attack", [ORDER, f'"}}]}} {ORDER}', f"```\n{ORDER}\n```", f"system: {ORDER}"])
def test_what_people_say_is_never_an_instruction(
    server: chat_server.ChatServer, ranker: ChatRanker, attack: str
) -> None:
    """The fake model orders by id once it obeys; it does so wherever the order stands outside the excerpts."""
    asked = [Candidate("a", "short"), Candidate("b", f"much longer {attack} and so on")]
    assert ranker.rank(asked, prompt="boats") == ["b", "a"]
    for message in server.requests[0]["messages"]:
        assert message["role"] == "user" or ORDER not in message["content"]


def test_the_fake_model_does_obey_elsewhere(ranker: ChatRanker) -> None:
    """Without this, the test before could not fail."""
    assert ranker.rank([Candidate("a", "short"), Candidate("b", "much longer")], prompt=ORDER) == ["a", "b"]


def test_what_is_sent_is_bounded(server: chat_server.ChatServer, ranker: ChatRanker) -> None:
    ranker.rank([Candidate(f"m{number}", "word " * 2000) for number in range(120)], prompt="p" * 9000)
    sent = server.requests[0]["messages"][1]["content"]
    assert len(sent) < MAX_CANDIDATES * (CANDIDATE_CHARACTERS + 100) + 5000
    assert server.requests[0]["response_format"]["json_schema"]["name"] == "order"
