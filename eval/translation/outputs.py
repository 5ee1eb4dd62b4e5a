"""Translates evaluation talks as the products do, with a fingerprint of the outputs."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import SecretStr

from cutroom.engines.registry import Engines
from cutroom.engines.translation.document import (
    DocumentLine,
    DocumentSpeaker,
    DocumentTranslation,
    TranslationDocument,
)
from cutroom.engines.translation.document_routing import translate_document
from cutroom.engines.translation.port import Quality
from cutroom.engines.translation.routing import plan_translation
from cutroom.platform.settings import Settings
from dev.environment import MODELS
from eval.talks import EvaluationTalk, Language, TalkLine

ROUTES: tuple[tuple[Language, Language], ...] = (("en", "pt"), ("en", "es"), ("pt", "en"), ("pt", "es"))
_UNUSED = SecretStr("unused")  # settings of services that translation does not need


@dataclass(frozen=True)
class TalkTranslation:
    """The translated lines of one talk, in their order."""

    talk: EvaluationTalk
    target: Language
    translation: DocumentTranslation
    engines: tuple[str, ...]
    quality: Quality  # of the planned route

    @property
    def route(self) -> str:
        return f"{self.talk.language}-{self.target}"

    @property
    def texts(self) -> list[str]:
        return self.translation.texts

    @property
    def references(self) -> list[str]:
        return [line.text(self.target) for line in self.talk.lines]

    @cached_property
    def fingerprint(self) -> str:
        """Changes with every text, and with nothing else."""
        return fingerprint([self])


def evaluation_engines() -> Engines:
    """The engines that are selected by default, with the models of this checkout."""
    return Engines(
        Settings(
            database_url=_UNUSED,
            redis_url=_UNUSED,
            s3_access_key=_UNUSED,
            s3_secret_key=_UNUSED,
            secret_key=SecretStr("unused" * 6),
            models_dir=MODELS,
        ),
        cpu_threads=1,
    )


def translate_talk(engines: Engines, talk: EvaluationTalk, target: Language) -> TalkTranslation:
    """Translates the talk as a document; its lines have no times, names or glossary, as in a new transcript."""
    translators = engines.translators()
    plan = plan_translation(translators, source=talk.language, target=target)
    translation = translate_document(
        plan,
        talk_document(talk, target),
        translators=translators,
        identifier=engines.language_identifier(),
        embedder=engines.text_embedder(),
    )
    names = tuple(leg.translator.name for leg in plan.legs)
    return TalkTranslation(talk, target, translation, names, plan.quality)


def translate_talks(
    engines: Engines, talks: Sequence[EvaluationTalk], *, route: tuple[Language, Language] | None = None
) -> Iterator[TalkTranslation]:
    """Every talk on every route that starts from its language, or on one route."""
    for source, target in [route] if route else ROUTES:
        for talk in talks:
            if talk.language == source:
                yield translate_talk(engines, talk, target)


def talk_document(talk: EvaluationTalk, target: Language) -> TranslationDocument:
    lines = tuple(_line(number, talk, line) for number, line in enumerate(talk.lines, start=1))
    speakers = tuple(DocumentSpeaker(each.id, each.name, each.gender) for each in talk.speakers)
    return TranslationDocument(talk.language, target, lines, speakers, talk.title)


def fingerprint(translations: Sequence[TalkTranslation]) -> str:
    """SHA-256 of all texts by talk and target."""
    rows = sorted([each.talk.slug, each.target, *each.texts] for each in translations)
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()


def _line(number: int, talk: EvaluationTalk, line: TalkLine) -> DocumentLine:
    return DocumentLine(str(number), talk.source(line), line.speaker)
