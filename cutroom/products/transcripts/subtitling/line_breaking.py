"""Rates break opportunities between words for subtitles, using the grammar of several languages."""

# ruff: noqa: RUF001 (confusable characters are intended)

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from cutroom.products.transcripts.sentence_boundaries import TITLE_ABBREVIATIONS, ends_sentence, word_set
from cutroom.products.transcripts.text_units import CLOSING_PUNCTUATION, OPENING_PUNCTUATION, joins_previous
from cutroom.text.writing_systems import SENTENCE_MARKS, is_unspaced, primary_language, strip_closing_marks


class BreakPoint(IntEnum):
    """How good a line break between two words is, best first."""

    SENTENCE = 0
    CLAUSE = 1  # after a comma or similar punctuation
    PHRASE = 2  # before a conjunction or a preposition
    WORD = 3
    AVOID = 4  # splits a grammatical unit
    NEVER = 5  # used only if nothing else fits


@dataclass(frozen=True, slots=True)
class FunctionWords:
    """Function words of one language, in lower case."""

    articles: frozenset[str] = frozenset()  # with possessives: bound to the following noun
    auxiliaries: frozenset[str] = frozenset()  # with negations: bound to the following verb
    conjunctions: frozenset[str] = frozenset()
    prepositions: frozenset[str] = frozenset()
    contractions: frozenset[str] = frozenset()  # preposition and article in one word
    pronouns: frozenset[str] = frozenset()  # subjects, bound to the following verb
    objects: frozenset[str] = frozenset()  # bound to the preceding verb

    def starts_phrase(self, word: str) -> bool:
        """Whether a phrase can start with this word."""
        return word in self.conjunctions or word in self.prepositions or word in self.contractions


_WORDS = {
    "en": FunctionWords(
        articles=word_set("a an the my your his her its our their"),
        auxiliaries=word_set(
            "am is are was were be been being have has had having do does did will would shall should can could may "
            "might must not cannot i'm you're he's she's it's we're they're i've you've we've they've i'll you'll "
            "he'll she'll it'll we'll they'll i'd you'd he'd she'd we'd they'd isn't aren't wasn't weren't haven't "
            "hasn't hadn't don't doesn't didn't won't wouldn't shan't shouldn't can't couldn't mustn't"
        ),
        conjunctions=word_set(
            "and or but nor so yet because although though while when where if unless until since that which who whom "
            "whose than as whether before after what how why"
        ),
        prepositions=word_set(
            "of in on at by for with from to into onto about over under between through during against among without "
            "within toward towards upon across behind beyond"
        ),
        pronouns=word_set("i you he she it we they"),
        objects=word_set("it him them me us"),
    ),
    "pt": FunctionWords(
        articles=word_set(
            "o a os as um uma uns umas meu minha meus minhas teu tua teus tuas seu sua seus suas nosso nossa nossos "
            "nossas este esta estes estas esse essa esses essas aquele aquela aqueles aquelas"
        ),
        auxiliaries=word_set(
            "é são era eram foi foram ser sido sendo está estão estava estavam estou estamos tem têm tinha tinham ter "
            "tendo tenho temos há havia vai vão vou vamos ia iam pode podem podia posso deve devem devia será serão "
            "seria seriam não"
        ),
        conjunctions=word_set(
            "e ou mas porque que quando onde se embora enquanto pois porém como quem cujo cuja nem porquê"
        ),
        prepositions=word_set("de em para por com sem sobre entre até desde contra após durante sob"),
        contractions=word_set(
            "do da dos das no na nos nas ao à aos às pelo pela pelos pelas num numa dum duma deste desta desse dessa "
            "daquele daquela neste nesta nesse nessa"
        ),
        pronouns=word_set("eu tu ele ela nós eles elas você vocês"),
    ),
    "es": FunctionWords(
        articles=word_set(
            "el la los las lo un una unos unas mi mis tu tus su sus nuestro nuestra nuestros nuestras este esta estos "
            "estas ese esa esos esas aquel aquella"
        ),
        auxiliaries=word_set(
            "es son era eran fue fueron ser sido siendo está están estaba estaban estoy he has ha hemos han había "
            "habían haber va van voy vamos iba iban puede pueden podía puedo debe deben debía será serán sería serían "
            "no se"
        ),
        conjunctions=word_set(
            "y e o u pero porque que cuando donde si aunque mientras pues como quien sino ni qué cómo cuándo dónde"
        ),
        prepositions=word_set("de en a para por con sin sobre entre hasta desde contra durante según bajo hacia"),
        contractions=word_set("al del"),
        pronouns=word_set("yo tú él ella nosotros ellos ellas usted ustedes"),
    ),
    "fr": FunctionWords(
        articles=word_set(
            "le la les l' un une mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs ce cet cette ces"
        ),
        auxiliaries=word_set(
            "est sont était étaient suis es sommes êtes être été ai as a avons avez ont avait avaient avoir va vont "
            "vais allons peut peuvent peux doit doivent dois sera seront serait seraient ne n' se s'"
        ),
        conjunctions=word_set(
            "et ou mais car que qui quand où si parce puisque comme lorsque donc dont ni pourquoi comment"
        ),
        prepositions=word_set("de d' à en pour par avec sans sur entre dans chez vers depuis contre pendant sous"),
        contractions=word_set("du des au aux"),
        pronouns=word_set("je j' tu il elle on nous vous ils elles"),
    ),
    "de": FunctionWords(
        articles=word_set(
            "der die das den dem des ein eine einen einem einer eines mein meine meinen meinem meiner dein deine sein "
            "seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren unserem unserer kein keine "
            "keinen keinem keiner diese dieser dieses diesen diesem"
        ),
        auxiliaries=word_set(
            "bin bist ist sind seid war waren habe hast hat haben hatte hatten werde wirst wird werden wurde wurden "
            "kann können konnte muss müssen musste soll sollen sollte will wollen wollte darf dürfen mag möchte würde "
            "würden wäre hätte nicht"
        ),
        conjunctions=word_set(
            "und oder aber denn weil dass wenn als ob obwohl während sondern damit bevor nachdem sowie wie was warum wo"
        ),
        prepositions=word_set(
            "in an auf bei mit nach von zu aus für über unter vor hinter neben zwischen durch gegen ohne um seit"
        ),
        contractions=word_set("im am zum zur vom beim ins ans"),
        pronouns=word_set("ich du er sie es wir man"),
    ),
    "it": FunctionWords(
        articles=word_set(
            "il lo la i gli le un uno una l' mio mia miei mie tuo tua suo sua suoi sue nostro nostra nostri nostre "
            "vostro vostra loro questo questa questi queste quel quella"
        ),
        auxiliaries=word_set(
            "è sono era erano fu furono essere stato stata sta stanno stava stavano ho hai ha abbiamo avete hanno "
            "aveva avevano avere va vanno può possono poteva posso deve devono devo sarà saranno sarebbe non si"
        ),
        conjunctions=word_set("e ed o ma perché che quando dove se mentre come poiché quindi cui né cosa"),
        prepositions=word_set("di a ad da in con su per tra fra senza sopra sotto verso contro durante"),
        contractions=word_set(
            "del dello della dei degli delle al allo alla ai agli alle dal dallo dalla dai dagli dalle nel nello nella "
            "nei negli nelle sul sullo sulla sui sugli sulle"
        ),
        pronouns=word_set("io tu lui lei noi voi"),
    ),
}
_UNKNOWN_LANGUAGE = FunctionWords()
_TITLES = word_set(
    "sir lady lord dom dona don doña monsieur madame herr frau signor signora president presidente président doctor"
)
_SCALES = word_set(
    "hundred thousand million millions billion trillion percent mil milhão milhões bilhão bilhões cento millón "
    "millones mille milliard milliards tausend millionen milliarde milliarden prozent mila milione milioni miliardo "
    "miliardi"
)
_NUMBER = re.compile(r"[$€£¥(]*\d[\d.,:/]*(?<![.,:])")
_SYMBOLS = frozenset({"%", "€", "$", "£", "°", "°C", "°F", "‰", "–", "-", "—"})
_CLAUSE_MARKS = frozenset(",;:，、；：،؛–—၊")
_ELIDING_LANGUAGES = frozenset({"fr", "it"})  # look up the word after the apostrophe: n'est, dell'anno
MAX_NAME_WORDS = 3  # longer runs of capitalized words are headings or stylistic

_CHINESE_SUFFIXES = frozenset("的了着过吗呢吧啊们地得儿子")
_JAPANESE_PARTICLES = frozenset("をはがにでともへ")
_CHINESE_CLOSERS = frozenset("的了")
_CHINESE_OPENERS = frozenset("和但而因所如就也还在对从把被跟与或并且")


def break_points(texts: Sequence[str], *, glued: Sequence[bool], language: str) -> list[BreakPoint]:
    """Rate the break after each text but the last; `glued` texts have no space before them."""
    base = primary_language(language)
    names = _names(texts, _WORDS.get(base, _UNKNOWN_LANGUAGE))
    found = []
    for at in range(len(texts) - 1):
        left, right = texts[at], texts[at + 1]
        quality = _glued(left, right, base) if glued[at + 1] else _spaced(left, right, base)
        found.append(max(quality, names[at]) if quality > BreakPoint.CLAUSE else quality)
    return found


def _spaced(left: str, right: str, base: str) -> BreakPoint:
    words = _WORDS.get(base, _UNKNOWN_LANGUAGE)
    before, after = _lookup_key(left, base), _lookup_key(right, base)
    mark = strip_closing_marks(left)[-1:]
    if _is_bound(left, right, before=before, after=after, words=words):
        return BreakPoint.NEVER
    if mark in _CLAUSE_MARKS or mark in SENTENCE_MARKS:
        if ends_sentence(left, right, language=base):
            return BreakPoint.SENTENCE
        return BreakPoint.WORD if mark == "." else BreakPoint.CLAUSE
    if before in words.prepositions or before in words.conjunctions or before in words.pronouns:
        return BreakPoint.AVOID
    # Without a word list, assume that very short words are bound to the next.
    unknown = words is _UNKNOWN_LANGUAGE and len(left) <= 2 and not is_unspaced(left[-1])
    if unknown or after.rstrip(".,;:!?") in words.objects:
        return BreakPoint.AVOID
    # In scripts without word spacing, a space ends a phrase.
    phrase = words.starts_phrase(after) or is_unspaced(left[-1]) or is_unspaced(right[0])
    return BreakPoint.PHRASE if phrase else BreakPoint.WORD


def _is_bound(left: str, right: str, *, before: str, after: str, words: FunctionWords) -> bool:
    """Punctuation and its word, title and name, article and noun, auxiliary and verb, number and unit."""
    if all(mark in CLOSING_PUNCTUATION or mark in _SYMBOLS for mark in right) or all(
        mark in OPENING_PUNCTUATION for mark in left
    ):
        return True
    if (before in _TITLES or before.removesuffix(".") in TITLE_ABBREVIATIONS) and right[0].isupper():
        return True
    if before in words.articles or before in words.contractions or before in words.auxiliaries:
        return True
    if _NUMBER.fullmatch(left):
        return not words.starts_phrase(after) and after not in words.auxiliaries
    return left[-1].isalnum() and after.rstrip(".,;:!?") in _SCALES


def _glued(left: str, right: str, base: str) -> BreakPoint:
    """Between units without a space: Chinese, Japanese or Thai characters, or fragments of a long word."""
    if (
        joins_previous(left, right[0])
        or left[-1] in OPENING_PUNCTUATION
        or all(mark in CLOSING_PUNCTUATION for mark in right)
    ):
        return BreakPoint.NEVER
    mark = strip_closing_marks(left)[-1:]
    if mark in _CLAUSE_MARKS or (mark in SENTENCE_MARKS and is_unspaced(right[0])):
        return BreakPoint.CLAUSE if mark in _CLAUSE_MARKS else BreakPoint.SENTENCE
    if left[-1].isdigit() and is_unspaced(right[0]):
        return BreakPoint.NEVER
    if base in {"zh", "yue"} and is_unspaced(right[0]):
        return _chinese(left[-1], right[0])
    if base == "ja" and _is_hiragana(left[-1]) and not _is_hiragana(right[0]):
        return BreakPoint.PHRASE  # a phrase starts with kanji or katakana
    return BreakPoint.WORD if not left[-1].isalnum() or left[-1] in _JAPANESE_PARTICLES else BreakPoint.AVOID


def _chinese(left: str, right: str) -> BreakPoint:
    if right in _CHINESE_SUFFIXES:
        return BreakPoint.AVOID
    return BreakPoint.PHRASE if right in _CHINESE_OPENERS or left in _CHINESE_CLOSERS else BreakPoint.WORD


def _is_hiragana(character: str) -> bool:
    return "\u3040" <= character <= "\u309f"


def _lookup_key(text: str, base: str) -> str:
    """The lookup form of a word: lower case, without opening quotes and brackets."""
    key = text.lower().replace("’", "'").lstrip("\"'“‘„«‹([¿¡")
    if base in _ELIDING_LANGUAGES and "'" in key[:-1]:
        key = key.rsplit("'", 1)[1]
    return key


def _names(texts: Sequence[str], words: FunctionWords) -> list[BreakPoint]:
    """NEVER inside a name, AVOID inside longer runs of capitalized words, SENTENCE elsewhere."""
    found = [BreakPoint.SENTENCE] * len(texts)
    at = 0
    while at < len(texts):
        end = at
        while end < len(texts) and _is_capitalized(texts[end], words) and (end == at or not _ends_name(texts[end - 1])):
            end += 1
        for each in range(at, end - 1):
            found[each] = BreakPoint.NEVER if end - at <= MAX_NAME_WORDS else BreakPoint.AVOID
        at = max(end, at + 1)
    return found


def _is_capitalized(text: str, words: FunctionWords) -> bool:
    lower = text.lower()
    small = lower in words.articles or lower in words.prepositions or lower in words.conjunctions
    return text[0].isupper() and not small and lower not in words.pronouns and lower not in words.auxiliaries


def _ends_name(text: str) -> bool:
    """Whether a name cannot continue after this word; initials and titles end with a period but continue."""
    return not text[-1].isalnum() and not (
        text[-1] == "." and (len(text) == 2 or text[:-1].lower() in TITLE_ABBREVIATIONS)
    )
