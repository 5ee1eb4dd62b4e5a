"""Where a reader can bear a break: words that belong together, in several languages."""

# ruff: noqa: RUF001 (marks of many scripts look alike)

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from cutroom.products.transcripts.scripts import CLOSING, OPENING, stays
from cutroom.products.transcripts.stops import SHORT_TITLES, ends_sentence, listed
from cutroom.text.writing_systems import SENTENCE_MARKS, bare, base_of, unspaced


class Joint(IntEnum):
    """How well two neighbours can be parted, best first."""

    SENTENCE = 0
    CLAUSE = 1  # after a comma and the like
    PHRASE = 2  # before a conjunction or a preposition
    PLAIN = 3
    TIGHT = 4  # only if the others cost more
    NEVER = 5  # only if there is no other way at all


@dataclass(frozen=True, slots=True)
class Words:
    """The small words of one language, in small letters."""

    articles: frozenset[str] = frozenset()  # with possessives: they belong to the noun that follows
    auxiliaries: frozenset[str] = frozenset()  # with negations: they belong to the verb that follows
    conjunctions: frozenset[str] = frozenset()
    prepositions: frozenset[str] = frozenset()
    contractions: frozenset[str] = frozenset()  # a preposition and an article in one word
    pronouns: frozenset[str] = frozenset()  # subjects: they lean on the verb that follows
    objects: frozenset[str] = frozenset()  # they lean on the verb before them

    def small(self, word: str) -> bool:
        """Whether a phrase may start with this word."""
        return word in self.conjunctions or word in self.prepositions or word in self.contractions


_WORDS = {
    "en": Words(
        articles=listed("a an the my your his her its our their"),
        auxiliaries=listed(
            "am is are was were be been being have has had having do does did will would shall should can could may "
            "might must not cannot i'm you're he's she's it's we're they're i've you've we've they've i'll you'll "
            "he'll she'll it'll we'll they'll i'd you'd he'd she'd we'd they'd isn't aren't wasn't weren't haven't "
            "hasn't hadn't don't doesn't didn't won't wouldn't shan't shouldn't can't couldn't mustn't"
        ),
        conjunctions=listed(
            "and or but nor so yet because although though while when where if unless until since that which who whom "
            "whose than as whether before after what how why"
        ),
        prepositions=listed(
            "of in on at by for with from to into onto about over under between through during against among without "
            "within toward towards upon across behind beyond"
        ),
        pronouns=listed("i you he she it we they"),
        objects=listed("it him them me us"),
    ),
    "pt": Words(
        articles=listed(
            "o a os as um uma uns umas meu minha meus minhas teu tua teus tuas seu sua seus suas nosso nossa nossos "
            "nossas este esta estes estas esse essa esses essas aquele aquela aqueles aquelas"
        ),
        auxiliaries=listed(
            "é são era eram foi foram ser sido sendo está estão estava estavam estou estamos tem têm tinha tinham ter "
            "tendo tenho temos há havia vai vão vou vamos ia iam pode podem podia posso deve devem devia será serão "
            "seria seriam não"
        ),
        conjunctions=listed(
            "e ou mas porque que quando onde se embora enquanto pois porém como quem cujo cuja nem porquê"
        ),
        prepositions=listed("de em para por com sem sobre entre até desde contra após durante sob"),
        contractions=listed(
            "do da dos das no na nos nas ao à aos às pelo pela pelos pelas num numa dum duma deste desta desse dessa "
            "daquele daquela neste nesta nesse nessa"
        ),
        pronouns=listed("eu tu ele ela nós eles elas você vocês"),
    ),
    "es": Words(
        articles=listed(
            "el la los las lo un una unos unas mi mis tu tus su sus nuestro nuestra nuestros nuestras este esta estos "
            "estas ese esa esos esas aquel aquella"
        ),
        auxiliaries=listed(
            "es son era eran fue fueron ser sido siendo está están estaba estaban estoy he has ha hemos han había "
            "habían haber va van voy vamos iba iban puede pueden podía puedo debe deben debía será serán sería serían "
            "no se"
        ),
        conjunctions=listed(
            "y e o u pero porque que cuando donde si aunque mientras pues como quien sino ni qué cómo cuándo dónde"
        ),
        prepositions=listed("de en a para por con sin sobre entre hasta desde contra durante según bajo hacia"),
        contractions=listed("al del"),
        pronouns=listed("yo tú él ella nosotros ellos ellas usted ustedes"),
    ),
    "fr": Words(
        articles=listed(
            "le la les l' un une mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs ce cet cette ces"
        ),
        auxiliaries=listed(
            "est sont était étaient suis es sommes êtes être été ai as a avons avez ont avait avaient avoir va vont "
            "vais allons peut peuvent peux doit doivent dois sera seront serait seraient ne n' se s'"
        ),
        conjunctions=listed(
            "et ou mais car que qui quand où si parce puisque comme lorsque donc dont ni pourquoi comment"
        ),
        prepositions=listed("de d' à en pour par avec sans sur entre dans chez vers depuis contre pendant sous"),
        contractions=listed("du des au aux"),
        pronouns=listed("je j' tu il elle on nous vous ils elles"),
    ),
    "de": Words(
        articles=listed(
            "der die das den dem des ein eine einen einem einer eines mein meine meinen meinem meiner dein deine sein "
            "seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren unserem unserer kein keine "
            "keinen keinem keiner diese dieser dieses diesen diesem"
        ),
        auxiliaries=listed(
            "bin bist ist sind seid war waren habe hast hat haben hatte hatten werde wirst wird werden wurde wurden "
            "kann können konnte muss müssen musste soll sollen sollte will wollen wollte darf dürfen mag möchte würde "
            "würden wäre hätte nicht"
        ),
        conjunctions=listed(
            "und oder aber denn weil dass wenn als ob obwohl während sondern damit bevor nachdem sowie wie was warum wo"
        ),
        prepositions=listed(
            "in an auf bei mit nach von zu aus für über unter vor hinter neben zwischen durch gegen ohne um seit"
        ),
        contractions=listed("im am zum zur vom beim ins ans"),
        pronouns=listed("ich du er sie es wir man"),
    ),
    "it": Words(
        articles=listed(
            "il lo la i gli le un uno una l' mio mia miei mie tuo tua suo sua suoi sue nostro nostra nostri nostre "
            "vostro vostra loro questo questa questi queste quel quella"
        ),
        auxiliaries=listed(
            "è sono era erano fu furono essere stato stata sta stanno stava stavano ho hai ha abbiamo avete hanno "
            "aveva avevano avere va vanno può possono poteva posso deve devono devo sarà saranno sarebbe non si"
        ),
        conjunctions=listed("e ed o ma perché che quando dove se mentre come poiché quindi cui né cosa"),
        prepositions=listed("di a ad da in con su per tra fra senza sopra sotto verso contro durante"),
        contractions=listed(
            "del dello della dei degli delle al allo alla ai agli alle dal dallo dalla dai dagli dalle nel nello nella "
            "nei negli nelle sul sullo sulla sui sugli sulle"
        ),
        pronouns=listed("io tu lui lei noi voi"),
    ),
}
_NO_WORDS = Words()
_TITLES = listed(
    "sir lady lord dom dona don doña monsieur madame herr frau signor signora president presidente président doctor"
)
_SCALES = listed(
    "hundred thousand million millions billion trillion percent mil milhão milhões bilhão bilhões cento millón "
    "millones mille milliard milliards tausend millionen milliarde milliarden prozent mila milione milioni miliardo "
    "miliardi"
)
_NUMBER = re.compile(r"[$€£¥(]*\d[\d.,:/]*(?<![.,:])")
_SYMBOLS = frozenset({"%", "€", "$", "£", "°", "°C", "°F", "‰", "–", "-", "—"})
_CLAUSE_MARKS = frozenset(",;:，、；：،؛–—၊")
_ELISIONS = frozenset({"fr", "it"})  # the word after the apostrophe counts: n'est, dell'anno
MOST_NAME_WORDS = 3  # more capitals in a row are a title, or somebody's way of writing

_CHINESE_LEANING = frozenset("的了着过吗呢吧啊们地得儿子")
_JAPANESE_PARTICLES = frozenset("をはがにでともへ")
_CHINESE_CLOSERS = frozenset("的了")
_CHINESE_OPENERS = frozenset("和但而因所如就也还在对从把被跟与或并且")


def joints(texts: Sequence[str], *, glued: Sequence[bool], language: str) -> list[Joint]:
    """For each text but the last, how well it can be parted from the next; `glued` ones have no blank before them."""
    base = base_of(language)
    names = _names(texts, _WORDS.get(base, _NO_WORDS))
    found = []
    for at in range(len(texts) - 1):
        left, right = texts[at], texts[at + 1]
        joint = _glued(left, right, base) if glued[at + 1] else _spaced(left, right, base)
        found.append(max(joint, names[at]) if joint > Joint.CLAUSE else joint)
    return found


def _spaced(left: str, right: str, base: str) -> Joint:
    words = _WORDS.get(base, _NO_WORDS)
    before, after = _key(left, base), _key(right, base)
    mark = bare(left)[-1:]
    if _belongs(left, right, before=before, after=after, words=words):
        return Joint.NEVER
    if mark in _CLAUSE_MARKS or mark in SENTENCE_MARKS:
        if ends_sentence(left, right, language=base):
            return Joint.SENTENCE
        return Joint.PLAIN if mark == "." else Joint.CLAUSE
    if before in words.prepositions or before in words.conjunctions or before in words.pronouns:
        return Joint.TIGHT
    # Of other languages only this is known: the shortest words lean on the next.
    unknown = words is _NO_WORDS and len(left) <= 2 and not unspaced(left[-1])
    if unknown or after.rstrip(".,;:!?") in words.objects:
        return Joint.TIGHT
    # In scripts without blanks a blank ends a phrase.
    phrase = words.small(after) or unspaced(left[-1]) or unspaced(right[0])
    return Joint.PHRASE if phrase else Joint.PLAIN


def _belongs(left: str, right: str, *, before: str, after: str, words: Words) -> bool:
    """A mark and its word, title and name, article and noun, auxiliary and verb, a number and what it counts."""
    if all(mark in CLOSING or mark in _SYMBOLS for mark in right) or all(mark in OPENING for mark in left):
        return True
    if (before in _TITLES or before.removesuffix(".") in SHORT_TITLES) and right[0].isupper():
        return True
    if before in words.articles or before in words.contractions or before in words.auxiliaries:
        return True
    if _NUMBER.fullmatch(left):
        return not words.small(after) and after not in words.auxiliaries
    return left[-1].isalnum() and after.rstrip(".,;:!?") in _SCALES


def _glued(left: str, right: str, base: str) -> Joint:
    """Between parts without a blank: characters of Chinese, Japanese or Thai, or pieces of a long word."""
    if stays(left, right[0]) or left[-1] in OPENING or all(mark in CLOSING for mark in right):
        return Joint.NEVER
    mark = bare(left)[-1:]
    if mark in _CLAUSE_MARKS or (mark in SENTENCE_MARKS and unspaced(right[0])):
        return Joint.CLAUSE if mark in _CLAUSE_MARKS else Joint.SENTENCE
    if left[-1].isdigit() and unspaced(right[0]):
        return Joint.NEVER
    if base in {"zh", "yue"} and unspaced(right[0]):
        return _chinese(left[-1], right[0])
    if base == "ja" and _hiragana(left[-1]) and not _hiragana(right[0]):
        return Joint.PHRASE  # a phrase starts with a character that is not hiragana
    return Joint.PLAIN if not left[-1].isalnum() or left[-1] in _JAPANESE_PARTICLES else Joint.TIGHT


def _chinese(left: str, right: str) -> Joint:
    if right in _CHINESE_LEANING:
        return Joint.TIGHT
    return Joint.PHRASE if right in _CHINESE_OPENERS or left in _CHINESE_CLOSERS else Joint.PLAIN


def _hiragana(character: str) -> bool:
    return "\u3040" <= character <= "\u309f"


def _key(text: str, base: str) -> str:
    """The word as the lists have it: in small letters, without quotes and brackets before it."""
    key = text.lower().replace("’", "'").lstrip("\"'“‘„«‹([¿¡")
    if base in _ELISIONS and "'" in key[:-1]:
        key = key.rsplit("'", 1)[1]
    return key


def _names(texts: Sequence[str], words: Words) -> list[Joint]:
    """NEVER between the parts of a name, TIGHT in longer runs of capitals, the best elsewhere."""
    found = [Joint.SENTENCE] * len(texts)
    at = 0
    while at < len(texts):
        end = at
        while end < len(texts) and _capital(texts[end], words) and (end == at or not _closed(texts[end - 1])):
            end += 1
        for each in range(at, end - 1):
            found[each] = Joint.NEVER if end - at <= MOST_NAME_WORDS else Joint.TIGHT
        at = max(end, at + 1)
    return found


def _capital(text: str, words: Words) -> bool:
    lower = text.lower()
    small = lower in words.articles or lower in words.prepositions or lower in words.conjunctions
    return text[0].isupper() and not small and lower not in words.pronouns and lower not in words.auxiliaries


def _closed(text: str) -> bool:
    """Whether a name cannot go on after this word; an initial or a title has a full stop and goes on."""
    return not text[-1].isalnum() and not (text[-1] == "." and (len(text) == 2 or text[:-1].lower() in SHORT_TITLES))
