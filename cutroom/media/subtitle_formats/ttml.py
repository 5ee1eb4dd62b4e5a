"""Writes TTML files of the IMSC 1.1 Text Profile, in which untrusted text cannot act as markup.

What is said is in spans with the role `dialog`, so that readers can tell it from the dashes before it, and names its
speaker as an agent. Lines of right-to-left scripts are embedded as such.
"""

from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from cutroom.media.subtitles import DASH, SubtitleCue, SubtitleLine, clean_text, clock, is_right_to_left, timed_cues

PROFILE = "http://www.w3.org/ns/ttml/profile/imsc1.1/text"
NAMESPACE = "http://www.w3.org/ns/ttml"
DIALOG = "dialog"
_HEAD = """\
<styling>
<style xml:id="subtitle" tts:fontFamily="proportionalSansSerif" tts:fontSize="80%" tts:lineHeight="125%" \
tts:textAlign="center"/>
<style xml:id="line" tts:color="#FFFFFF" tts:backgroundColor="#000000C0"/>
</styling>
<layout>
<region xml:id="bottom" tts:origin="10% 10%" tts:extent="80% 80%" tts:displayAlign="after" \
tts:showBackground="whenActive"/>
</layout>"""
_RIGHT_TO_LEFT = ' tts:direction="rtl" tts:unicodeBidi="embed"'


def write_ttml(cues: Sequence[SubtitleCue], *, language: str, names: Mapping[str, str] | None = None) -> str:
    """Renders a TTML file; empty cues are omitted. Speakers missing from `names` are shown by id."""
    timed = timed_cues(cues)
    speakers = dict.fromkeys(line.speaker for _, _, lines in timed for line in lines if clean_text(line.speaker))
    agents = {speaker: f"agent{number}" for number, speaker in enumerate(speakers, 1)}
    paragraphs = [_paragraph(*each, agents) for each in timed]
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<tt xmlns="{NAMESPACE}" xmlns:ttm="{NAMESPACE}#metadata" xmlns:ttp="{NAMESPACE}#parameter" '
        f'xmlns:tts="{NAMESPACE}#styling" xml:lang={quoteattr(language)} ttp:contentProfiles="{PROFILE}" '
        'ttp:timeBase="media">',
        "<head>",
        *_metadata(agents, names or {}),
        _HEAD,
        "</head>",
        '<body style="subtitle" region="bottom"><div>',
        *paragraphs,
        "</div></body>",
        "</tt>",
        "",
    ]
    return "\n".join(parts)


def _metadata(agents: Mapping[str, str], names: Mapping[str, str]) -> Iterable[str]:
    if not agents:
        return
    yield "<metadata>"
    for speaker, agent in agents.items():
        name = escape(clean_text(names.get(speaker, "")) or clean_text(speaker))
        yield f'<ttm:agent xml:id="{agent}" type="person"><ttm:name type="full">{name}</ttm:name></ttm:agent>'
    yield "</metadata>"


def _paragraph(start: int, end: int, lines: Sequence[SubtitleLine], agents: Mapping[str, str]) -> str:
    content = "<br/>".join(_line(each, agents) for each in lines)
    return f'<p begin="{clock(start, ".")}" end="{clock(end, ".")}">{content}</p>'


def _line(line: SubtitleLine, agents: Mapping[str, str]) -> str:
    agent = f' ttm:agent="{agents[line.speaker]}"' if line.speaker in agents else ""
    said = f'<span ttm:role="{DIALOG}"{agent}>{escape(clean_text(line.text))}</span>'
    direction = _RIGHT_TO_LEFT if is_right_to_left(line.text) else ""
    return f'<span style="line"{direction}>{DASH if line.dash else ""}{said}</span>'
