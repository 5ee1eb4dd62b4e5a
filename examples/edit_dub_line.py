"""Changes what one line of a dub says, listens to it, and makes only that line again.

    python edit_dub_line.py VIDEO_ID pt --at 12.5 --text "Bom dia a todos."

Without --text it prints the lines. The price of the line is shown first; --yes starts it.
"""

import argparse

from cutroom_client import Cutroom

ENDED = {"dub.regenerated", "dub.regeneration_failed"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("video")
    parser.add_argument("language")
    parser.add_argument("--at", type=float, help="a second in which the line is heard")
    parser.add_argument("--text")
    parser.add_argument("--yes", action="store_true", help="make the line again")
    arguments = parser.parse_args()
    client = Cutroom()
    address = arguments.video, arguments.language
    dub = client.operations.list_segments(*address)
    if arguments.text is None:
        for line in dub.segments:
            print(f"{line.start:7.2f}  {line.text or line.source}")
        return
    line = next((each for each in reversed(dub.segments) if each.start <= arguments.at), None)
    if line is None:
        raise SystemExit("no line has started by then")
    client.operations.edit_segments(
        *address, {"revision": dub.revision, "changes": [{"id": line.id, "text": arguments.text}]}
    )
    changed = client.operations.list_segments(*address)
    work = {"revision": changed.revision, "transcriptRevision": changed.transcript_revision, "segmentIds": [line.id]}
    quote = client.operations.quote_regeneration(*address, work)
    print(f"{quote.credits:g} credits for {quote.seconds:g} seconds")
    if not arguments.yes:
        return
    cursor = client.events.page(types="dub.regenerated", limit=1).cursor
    job = client.operations.regenerate(*address, work, max_credits=quote.credits).job
    for event in client.events.follow(after=cursor, types=sorted(ENDED)):
        if event.data.get("jobId") == job.id:
            print("the dub is new" if event.type == "dub.regenerated" else f"failed: {event.data['error']['message']}")
            return


if __name__ == "__main__":
    main()
