"""Which library a credential belongs to, before it is authenticated again."""

from collections import OrderedDict

KNOWN_CREDENTIALS = 30_000


class KnownCredentials:
    """The libraries of recently authenticated credentials, which are not kept themselves."""

    def __init__(self, size: int = KNOWN_CREDENTIALS) -> None:
        self._size = size
        self._libraries: OrderedDict[int, str] = OrderedDict()  # by the credential's hash

    def library_of(self, credential: bytes) -> str | None:
        return self._libraries.get(hash(credential))

    def learn(self, credential: bytes, library_id: str) -> None:
        key = hash(credential)
        self._libraries[key] = library_id
        self._libraries.move_to_end(key)
        if len(self._libraries) > self._size:
            self._libraries.popitem(last=False)

    def forget(self, credential: bytes) -> None:
        self._libraries.pop(hash(credential), None)
