"""Wordings of a glossary replace the engine's own, or the line is translated again with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cutroom.engines.translation.document import DocumentLine, LineFault, TranslationDocument
from cutroom.engines.translation.document_routing import translate_document
from cutroom.engines.translation.port import Quality, Route
from cutroom.engines.translation.routing import plan_translation
from cutroom.engines.types import OnProgress
from cutroom.text.glossary.rules import TermRule

GATE = TermRule("gate", ("comporta", "comportas"))


@dataclass
class PhrasebookTranslator:
    """Looks sentences up; those that it does not know come back as they are."""

    phrases: Mapping[str, str]
    name: str = "phrasebook"
    asked: list[str] = field(default_factory=list)

    def routes(self) -> Sequence[Route]:
        return [Route("en", "pt", Quality.REVIEW)]

    def translate(
        self,
        sentences: Sequence[str],
        *,
        source: str,  # noqa: ARG002 - the port's signature
        target: str,  # noqa: ARG002
        on_progress: OnProgress | None = None,  # noqa: ARG002
    ) -> list[str]:
        self.asked += sentences
        return [self.phrases.get(each, each) for each in sentences]


def translated(phrases: Mapping[str, str], *texts: str, rules: Sequence[TermRule] = (GATE,)) -> tuple[str, list[str]]:
    """The translation of the first text, and the terms that it lacks."""
    translator = PhrasebookTranslator(phrases)
    plan = plan_translation([translator], source="en", target="pt")
    lines = tuple(DocumentLine(str(at), text) for at, text in enumerate(texts))
    document = TranslationDocument("en", "pt", lines, glossary=tuple(rules))
    [first, *_] = translate_document(plan, document, translators=[translator]).lines
    return first.text, [each.subject for each in first.findings if each.fault is LineFault.GLOSSARY]


def test_rendering_of_the_engine_is_replaced() -> None:
    phrases = {"Open the gate now.": "Abra o portão agora.", "gate": "Portão", "the gate": "o portão"}
    assert translated(phrases, "Open the gate now.") == ("Abra o comporta agora.", [])


def test_other_forms_of_the_rendering_are_replaced_by_a_form() -> None:
    rule = TermRule("gates", ("comporta", "comportas"))
    phrases = {"Open both gates now.": "Abra os dois portões agora.", "gates": "portão"}
    assert translated(phrases, "Open both gates now.", rules=[rule]) == ("Abra os dois comportas agora.", [])


def test_line_is_translated_again_with_the_wording_in_place() -> None:
    phrases = {"Open the gate now.": "Abra a passagem agora.", "Open the comporta now.": "Abra a comporta agora."}
    assert translated(phrases, "Open the gate now.") == ("Abra a comporta agora.", [])


def test_wording_is_protected_if_the_engine_changes_it() -> None:
    phrases = {
        "Open the gate now.": "Abra a passagem agora.",
        "Open the comporta now.": "Abra o conforto agora.",
        "Open the {comporta} now.": "Abra {comporta} agora.",
    }
    assert translated(phrases, "Open the gate now.") == ("Abra comporta agora.", [])


def test_term_that_cannot_be_brought_in_is_reported() -> None:
    lost = dict.fromkeys(("Open the gate now.", "Open the comporta now."), "Abra a passagem agora.")
    phrases = {**lost, "Open the {comporta} now.": "Abra a passagem agora."}
    assert translated(phrases, "Open the gate now.") == ("Abra a passagem agora.", ["gate"])


def test_kept_terms_come_back_as_they_are() -> None:
    rule = TermRule("backlog", ("backlog",))
    phrases = {"We read the backlog daily.": "Lemos a lista diariamente.", "backlog": "Lista"}
    assert translated(phrases, "We read the backlog daily.", rules=[rule]) == ("Lemos a backlog diariamente.", [])


def test_document_without_terms_is_translated_once() -> None:
    translator = PhrasebookTranslator({"A line is here.": "Uma linha está aqui."})
    plan = plan_translation([translator], source="en", target="pt")
    document = TranslationDocument("en", "pt", (DocumentLine("0", "A line is here."),), glossary=(GATE,))
    translate_document(plan, document, translators=[translator])
    assert translator.asked == ["A line is here."]
