"""The product's worker with a webhook sender that only reaches the proof's receiver."""

import asyncio
import os
import ssl
from pathlib import Path

from cutroom.entrypoints.worker import run
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import configure_logging
from proofs.stage.webhook_receiver import LoopbackSender

CERTIFICATE = "PROOF_CERTIFICATE"  # environment variable: path of the receiver's certificate


def main() -> None:
    settings = Settings()
    configure_logging(settings.log_level)
    certificate = Path(os.environ[CERTIFICATE]).read_text()
    asyncio.run(run(settings, LoopbackSender(ssl.create_default_context(cadata=certificate))))


if __name__ == "__main__":
    main()
