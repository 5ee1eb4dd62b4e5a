"""Gives the segments of a caption track the words of the transcript, whose pauses its cues keep."""

from collections.abc import Iterable, Sequence

from cutroom.products.captions.editing.segments import CaptionSegment, in_order
from cutroom.products.transcripts.document import rounded
from cutroom.products.transcripts.editing.splitting import words_within
from cutroom.products.transcripts.segmentation import TimedWord, TranscriptSegment


def with_words(
    captions: Iterable[CaptionSegment], spoken: Sequence[TranscriptSegment], ids: Sequence[str]
) -> list[TranscriptSegment]:
    """Caption segments in order, with the words of the transcript's segment, or else those of the same time."""
    by_id = dict(zip(ids, spoken, strict=True))
    words = sorted((word for segment in spoken for word in segment.words), key=lambda word: word.start_seconds)

    def timed(caption: CaptionSegment) -> TranscriptSegment:
        own = tuple(_words(caption, by_id.get(caption.id), words))
        return TranscriptSegment(caption.start_seconds, caption.end_seconds, caption.speaker, caption.text, own)

    return [timed(each) for each in in_order(captions)]


def _words(
    caption: CaptionSegment, segment: TranscriptSegment | None, words: Sequence[TimedWord]
) -> Sequence[TimedWord]:
    times = rounded(caption.start_seconds), rounded(caption.end_seconds)
    if segment is not None and times == (rounded(segment.start_seconds), rounded(segment.end_seconds)):
        return segment.words
    return words_within(words, caption.start_seconds, caption.end_seconds)
