"""How much of a dub's progress each step is, in percent, by the time that the steps usually take."""

from cutroom.products.dubs.script import DubLine, DubScript

TRANSLATION = 8.0
SEPARATION = 15.0
VOICES = 4.0
SYNTHESIS = 48.0
PREVIEW = 2.0
SCHEDULE = 1.0
MIXING = 6.0
VERIFICATION = 10.0

# Progress of the job up to which steps that run side by side, or in an order of their own, can add their shares.
SYNTHESIZED = TRANSLATION + SEPARATION + VOICES + SYNTHESIS + PREVIEW
SCHEDULED = SYNTHESIZED + SCHEDULE
MIXED = SCHEDULED + MIXING
VERIFIED = MIXED + VERIFICATION
PUBLISHED = 98.0


def separation_share(script: DubScript) -> float:
    return SEPARATION / script.chunk_count


def line_share(script: DubScript, line: DubLine) -> float:
    """In proportion to the text, which synthesis takes its time for."""
    return SYNTHESIS * len(line.texts[0]) / max(1, sum(len(each.texts[0]) for each in script.lines))


def mixing_share(script: DubScript) -> float:
    return MIXING / script.chunk_count


def verification_share(script: DubScript) -> float:
    return VERIFICATION / script.chunk_count
