"""Adds up what a batch would cost, and runs it only if that is within a budget.

    python price_check.py VIDEO_ID [VIDEO_ID ...] --dubs pt es --captions fr --budget 40

Each request carries the quoted price as its limit: if a price rises between the quote and the request, nothing is
charged, and the program says so.
"""

import argparse

from cutroom_client import Cutroom, SpendingLimitError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("videos", nargs="+")
    parser.add_argument("--dubs", nargs="*", default=[])
    parser.add_argument("--captions", nargs="*", default=[])
    parser.add_argument("--budget", type=float, required=True)
    arguments = parser.parse_args()
    client = Cutroom()
    works = {
        "dubs": (arguments.dubs, {"dubs": [{"languages": arguments.dubs}]}),
        "captions": (arguments.captions, {"caption_language_codes": arguments.captions}),
    }
    quotes = {}
    for video_id in arguments.videos:
        video = client.videos.get(video_id)
        for product, (languages, work) in works.items():
            if languages:
                quote = video.quote(**work, accept_draft=True)
                quotes[video, product] = quote.total
                print(f"{video.title}: {product} in {', '.join(languages)}: {quote.total:g} credits")
    wallet = client.credits.summary()
    total, available = sum(quotes.values()), wallet.balance + wallet.overdraft
    print(f"total: {total:g} credits, available: {available:g}, budget: {arguments.budget:g}")
    if total > min(arguments.budget, available):
        raise SystemExit("not started: the batch costs more than that")
    for (video, product), price in quotes.items():
        try:
            if product == "dubs":
                jobs = video.dubs(arguments.dubs, accept_draft=True, max_credits=price)
            else:
                jobs = [video.captions(each, accept_draft=True, max_credits=price) for each in arguments.captions]
        except SpendingLimitError as error:
            raise SystemExit(f"{video.title}: the price has changed, nothing was charged: {error}") from None
        print(f"{video.title}: started {', '.join(job.id for job in jobs)}")


if __name__ == "__main__":
    main()
