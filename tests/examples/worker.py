"""The product's worker, whose egress resolves one name to a media server of the test, and no other."""

import asyncio
import os
import ssl
from ipaddress import IPv4Address
from pathlib import Path

from cutroom.platform.egress.addresses import Address, AddressDeniedError, Resolver
from cutroom.platform.egress.client import Egress
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import configure_logging

CERTIFICATE = "TEST_CERTIFICATE"  # environment variable: path of the media server's certificate
NAME = "media.example.com"


class LoopbackResolver(Resolver):
    """Resolves the media server to loopback, which the product's own resolver denies by design."""

    async def resolve(self, host: str, port: int) -> list[Address]:
        if host != NAME:
            raise AddressDeniedError(f"{host}:{port} is not the media server")
        return [IPv4Address("127.0.0.1")]


class LoopbackEgress(Egress):
    """The product's egress client, except that it may reach loopback."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        super().__init__(tls=tls)
        self._resolver = LoopbackResolver()


def main() -> None:
    from cutroom.entrypoints.worker import run  # noqa: PLC0415 - loads most of the product

    settings = Settings()
    configure_logging(settings.log_level)
    certificate = Path(os.environ[CERTIFICATE]).read_text()
    asyncio.run(run(settings, LoopbackEgress(ssl.create_default_context(cadata=certificate))))


if __name__ == "__main__":
    main()
