"""The product's worker with a webhook sender that only reaches the proof's receiver.

The proof of an upgrade runs this file with the worker of a release, whose environment has no packages of proofs.
"""

import asyncio
import os
import ssl
from ipaddress import IPv4Address
from pathlib import Path

from cutroom.platform.egress.addresses import Address, AddressDeniedError, Resolver
from cutroom.platform.egress.client import Egress
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import configure_logging

CERTIFICATE = "PROOF_CERTIFICATE"  # environment variable: path of the receiver's certificate
NAME = "receiver.example.com"  # resolved only by the sender below


class LoopbackResolver(Resolver):
    """Resolves one fake name to loopback, which the product's own resolver denies by design."""

    async def resolve(self, host: str, port: int) -> list[Address]:
        if host != NAME:
            raise AddressDeniedError(f"{host}:{port} is not the proof's receiver")
        return [IPv4Address("127.0.0.1")]


class LoopbackSender(Egress):
    """The product's egress client, except that it may reach loopback."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        super().__init__(tls=tls)
        self._resolver = LoopbackResolver()


def main() -> None:
    from cutroom.entrypoints.worker import run  # noqa: PLC0415 - loads most of the product

    settings = Settings()
    configure_logging(settings.log_level)
    certificate = Path(os.environ[CERTIFICATE]).read_text()
    asyncio.run(run(settings, LoopbackSender(ssl.create_default_context(cadata=certificate))))


if __name__ == "__main__":
    main()
