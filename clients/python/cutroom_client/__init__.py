"""Client for Cutroom, a service for video and audio work.

```python
from cutroom_client import Cutroom

client = Cutroom()  # CUTROOM_API_KEY and CUTROOM_BASE_URL
client.videos.upload("talk.mp4").dub("pt").wait().download("talk-pt.mp4")
```
"""

from importlib import import_module
from typing import TYPE_CHECKING

from cutroom_client._version import __version__ as __version__

if TYPE_CHECKING:
    from cutroom_client.errors import *  # noqa: F403
    from cutroom_client.exports import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        """A public name. The command line starts without them: they take several times as long to import as it does."""
        try:
            return getattr(import_module("cutroom_client.exports"), name)
        except AttributeError:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None

    def __dir__() -> list[str]:
        return sorted(import_module("cutroom_client.exports").__all__)
