"""Keeps names as they are in every translation, and prints the glossary as CSV: `python glossary.py Cutroom Ada`."""

import sys

from cutroom_client import Cutroom

client = Cutroom()
known = {each.term for each in client.glossary.list(language="en")}
for name in sys.argv[1:]:
    if name not in known:
        client.glossary.create(name, "en", keep=True)
print(client.glossary.export())
