"""Log lines are JSON with credentials and URL queries redacted."""

import json
import logging
import sys
from datetime import datetime
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from cutroom.accounts.keys import KEY_PREFIX, TOKEN_PREFIX, generate_credential
from cutroom.platform.telemetry import (
    AccessLog,
    JsonFormatter,
    RedactingExporter,
    continued_trace,
    current_trace_context,
    redact,
    request_id,
)

KEY = generate_credential(KEY_PREFIX)
TOKEN = generate_credential(TOKEN_PREFIX)
WEBHOOK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw+/9aBcDeF0="
FILE_TOKEN = f"fl_6f0c1d2e{'4f5e6d7c' * 4}"
PLAYBACK_TOKEN = f"pb_6f0c1d2e{'4f5e6d7c' * 4}"
SIGNED = "X-Goog-Signature=4f5e6d7c"
MAIL_LINK_SECRET = f"ml_{'4f5e6d7c' * 8}"
INVITATION_SECRET = f"inv_{'4f5e6d7c' * 6}"
SECRETS = {
    "key": KEY,
    "token": TOKEN,
    "webhook secret": WEBHOOK_SECRET,
    "file token": FILE_TOKEN,
    "playback token": PLAYBACK_TOKEN,
    "secret of a mailed link": MAIL_LINK_SECRET,
    "secret of an invitation": INVITATION_SECRET,
}
AROUND = {
    "alone": "{}",
    "after a word": "refused {} twice",
    "in a header": "Authorization: Bearer {}",
    "as a parameter": "key={}&x=1",
    "quoted": "'{}'",
    "in JSON": '{{"key": "{}"}}',
    "on a line of its own": "refused:\n{}\n",
    "after a tab": "key\t{}",
    "after a carriage return": "key\r\n{}",
    "after a letter": "Bearer%20{}",
    "after an underscore": "sent_{}",
    "twice": "{0} {0}",
}


def record(message: str, *arguments: object, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("cutroom.test", logging.INFO, __file__, 1, message, arguments, None)
    vars(made).update(extra)
    return made


def line_of(made: logging.LogRecord) -> dict[str, Any]:
    text = JsonFormatter().format(made)
    assert "\n" not in text
    line: dict[str, Any] = json.loads(text)
    return line


def raised(error: Exception) -> logging.LogRecord:
    made = record("unexpected error")
    try:
        raise error
    except type(error):
        made.exc_info = sys.exc_info()
    return made


def everywhere(text: str) -> list[str]:
    """Log lines with the text in every field."""
    records = (
        record("%s", text),
        record("x", headers={"a": [text]}),
        record("x", headers={text: 1}),
        record("x", error=ValueError(text)),
        raised(ValueError(text)),
    )
    return [JsonFormatter().format(each) for each in records]


def test_line_is_one_json_object() -> None:
    line = line_of(record("took %d ms", 12))
    assert datetime.fromisoformat(line.pop("time")).tzinfo is not None
    assert line == {"level": "INFO", "logger": "cutroom.test", "message": "took 12 ms"}


def test_multiline_message_stays_on_one_line() -> None:
    assert line_of(record('first\nsecond "quoted" ünï\u2028'))["message"] == 'first\nsecond "quoted" ünï\u2028'


def test_extra_fields_are_top_level() -> None:
    line = line_of(record("ready", queues=["control"], count=2, at=datetime(2026, 1, 2)))  # noqa: DTZ001
    assert (line["queues"], line["count"], line["at"]) == (["control"], 2, "2026-01-02 00:00:00")


def test_request_id_is_added() -> None:
    token = request_id.set("01j9z3k4m5n6p7q8r9s0t1v2w3")
    try:
        assert line_of(record("x"))["request_id"] == "01j9z3k4m5n6p7q8r9s0t1v2w3"
    finally:
        request_id.reset(token)
    assert "request_id" not in line_of(record("x"))


def test_traceback_is_included() -> None:
    exception = line_of(raised(LookupError("no such part")))["exception"]
    assert "Traceback" in exception
    assert exception.endswith("LookupError: no such part")


@pytest.mark.parametrize("form", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_secrets_are_redacted_everywhere(secret: str, form: str) -> None:
    for formatted in everywhere(form.format(secret)):
        assert secret[8:] not in formatted
        assert "…" in formatted


URLS = {
    "plain": f"https://store.example.com/media/a.png?{SIGNED}",
    "http": f"http://127.0.0.1:8333/media/a.png?x=1&{SIGNED}",
    "upper case": f"HTTPS://store.example.com/a?{SIGNED}",
    "apostrophe in the path": f"https://store.example.com/it's.png?{SIGNED}",
    "apostrophe in the query": f"https://store.example.com/a?name='b'&{SIGNED}",
    "no path": f"https://store.example.com?{SIGNED}",
    "with fragment": f"https://store.example.com/a?{SIGNED}#t=1",
    "second question mark": f"https://store.example.com/a?b?{SIGNED}",
}


@pytest.mark.parametrize("url", URLS.values(), ids=URLS)
def test_url_query_is_redacted(url: str) -> None:
    assert not any("4f5e6d7c" in formatted for formatted in everywhere(url))


@pytest.mark.parametrize("form", AROUND.values(), ids=AROUND)
def test_url_query_is_redacted_everywhere(form: str) -> None:
    assert not any("4f5e6d7c" in formatted for formatted in everywhere(form.format(URLS["plain"])))


def test_details_of_database_errors_are_redacted() -> None:
    detail = 'duplicate key\nDETAIL:  Key (email)=(ada "x"@example.com) already exists.\nHINT:  Try again.'
    assert line_of(record(detail))["message"] == "duplicate key\nDETAIL: …\nHINT:  Try again."
    assert line_of(record("failed", error=detail[:-18]))["error"] == "duplicate key\nDETAIL: …"


def test_url_without_query_is_kept() -> None:
    assert redact("got https://example.com/a/b?c=d from") == "got https://example.com/a/b?… from"


@pytest.mark.parametrize(
    "text",
    [
        "nothing to hide",
        "cr_",
        "a micr_o word",
        "is this it? yes",
        "https://example.com/a/b",
        "why? https://a.example/",
    ],
)
def test_other_text_is_not_redacted(text: str) -> None:
    assert redact(text) == text


def test_access_log_writes_one_json_line_per_request(capsys: pytest.CaptureFixture[str]) -> None:
    log = AccessLog("INFO")
    log.write({"method": "GET", "path": "/v1/videos\n", "status": 200})
    log.write({"method": "POST", "path": "/v1/folders", "status": 201})
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert datetime.fromisoformat(first.pop("time")).tzinfo is not None
    assert first == {
        "level": "INFO",
        "logger": "cutroom.access",
        "message": "request",
        "method": "GET",
        "path": "/v1/videos\n",
        "status": 200,
    }
    assert second["status"] == 201


@pytest.mark.parametrize(("level", "lines"), [("DEBUG", 1), ("INFO", 1), ("WARNING", 0), ("ERROR", 0)])
def test_access_log_respects_the_log_level(level: str, lines: int, capsys: pytest.CaptureFixture[str]) -> None:
    AccessLog(level).write({"status": 200})
    assert len(capsys.readouterr().out.splitlines()) == lines


def test_unknown_log_level_is_rejected() -> None:
    with pytest.raises(KeyError):
        AccessLog("CHATTY")


def test_trace_is_continued_from_stored_headers() -> None:
    tracer = TracerProvider().get_tracer("test")
    with tracer.start_as_current_span("request") as request:
        stored = current_trace_context()
    assert current_trace_context() is None
    with continued_trace(stored), tracer.start_as_current_span("later") as later:
        assert later.get_span_context().trace_id == request.get_span_context().trace_id
        assert line_of(record("working"))["trace_id"] == f"{request.get_span_context().trace_id:032x}"


def test_work_without_a_stored_trace_does_not_join_the_current_one() -> None:
    tracer = TracerProvider().get_tracer("test")
    with tracer.start_as_current_span("relay"), continued_trace(None):
        assert current_trace_context() is None


def test_exceptions_in_spans_are_redacted() -> None:
    exported = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(RedactingExporter(exported)))
    with pytest.raises(ValueError, match="refused"), provider.get_tracer("test").start_as_current_span("work"):
        raise ValueError(f"https://storage.example.com/a?{SIGNED} refused {KEY}")
    [span] = exported.get_finished_spans()
    text = span.to_json()
    assert "storage.example.com" in text
    assert SIGNED not in text
    assert KEY not in text
