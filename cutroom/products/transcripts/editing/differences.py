"""The difference between two revisions: segments that were replaced, and labels of speakers that changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cutroom.products.transcripts.document import TranscriptDocument
from cutroom.products.transcripts.editing.splices import Splice, apply_splices, revert_splices, splices_between


@dataclass(frozen=True, slots=True)
class LabelChange:
    """A speaker whose label differs; None where there is no such speaker."""

    speaker: str
    before: str | None
    after: str | None

    def to_row(self) -> dict[str, Any]:
        return {"id": self.speaker, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class Difference:
    """What leads from a document to the next one, and back."""

    splices: Sequence[Splice]
    labels: Sequence[LabelChange] = ()

    def __bool__(self) -> bool:
        return bool(self.splices or self.labels)

    def to_columns(self) -> dict[str, list[dict[str, Any]]]:
        """The columns of a stored revision."""
        return {
            "splices": [splice.to_row() for splice in self.splices],
            "labels": [change.to_row() for change in self.labels],
        }

    @classmethod
    def from_columns(cls, row: Mapping[str, Any]) -> "Difference":
        splices = [Splice.from_row(each) for each in row["splices"]]
        return cls(splices, [LabelChange(each["id"], each["before"], each["after"]) for each in row["labels"]])


def difference_between(before: TranscriptDocument, after: TranscriptDocument) -> Difference:
    """What has changed; an empty difference if nothing has."""
    return Difference(splices_between(before, after), compare_labels(before, after))


def compare_labels(before: TranscriptDocument, after: TranscriptDocument) -> list[LabelChange]:
    """The speakers who were added, removed or renamed."""
    old, new = before.labels, after.labels
    speakers = dict.fromkeys([*old, *new])
    changes = (LabelChange(each, old.get(each), new.get(each)) for each in speakers)
    return [change for change in changes if change.before != change.after]


def apply_difference(document: TranscriptDocument, difference: Difference) -> TranscriptDocument:
    """The document after a revision."""
    labels = _with_labels(document.labels, {each.speaker: each.after for each in difference.labels})
    return replace(document, segments=apply_splices(document.segments, difference.splices), labels=labels)


def revert_difference(document: TranscriptDocument, difference: Difference) -> TranscriptDocument:
    """The document before a revision."""
    labels = _with_labels(document.labels, {each.speaker: each.before for each in difference.labels})
    return replace(document, segments=revert_splices(document.segments, difference.splices), labels=labels)


def _with_labels(labels: Mapping[str, str], changed: Mapping[str, str | None]) -> dict[str, str]:
    return {speaker: label for speaker, label in {**labels, **changed}.items() if label is not None}
