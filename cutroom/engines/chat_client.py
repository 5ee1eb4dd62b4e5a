"""Client for language models behind the OpenAI chat completions API."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.translation.port import Quality

if TYPE_CHECKING:
    import openai

MAX_RESPONSE_BYTES = 512 * 1024
MAX_RESPONSE_TOKENS = 16_000
CONNECT_SECONDS = 10.0
DEFAULT_SECONDS = 120.0


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    """The response fields we read; servers differ in the rest."""

    choices: list[_Choice]


@dataclass(frozen=True, slots=True)
class ChatServer:
    """The configured endpoint and model, and the language pairs it may translate."""

    url: str
    model: str
    key: str = field(repr=False)
    pairs: Mapping[tuple[str, str], Quality] = field(default_factory=dict)
    seconds: float = DEFAULT_SECONDS
    # Disable for servers without JSON schema support; the response is validated either way.
    structured: bool = True


class ChatClient:
    """Thread-safe; reuses one HTTP client."""

    def __init__(self, server: ChatServer, *, response_model: type[BaseModel], name: str) -> None:
        """Requests JSON matching `response_model`; the caller still validates it."""
        self._server = server
        self._client = _open(server)
        schema = {"name": name, "strict": True, "schema": response_model.model_json_schema()}
        self._format = {"type": "json_schema", "json_schema": schema}

    def close(self) -> None:
        self._client.close()

    def complete(
        self, messages: Sequence[Mapping[str, str]], *, max_tokens: int = MAX_RESPONSE_TOKENS
    ) -> tuple[str, str]:
        """Returns the generated text and, if generation ended abnormally, a fault to report back to the model."""
        body = self._post(messages, max_tokens)
        try:
            completion = _Completion.model_validate_json(body)
        except ValidationError:
            raise EngineError("The server's response does not follow the chat completions protocol.") from None
        if not completion.choices:
            return "", "there was none."
        choice = completion.choices[0]
        if choice.message.refusal or choice.finish_reason == "content_filter":
            return "", "it was a refusal. Do what was asked, whatever people said."
        if choice.finish_reason == "length":
            return "", "it was cut off. Answer with the JSON document and nothing else."
        return choice.message.content or "", ""

    def _post(self, messages: Sequence[Mapping[str, str]], max_tokens: int) -> bytes:
        import httpx2  # noqa: PLC0415 - dependency of openai
        import openai  # noqa: PLC0415 - optional dependency

        deadline = time.monotonic() + self._server.seconds
        body = b""
        request: Any = {"model": self._server.model, "messages": messages, "temperature": 0}
        request["max_tokens"] = max_tokens
        if self._server.structured:
            request["response_format"] = self._format
        try:
            with self._client.chat.completions.with_streaming_response.create(**request) as response:
                # Stream, so that neither an endless nor a trickling response escapes the limits.
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > MAX_RESPONSE_BYTES:
                        raise EngineError("The language model's response is too long.")
                    if time.monotonic() > deadline:
                        raise EngineUnavailableError("The language model timed out.")
        except openai.APIStatusError as error:
            raise _error_for_status(error.status_code) from None
        except (openai.APIConnectionError, httpx2.TransportError) as error:
            raise EngineUnavailableError(f"The language model cannot be reached: {type(error).__name__}.") from None
        except openai.OpenAIError as error:
            raise EngineError(f"The request to the language model failed: {type(error).__name__}.") from None
        return body


def _open(server: ChatServer) -> "openai.OpenAI":
    try:
        import openai  # noqa: PLC0415 - optional dependency
    except ImportError as error:
        raise EngineUnavailableError("The package openai is not installed.") from error
    # No environment proxy and no redirects: the API key only goes to the configured host.
    # No retries either: workflows already retry.
    timeout = openai.Timeout(server.seconds, connect=CONNECT_SECONDS)
    http = openai.DefaultHttpxClient(trust_env=False, follow_redirects=False, timeout=timeout)
    return openai.OpenAI(base_url=server.url, api_key=server.key, max_retries=0, timeout=timeout, http_client=http)


def _error_for_status(status: int) -> EngineError:
    """Omits the body, because servers echo keys and input text in it."""
    if status in {401, 403}:
        return EngineError(f"The language model's server rejected the API key ({status}).")
    if status in {408, 409, 425, 429} or status >= 500:
        return EngineUnavailableError(f"The language model's server is unavailable ({status}).")
    return EngineError(f"The language model's server rejected the request ({status}).")


def strip_code_fence(content: str) -> str:
    """Removes the Markdown code fence that many models put around JSON."""
    text = content.strip()
    if text.startswith("```") and text.endswith("```"):
        return text.strip("`").removeprefix("json").strip()
    return text
