"""Makes captions for a back catalogue that is listed in a CSV file, and writes what became of each row.

    python caption_catalogue.py catalogue.csv results.csv --max-credits 5

Columns of the input: `file` (a path) or `url`, and `languages`, separated by spaces. Run it again to continue:
rows that the results have as ready are skipped, and interrupted uploads go on.
"""

import argparse
import csv
from pathlib import Path

from cutroom_client import AlreadyExistsError, Cutroom, CutroomError, VideoHandle

FIELDS = ("source", "video", "language", "status", "detail")


def open_video(client: Cutroom, row: dict[str, str]) -> VideoHandle:
    if row.get("file"):
        return client.videos.upload(row["file"])
    try:
        return client.videos.import_url(row["url"])
    except AlreadyExistsError as error:
        return client.videos.get(error.details["videoId"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("catalogue", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--max-credits", type=float, required=True, help="for the captions of one row")
    arguments = parser.parse_args()
    done = set()
    if arguments.results.exists():
        with arguments.results.open(newline="") as file:
            done = {(row["source"], row["language"]) for row in csv.DictReader(file) if row["status"] == "ready"}
    client = Cutroom(max_credits=arguments.max_credits)
    with arguments.catalogue.open(newline="") as file, arguments.results.open("a", newline="") as output:
        results = csv.DictWriter(output, FIELDS)
        if arguments.results.stat().st_size == 0:
            results.writeheader()
        for row in csv.DictReader(file):
            source = row.get("file") or row["url"]
            wanted = [each for each in row["languages"].split() if (source, each) not in done]
            try:
                video = open_video(client, row) if wanted else None
                for language in wanted:
                    job = video.captions(language, accept_draft=True).wait()
                    saved = job.download(Path(f"{video.id}.{language}.srt"))
                    results.writerow(dict(zip(FIELDS, (source, video.id, language, "ready", saved.path), strict=True)))
            except CutroomError as error:
                results.writerow(dict(zip(FIELDS, (source, "", " ".join(wanted), "failed", error), strict=True)))
            output.flush()


if __name__ == "__main__":
    main()
