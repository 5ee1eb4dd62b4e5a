"""Translates a whole document with a language model: windows of lines with context, checked and repaired by line."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from cutroom.engines.chat_client import ChatClient
from cutroom.engines.errors import EngineBusyError, EngineError, RequestRejectedError
from cutroom.engines.translation.chat_messages import REASONS, PromptBuilder, parse_answers, response_schema
from cutroom.engines.translation.document import (
    CheckLine,
    DocumentTranslation,
    Finding,
    LineFault,
    TranslatedLine,
    TranslationCounts,
    TranslationDocument,
)
from cutroom.engines.types import OnProgress
from cutroom.text.passages import batches
from cutroom.text.placeholders import clean_sentence

WINDOW_LINES = 20
WINDOW_CHARACTERS = 4_000
WINDOW_ATTEMPTS = 2  # requests for a window whose response is unusable as a whole
LINE_ATTEMPTS = 2  # requests for a rejected line on its own
# Line retries per document: enough for single slips, and little enough that a hopeless model costs no more than twice.
RETRY_SHARE = 0.5
MIN_RETRIES = 20
BUSY_PAUSES_SECONDS = (2.0, 5.0, 15.0)  # if the server does not say how long
MAX_PAUSE_SECONDS = 60.0  # a server that asks for more counts as unavailable
POLL_SECONDS = 1.0  # how often progress is reported, which is also when a cancellation is noticed
TOKENS_PER_CHARACTER = 3  # an upper bound over all scripts
TOKENS_PER_LINE = 40
SPARE_TOKENS = 256


def translate_document(
    client: ChatClient,
    document: TranslationDocument,
    *,
    engine: str,
    check: CheckLine,
    concurrency: int,
    on_progress: OnProgress | None = None,
) -> DocumentTranslation:
    """Translates the windows of a document, `concurrency` at a time; the result does not depend on it."""
    run = _DocumentRun(client, document, engine=engine, check=check)
    windows = list(batches(run.texts, sentences=WINDOW_LINES, characters=WINDOW_CHARACTERS))
    lines = {
        at: TranslatedLine(line.id, text, engine)
        for at, (line, text) in enumerate(zip(document.lines, run.texts, strict=True))
    }
    counts = TranslationCounts()
    for result in _run_all(run, windows, concurrency, on_progress):
        lines |= result.lines
        counts += result.counts.total()
    run.raise_if_all_rejected()
    return DocumentTranslation(tuple(lines[at] for at in range(len(lines))), counts)


def _run_all(
    run: "_DocumentRun", windows: Sequence[list[int]], concurrency: int, on_progress: OnProgress | None
) -> "list[_WindowResult]":
    """Runs all windows; the first error, or one raised by `on_progress`, stops the others."""
    executor = ThreadPoolExecutor(max(1, concurrency), thread_name_prefix="chat-translation")
    futures = [executor.submit(run.translate_window, window) for window in windows]
    pending: set[Future[_WindowResult]] = set(futures)
    total = sum(map(len, windows))
    try:
        while pending:
            done, pending = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
            if on_progress:
                finished = (len(window) for window, each in zip(windows, futures, strict=True) if each not in pending)
                on_progress(sum(finished) / total)
    finally:
        run.stop.set()
        # Without waiting: a request in flight may take as long as the server's time limit.
        executor.shutdown(wait=False, cancel_futures=True)
    return [future.result() for future in futures]


@dataclass
class _Counter:
    """Mutable counts of one window."""

    requests: int = 0
    rejected_lines: int = 0
    retries: int = 0
    busy_waits: int = 0

    def total(self) -> TranslationCounts:
        return TranslationCounts(self.requests, self.rejected_lines, retries=self.retries, busy_waits=self.busy_waits)


@dataclass
class _WindowResult:
    lines: dict[int, TranslatedLine] = field(default_factory=dict)
    counts: _Counter = field(default_factory=_Counter)


class _StoppedError(EngineError):
    """Another window failed, or the caller cancelled."""


class _DocumentRun:
    """The translation of one document; windows run in several threads."""

    def __init__(self, client: ChatClient, document: TranslationDocument, *, engine: str, check: CheckLine) -> None:
        self.texts = [clean_sentence(line.text) for line in document.lines]
        self.stop = threading.Event()
        self._client = client
        self._document = document
        self._engine = engine
        self._check = check
        self._prompt = PromptBuilder(document, self.texts)
        self._lock = threading.Lock()
        self._retries_left = max(MIN_RETRIES, round(RETRY_SHARE * len(self.texts)))
        self._rejection: RequestRejectedError | None = None
        self._was_answered = False

    def translate_window(self, window: list[int]) -> _WindowResult:
        result = _WindowResult()
        answers = self._request_window(window, result.counts)
        for at in window:
            result.lines[at] = self._checked(at, answers.get(at))
        rejected = [at for at in window if result.lines[at].findings]
        result.counts.rejected_lines = len(rejected)
        for at in rejected:
            result.lines[at] = self._repair(at, result)
        return result

    def raise_if_all_rejected(self) -> None:
        """A server that rejects every request is configured wrongly; another engine must not hide that."""
        if self._rejection is not None and not self._was_answered:
            raise self._rejection

    def _request_window(self, window: list[int], counts: _Counter) -> dict[int, str]:
        fault = ""
        for attempt in range(WINDOW_ATTEMPTS):
            counts.retries += int(attempt > 0)
            # The fault is described in our words, as above.
            remark = f"The answer before was of no use: {fault}" if fault else ""
            answers, fault = self._request(window, counts, remark=remark)
            if answers:
                return answers
        return {}

    def _repair(self, at: int, result: _WindowResult) -> TranslatedLine:
        """Requests a rejected line on its own, with the reasons; returns the best translation of all attempts."""
        best = latest = result.lines[at]
        for _ in range(LINE_ATTEMPTS):
            if not self._may_retry():
                break
            result.counts.retries += 1
            reasons = dict.fromkeys(REASONS[each.fault] for each in latest.findings)
            remark = f"An earlier translation of this line was rejected: {'; '.join(reasons)}."
            translated = {other: line.text for other, line in result.lines.items() if not line.findings}
            answers, _ = self._request(
                [at], result.counts, remark=remark, findings=latest.findings, translated=translated
            )
            before, latest = latest, self._checked(at, answers.get(at))
            best = min(best, latest, key=TranslatedLine.severity)
            if not latest.findings or latest == before:
                break
        return best

    def _may_retry(self) -> bool:
        with self._lock:
            self._retries_left -= 1
            return self._retries_left >= 0

    def _checked(self, at: int, answer: str | None) -> TranslatedLine:
        line = self._document.lines[at]
        if answer is None:
            return TranslatedLine(line.id, "", self._engine, (Finding(LineFault.NO_ANSWER),))
        text = clean_sentence(answer)
        return TranslatedLine(line.id, text, self._engine, tuple(self._check(line, text)))

    def _request(
        self,
        window: Sequence[int],
        counts: _Counter,
        *,
        remark: str,
        findings: Sequence[Finding] = (),
        translated: Mapping[int, str] | None = None,
    ) -> tuple[dict[int, str], str]:
        """The translations by line index and, if the response is unusable as a whole, the fault."""
        messages = [
            {"role": "system", "content": self._prompt.rules},
            *([{"role": "system", "content": remark}] if remark else []),
            {"role": "user", "content": self._prompt.content(window, findings=findings, translated=translated or {})},
        ]
        characters = sum(len(self.texts[at]) for at in window)
        tokens = SPARE_TOKENS + TOKENS_PER_LINE * len(window) + TOKENS_PER_CHARACTER * characters
        try:
            content, fault = self._complete(messages, tokens, response_schema(len(window)), counts)
        except RequestRejectedError as error:
            self._rejection = error
            return {}, "it was rejected."
        self._was_answered = True
        if fault:
            return {}, fault
        answers = parse_answers(content, len(window))
        if answers is None:
            return {}, "it was not the requested JSON document."
        return {window[number - 1]: text for number, text in answers.items()}, ""

    def _complete(
        self, messages: Sequence[Mapping[str, str]], max_tokens: int, schema: Mapping[str, Any], counts: _Counter
    ) -> tuple[str, str]:
        """Waits as long as a busy server asks for, a limited number of times."""
        for pause in (*BUSY_PAUSES_SECONDS, None):
            if self.stop.is_set():
                raise _StoppedError("The translation was stopped.")
            counts.requests += 1
            try:
                return self._client.complete(messages, max_tokens=max_tokens, schema=schema)
            except EngineBusyError as error:
                seconds = pause if error.retry_after_seconds is None else error.retry_after_seconds
                if pause is None or seconds is None or seconds > MAX_PAUSE_SECONDS:
                    raise
                counts.busy_waits += 1
                self.stop.wait(seconds)
        raise AssertionError("the last pause raises")
