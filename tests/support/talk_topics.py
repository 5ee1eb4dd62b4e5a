"""A synthetic talk about twelve topics, with a paraphrased and a literal query for each."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.engines.recognition.port import Word
from cutroom.products.shorts.moments.talk import TalkSentence

WORD_SECONDS = 0.36
PAUSE_SECONDS = 0.5  # after a sentence
TOPIC_PAUSE_SECONDS = 1.1


@dataclass(frozen=True, slots=True)
class Topic:
    """Sentences about one topic, and two queries for it: one shares no content word with them, the other does."""

    name: str
    sentences: tuple[str, ...]
    paraphrase_query: str
    keyword_query: str


TOPICS = (
    Topic(
        "bees",
        (
            "Let me start with the hives behind our barn.",
            "A healthy colony has about forty thousand bees in July.",
            "The queen lays up to two thousand eggs on a warm day.",
            "Workers carry nectar home and fan it with their wings until it is thick honey.",
            "When the lime trees bloom, a hive gains three kilos in one afternoon.",
            "In autumn the drones are thrown out, because nobody can afford to feed them through the cold months.",
        ),
        "insects that produce something sweet",
        "how a hive makes honey",
    ),
    Topic(
        "bread",
        (
            "My grandmother taught me to bake bread without any recipe.",
            "Flour, water and salt are all that she ever used.",
            "The dough has to rest overnight in a cool kitchen.",
            "You fold it four times, and every time it feels more alive.",
            "A very hot oven gives the crust its colour.",
            "Wait an hour before you cut the loaf, even if the smell drives you mad.",
        ),
        "making food from wheat at home",
        "why the dough rests overnight",
    ),
    Topic(
        "moon landing",
        (
            "Apollo 11 left Florida on a Wednesday morning.",
            "Three astronauts sat on top of a rocket as tall as a church tower.",
            "Four days later the lander came down with fuel for only twenty seconds more.",
            "Armstrong stepped onto the grey dust while half the planet watched television.",
            "They brought back twenty kilos of lunar rock.",
            "Laboratories still open new boxes of those samples today.",
        ),
        "the first humans walking on another world in space",
        "astronauts and the lunar rock they brought back",
    ),
    Topic(
        "running",
        (
            "Nobody should begin marathon training by running far.",
            "Beginners do best with three easy runs a week.",
            "Your knees and tendons adapt much slower than your lungs.",
            "Add ten percent of distance each week and no more.",
            "Shoes matter less than sleep.",
            "On race day the wall comes at kilometre thirty, so save some strength for it.",
        ),
        "how to prepare your body for a long distance sports event without injury",
        "training for a marathon",
    ),
    Topic(
        "mortgage",
        (
            "What does a house really cost you?",
            "The bank lends you the sum, and you pay interest on it for thirty years.",
            "With a fixed rate your monthly payment never changes.",
            "A variable rate looks cheaper until the central bank raises it.",
            "Put down a fifth of the price and the lender asks for less.",
            "Paying off a little more each year can save you a decade of debt.",
        ),
        "borrowing money to buy a home",
        "fixed or variable interest rate from the bank",
    ),
    Topic(
        "volcano",
        (
            "The island was born in fire only a million years ago.",
            "Lava still flows down the southern slope into the ocean.",
            "Magma rises through a crack in the crust below the crater.",
            "Before an eruption the ground swells by a few centimetres.",
            "Instruments on the summit measure gas and tremors day and night.",
            "When ash closes the airport, thousands of people sleep on the floor.",
        ),
        "a mountain that explodes with molten stone",
        "lava and ash from the crater",
    ),
    Topic(
        "violin",
        (
            "A violin is made from maple and spruce.",
            "The maker carves the belly until it rings when he taps it.",
            "Varnish takes longer than all the woodwork.",
            "Strings used to be gut, and now most are steel.",
            "A good bow costs as much as a small car.",
            "Old instruments from Cremona sound no better in blind tests, yet soloists love them.",
        ),
        "how musicians' equipment is crafted by hand",
        "who carves the belly of a violin",
    ),
    Topic(
        "sleep",
        (
            "Why do we spend a third of our lives in bed?",
            "During deep sleep the brain washes out its waste.",
            "Dreams come mostly in the last hours before dawn.",
            "Blue light from a phone keeps the body awake.",
            "Caffeine stays in the blood for six hours or more.",
            "A dark, cool bedroom helps more than any pill.",
        ),
        "advice against insomnia and for resting well at night",
        "what happens in the brain during deep sleep",
    ),
    Topic(
        "chess",
        (
            "Every chess game begins with a fight for the centre.",
            "Bring out your knights before your bishops.",
            "Castle early, because a king in the middle gets mated.",
            "Never move the same piece twice in the opening without a reason.",
            "A pawn that reaches the last rank becomes a queen.",
            "Grandmasters see patterns where beginners see only pieces.",
        ),
        "strategy tips for a board game",
        "castle the king early in chess",
    ),
    Topic(
        "electric cars",
        (
            "Our family bought an electric car last spring.",
            "The battery gives us four hundred kilometres in summer.",
            "In frost that drops by almost a third.",
            "Charging at home overnight costs less than two coffees.",
            "On the motorway a fast charger fills it to eighty percent in half an hour.",
            "There is no oil to change and no exhaust to repair.",
        ),
        "driving a vehicle that needs no petrol",
        "charging the battery of an electric car",
    ),
    Topic(
        "whales",
        (
            "Blue whales are the largest animals that ever lived.",
            "Their heart is as heavy as a piano.",
            "A calf drinks two hundred litres of milk a day.",
            "They sing so low that we cannot hear it without instruments.",
            "Ships and nets kill more of them now than hunters do.",
            "Each spring they travel from warm seas to the ice to feed on krill.",
        ),
        "giant mammals in the sea",
        "how blue whales sing and travel",
    ),
    Topic(
        "roman roads",
        (
            "Roman engineers built eighty thousand kilometres of paved roads.",
            "Soldiers dug a trench and filled it with stones, gravel and sand.",
            "A slight curve let the rain run off to both sides.",
            "Milestones told travellers how far it was to the capital.",
            "A messenger on horseback could cover eighty kilometres in one day.",
            "Some of our highways still lie on the same lines.",
        ),
        "infrastructure of an ancient empire",
        "how Roman engineers built roads of gravel and stones",
    ),
)


def timed_talk(topics: Sequence[Topic] = TOPICS) -> tuple[list[TalkSentence], list[Word]]:
    """The topics in sequence, spoken by one speaker, starting at 1 second."""
    sentences, words = [], []
    at = 1.0
    for topic in topics:
        for text in topic.sentences:
            start = at
            for word in text.split():
                seconds = WORD_SECONDS * (0.6 + 0.08 * len(word))
                words.append(Word(word, round(at, 3), round(at + seconds, 3), 1.0))
                at = words[-1].end_seconds
            sentences.append(TalkSentence(text, start, at, "speaker_1"))
            at = round(at + PAUSE_SECONDS, 3)
        at = round(at + TOPIC_PAUSE_SECONDS, 3)
    return sentences, words
