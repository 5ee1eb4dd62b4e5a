"""What this installation can make now: translation routes, voices and languages, as its workers advertise them."""
