"""Transcripts as documents for translation."""

from cutroom.engines.translation.document import DocumentLine, DocumentSpeaker
from cutroom.products.dubs.line_sync import MAX_NATURAL, Slot, is_likely_too_long, max_characters, natural_seconds
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.translation_documents import transcript_document


def test_document_has_speakers_times_and_title() -> None:
    segments = [TranscriptSegment(1.0, 3.5, "s1", "Hello.", ()), TranscriptSegment(4.0, 5.0, "s2", "Hi.", ())]
    speakers = [{"id": "s1", "label": "Ana", "gender": "female"}, {"id": "s2", "label": "Bo"}]
    document = transcript_document(
        segments, source="en", target="pt", speakers=speakers, title="A talk", max_characters=lambda at: 10 + at
    )
    assert document.lines == (
        DocumentLine("0", "Hello.", "s1", 1.0, 3.5, 10),
        DocumentLine("1", "Hi.", "s2", 4.0, 5.0, 11),
    )
    assert document.speakers == (DocumentSpeaker("s1", "Ana", "female"), DocumentSpeaker("s2", "Bo", None))
    assert (document.title, document.lines[0].seconds) == ("A talk", 2.5)
    assert transcript_document([], source="en", target="pt").title == ""


def test_longest_text_of_a_slot_just_fits() -> None:
    slot = Slot(0.0, 3.0, 3.0)
    count = max_characters(slot, language="pt")
    assert not is_likely_too_long("a" * count, slot, language="pt")
    assert natural_seconds("a" * (count + 2), language="pt") / MAX_NATURAL > slot.seconds
