"""Private services for a proof that kills them."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dev.services import control

PORT_BASE = 27400


@contextmanager
def own_services(port_base: int = PORT_BASE) -> Iterator[None]:
    """Run PostgreSQL, Redis, Temporal and SeaweedFS on other ports, in a folder that is deleted afterwards."""
    previous = {name: os.environ.get(name) for name in ("CUTROOM_DATA_DIR", "CUTROOM_PORT_BASE")}
    folder = Path(tempfile.mkdtemp(prefix="cutroom-proof-"))
    folder.chmod(0o755)  # PostgreSQL runs as another user when we are root
    os.environ["CUTROOM_DATA_DIR"], os.environ["CUTROOM_PORT_BASE"] = str(folder), str(port_base)
    try:
        control.start_all()
        yield
    finally:
        control.wipe()
        shutil.rmtree(folder, ignore_errors=True)
        for name, value in previous.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
