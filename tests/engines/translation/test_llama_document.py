"""A document translated by a real, very small language model on llama.cpp; its prose is poor, the machinery is not."""

import json
from collections.abc import Iterator, Sequence

import httpx
import pytest

from cutroom.engines.chat_client import ChatServer
from cutroom.engines.llama_server import LlamaServer
from cutroom.engines.registry import GGUF_FILE, LOCAL_CHAT_URL
from cutroom.engines.translation import chat_document
from cutroom.engines.translation.chat import ChatTranslator
from cutroom.engines.translation.chat_messages import parse_answers, response_schema
from cutroom.engines.translation.document import DocumentLine, DocumentSpeaker, TranslationDocument
from cutroom.engines.translation.document_routing import translate_document
from cutroom.engines.translation.language_identification import FastLanguageIdentifier
from cutroom.engines.translation.port import Quality, Route, Translator
from cutroom.engines.translation.routing import plan_translation
from cutroom.engines.types import OnProgress
from tests.engines.translation.translator_suite import model_folder

MODEL = "smollm2-135m"
PORTUGUESE = {
    "The sea is cold.": "O mar está frio.",
    "We sold 17 bicycles.": "Vendemos 17 bicicletas.",
    "My sister saw the bridge.": "A minha irmã viu a ponte.",
}


class LocalTranslator:
    name = "local"

    def routes(self) -> Sequence[Route]:
        return [Route("en", "pt", Quality.DRAFT)]

    def translate(
        self, sentences: Sequence[str], *, source: str, target: str, on_progress: OnProgress | None = None
    ) -> list[str]:
        assert (source, target) == ("en", "pt")
        if on_progress:
            on_progress(1.0)
        return [PORTUGUESE[each] for each in sentences]


@pytest.fixture(scope="module")
def server() -> Iterator[LlamaServer]:
    started = LlamaServer(lambda: model_folder(MODEL) / GGUF_FILE, cpu_threads=1)
    yield started
    started.close()


def test_ids_are_echoed_by_schema(server: LlamaServer) -> None:
    """The grammar that llama.cpp makes of the schema allows exactly one string for each id."""
    schema = {"name": "translations", "strict": True, "schema": response_schema(3)}
    lines = [{"id": str(number), "text": text} for number, text in enumerate(PORTUGUESE, start=1)]
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": json.dumps({"lines": lines})}],
        "response_format": {"type": "json_schema", "json_schema": schema},
        "temperature": 0,
        "max_tokens": 400,
    }
    headers = {"Authorization": f"Bearer {server.key}"}
    with httpx.Client(timeout=300, trust_env=False) as client:
        url = f"{server.url()}/chat/completions"
        assert client.post(url, json=body).status_code == 401  # the key keeps other users of the machine out
        choice = client.post(url, json=body, headers=headers).json()["choices"][0]
    content = choice["message"]["content"]
    if choice["finish_reason"] == "length":  # such a small model may not find the end of a string
        assert content.replace(" ", "").startswith('{"translations":{"1":"')
    else:
        assert sorted(parse_answers(content, 3) or {}) == [1, 2, 3]


def test_every_line_is_translated_and_fallbacks_are_counted(
    server: LlamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "LINE_ATTEMPTS": 1,
        "WINDOW_ATTEMPTS": 1,
        "SPARE_TOKENS": 60,
        "TOKENS_PER_CHARACTER": 1,
    }.items():
        monkeypatch.setattr(chat_document, name, value)
    chat = ChatTranslator(
        ChatServer(
            LOCAL_CHAT_URL,
            MODEL,
            server.key,
            {("en", "pt"): Quality.PUBLISHABLE},
            seconds=300,
            concurrency=1,
            local=server,
        )
    )
    lines = tuple(DocumentLine(f"l{at}", text, "s1") for at, text in enumerate(PORTUGUESE))
    document = TranslationDocument("en", "pt", lines, (DocumentSpeaker("s1", "Ana", "female"),), "A talk")
    translators: list[Translator] = [chat, LocalTranslator()]
    plan = plan_translation(translators, source="en", target="pt")
    translation = translate_document(plan, document, translators=translators, identifier=FastLanguageIdentifier())
    assert [line.id for line in translation.lines] == ["l0", "l1", "l2"]
    assert all(line.text for line in translation.lines)
    counts = translation.counts
    assert counts.fallback_lines == sum(line.engine == "local" for line in translation.lines)
    assert all(line.reasons[0] == "fallback" for line in translation.lines if line.engine == "local")
    assert 1 <= counts.requests == 1 + counts.retries <= 4
    assert counts.fallback_lines <= counts.rejected_lines == counts.retries
    chat.close()


def test_server_is_started_again_after_it_ended(server: LlamaServer) -> None:
    first = server.url()
    server.close()
    second = server.url()
    assert second != first
    with httpx.Client(timeout=10, trust_env=False) as client:
        assert client.get(second.replace("/v1", "/health")).status_code == 200
