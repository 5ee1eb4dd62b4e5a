"""The product's worker with the name server of the proof."""

import asyncio
import os
import ssl
from pathlib import Path

from cutroom.entrypoints.worker import run
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import configure_logging
from proofs.hardening.hosts import AttackEgress

CERTIFICATE = "PROOF_CERTIFICATE"  # environment variable: path of the attacker's certificate


def main() -> None:
    settings = Settings()
    configure_logging(settings.log_level)
    certificate = Path(os.environ[CERTIFICATE]).read_text()
    asyncio.run(run(settings, AttackEgress(ssl.create_default_context(cadata=certificate))))


if __name__ == "__main__":
    main()
