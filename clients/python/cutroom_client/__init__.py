"""Client for Cutroom, a service for video and audio work.

```python
from cutroom_client import Cutroom

client = Cutroom()  # CUTROOM_API_KEY and CUTROOM_BASE_URL
client.videos.upload("talk.mp4").dub("pt").wait().download("talk-pt.mp4")
```
"""

from cutroom_client import models, webhooks
from cutroom_client._async.client import AsyncCutroom
from cutroom_client._async.jobs import AsyncJobHandle
from cutroom_client._async.video import AsyncVideoHandle
from cutroom_client._sync.client import Cutroom
from cutroom_client._sync.jobs import JobHandle
from cutroom_client._sync.video import VideoHandle
from cutroom_client._version import __version__
from cutroom_client.errors import *  # noqa: F403 (one class per error code; `__all__` of the module lists them)
from cutroom_client.errors import __all__ as _errors
from cutroom_client.retrying import RetryPolicy
from cutroom_client.server_events import ServerEvent
from cutroom_client.transfers import SavedFile, TransferProgress
from cutroom_client.webhooks import WebhookEvent

__all__ = [  # noqa: PLE0604
    "AsyncCutroom",
    "AsyncJobHandle",
    "AsyncVideoHandle",
    "Cutroom",
    "JobHandle",
    "RetryPolicy",
    "SavedFile",
    "ServerEvent",
    "TransferProgress",
    "VideoHandle",
    "WebhookEvent",
    "__version__",
    "models",
    "webhooks",
    *_errors,
]
