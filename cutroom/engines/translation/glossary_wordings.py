"""Brings the wordings of a glossary into lines that an engine for sentences translated with its own.

The engine's rendering of a term is replaced where it is found in the line. Elsewhere the line is translated again, with
the wording in place of the term. A wording that cannot be brought in stays out, and the checks report the line.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from cutroom.engines.translation.document import CheckLine, Finding, LineFault, TranslationDocument
from cutroom.engines.translation.routing import TranslationPlan, translate_along
from cutroom.text.glossary.matching import Match, Phrase, PhraseFinder, replace_matches
from cutroom.text.glossary.rules import TermFinder, TermRule
from cutroom.text.language_tags import language_of
from cutroom.text.vocabulary import vocabulary

MIN_SHARED_LETTERS = 4  # at the start of a word and of another form of it
MAX_ENDING_LETTERS = 3  # in which forms of a word differ
_MARKS = ".,;:!?…¡¿\"'“”"

Repair = Callable[[int, str], str]  # of the line with this index


def enforce_terms(
    plan: TranslationPlan, document: TranslationDocument, texts: Sequence[str], *, check: CheckLine, repair: Repair
) -> list[str]:
    """The texts, with the translations of the glossary in lines that lacked them, if nothing else is lost by that."""
    terms, sources = TermFinder(document.glossary), [line.text for line in document.lines]
    lacking = [at for at, text in enumerate(texts) if terms.broken(sources[at], text)]
    if not lacking:
        return list(texts)
    rules = dict.fromkeys(rule for at in lacking for rule in terms.used(sources[at]))
    renderings = _renderings(plan, list(rules))
    choices = {at: [texts[at], _with_replaced_renderings(terms, sources[at], texts[at], renderings)] for at in lacking}

    def best(at: int) -> str:
        """The choice with the fewest broken terms, of those without further faults; the earlier of equal ones."""
        faults = {text: _count_faults(check(document.lines[at], text)) for text in choices[at]}
        allowed = [text for text in choices[at] if faults[text] <= faults[texts[at]]]
        return min(allowed, key=lambda text: (len(terms.broken(sources[at], text)), faults[text]))

    again = [at for at in lacking if terms.broken(sources[at], best(at))]
    for wording in (_plain_wording, _protected_wording):
        rewritten = [terms.rewritten(sources[at], wording) for at in again]
        for at, translation in zip(again, translate_along(plan, rewritten), strict=True):
            text = repair(at, _without_protection(translation, terms.used(sources[at])))
            choices[at] += [text, _with_replaced_renderings(terms, sources[at], text, renderings)]
    return [best(at) if at in choices else text for at, text in enumerate(texts)]


def _count_faults(findings: Sequence[Finding]) -> int:
    """Faults beside those that a wording of the glossary may have, which is not chosen for its length."""
    return sum(each.fault not in {LineFault.GLOSSARY, LineFault.TOO_LONG} for each in findings)


def _plain_wording(rule: TermRule) -> str:
    """Engines mostly copy words of the target language, and make the sentence agree with them."""
    return rule.expected


def _protected_wording(rule: TermRule) -> str:
    """As a placeholder, which engines preserve."""
    return f"{{{rule.expected}}}"


def _without_protection(text: str, rules: Sequence[TermRule]) -> str:
    for rule in rules:
        text = text.replace(_protected_wording(rule), rule.expected)
    return text


def _renderings(plan: TranslationPlan, rules: Sequence[TermRule]) -> dict[TermRule, tuple[str, ...]]:
    """How the engine renders each term by itself and after an article, and the term itself, longest first."""
    alone = translate_along(plan, [rule.term for rule in rules])
    after_article = translate_along(plan, [f"the {rule.term}" for rule in rules]) if _is_english(plan) else alone
    found: dict[TermRule, tuple[str, ...]] = {}
    for rule, *translations in zip(rules, alone, after_article, strict=True):
        bare = [_without_article(each.strip(f"{_MARKS} "), plan.target) for each in translations]
        known = dict.fromkeys(each for each in (*bare, rule.term) if each)
        found[rule] = tuple(sorted(known, key=lambda each: -len(each)))
    return found


def _is_english(plan: TranslationPlan) -> bool:
    return language_of(plan.source) == "en"


def _without_article(text: str, language: str) -> str:
    first, _, rest = text.partition(" ")
    return rest if rest and vocabulary(language).is_stop_word(first.lower()) else text


def _with_replaced_renderings(
    terms: TermFinder, source: str, text: str, renderings: Mapping[TermRule, Sequence[str]]
) -> str:
    """The text with the renderings of broken terms replaced, where it is clear which words they are."""
    counts = Counter(rule for rule, _ in terms.find(source))
    for rule, count in counts.items():
        if not any(each.term == rule.term for each in terms.broken(source, text)):
            continue
        for rendering in renderings[rule]:
            matches = _find_rendering(text, rendering)
            if 0 < len(matches) <= count:
                text = replace_matches(text, [(each, _form_in_place(rule, text, each)) for each in matches])
                break
    return text


def _find_rendering(text: str, rendering: str) -> list[Match]:
    """The rendering in the text, or if it is absent, other forms of its words."""
    exact = PhraseFinder.of([Phrase(rendering, 0)]).find(text)
    if exact:
        return exact
    forms = [each for each in _word_groups(text, len(rendering.split())) if _is_form_of(rendering, each)]
    return PhraseFinder.of([Phrase(each, 0) for each in dict.fromkeys(forms)]).find(text)


def _word_groups(text: str, size: int) -> Iterator[str]:
    words = [each.strip(_MARKS) for each in text.split()]
    for at in range(len(words) - size + 1):
        yield " ".join(words[at : at + size])


def _is_form_of(rendering: str, words: str) -> bool:
    pairs = list(zip(rendering.lower().split(), words.lower().split(), strict=False))
    return len(rendering.split()) == len(words.split()) and all(_same_stem(one, other) for one, other in pairs)


def _same_stem(one: str, other: str) -> bool:
    if one == other:
        return True
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= MIN_SHARED_LETTERS and max(len(one), len(other)) - shared <= MAX_ENDING_LETTERS


def _form_in_place(rule: TermRule, text: str, match: Match) -> str:
    """The form that ends like the words it replaces, with a capital at the start of the text."""
    replaced = text[match.start : match.end]
    plural = next((each for each in rule.forms if each.endswith("s")), None) if replaced.endswith("s") else None
    form = plural or rule.expected
    at_start = not text[: match.start].strip(f"{_MARKS} ")
    return form[:1].upper() + form[1:] if at_start and replaced[:1].isupper() and not rule.is_kept else form
