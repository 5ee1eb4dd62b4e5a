"""The worker of the story: the product's own in all but its way out, which leads to the proof's receiver only."""

import asyncio
import os
import ssl
from pathlib import Path

from cutroom.entrypoints.worker import run
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import configure_logging
from proofs.stage.webhook_receiver import LoopbackSender

CERTIFICATE = "STORY_CERTIFICATE"  # a variable: the file with the receiver's certificate


def main() -> None:
    settings = Settings()
    configure_logging(settings.log_level)
    certificate = Path(os.environ[CERTIFICATE]).read_text()
    asyncio.run(run(settings, LoopbackSender(ssl.create_default_context(cadata=certificate))))


if __name__ == "__main__":
    main()
