"""Admin commands for the key ring and for signing secrets of webhooks."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from cutroom.audit.service import INSTALLATION
from cutroom.entrypoints.operator import record, run, show
from cutroom.library.playback import PURPOSE
from cutroom.platform import key_ring
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.key_ring import ACTIVATION_DELAY, GRACE_PERIOD, RingKeyInfo
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.webhooks.secret_rotation import ROTATE_ACTION, SECRET_GRACE_PERIOD, RotatedSecret, rotate_secret

app = typer.Typer(no_args_is_help=True, help="Keys that sign URLs, forms and webhooks, and encrypt stored secrets.")
MAX_GRACE_HOURS = 24 * 365


@app.command("rotate")
def rotate(
    *,
    grace_hours: Annotated[
        float, typer.Option(min=0, max=MAX_GRACE_HOURS, help="How long what earlier keys have signed remains valid.")
    ] = GRACE_PERIOD.total_seconds() / 3600,
    activation_seconds: Annotated[
        float, typer.Option(min=0, max=3600, help="Time until the new key signs; all processes must learn it before.")
    ] = ACTIVATION_DELAY.total_seconds(),
) -> None:
    """Add a key to the ring, without restarts: it signs and encrypts from its activation on."""

    async def work(connection: Connection, settings: Settings) -> RingKeyInfo:
        new = await key_ring.rotate(
            connection,
            SecretBox(settings.secret_key.get_secret_value()),
            now=system_clock(),
            activation_delay=timedelta(seconds=activation_seconds),
            grace_period=timedelta(hours=grace_hours),
        )
        after = {"activationSeconds": activation_seconds, "graceHours": grace_hours}
        await record(connection, settings, INSTALLATION, "keyRing.rotate", targets={"ringKeyId": new.id}, after=after)
        return new

    show(**_shown(run(work)))


@app.command("list")
def list_keys() -> None:
    """List the keys of the ring, the latest first; there are none before the first rotation."""

    async def work(connection: Connection, _settings: Settings) -> list[RingKeyInfo]:
        return await key_ring.list_keys(connection)

    show(keys=[_shown(each) for each in run(work)])


@app.command("playback")
def playback_keys() -> None:
    """Print the derived keys, by key id, with which a CDN verifies playback URLs."""

    async def work(connection: Connection, settings: Settings) -> dict[int, bytes]:
        secret_box = SecretBox(settings.secret_key.get_secret_value())
        await key_ring.load_key_ring(connection, secret_box)
        return secret_box.verification_keys(PURPOSE)

    show(**{f"{key_id:08x}": key.hex() for key_id, key in run(work).items()})


@app.command("rotate-webhook")
def rotate_webhook(
    endpoint_id: str,
    *,
    grace_hours: Annotated[
        float, typer.Option(min=0, max=MAX_GRACE_HOURS, help="How long the previous secret signs deliveries too.")
    ] = SECRET_GRACE_PERIOD.total_seconds() / 3600,
) -> None:
    """Replace the signing secret of a webhook endpoint; the new one is printed only once."""

    async def work(connection: Connection, settings: Settings) -> RotatedSecret:
        secret_box = SecretBox(settings.secret_key.get_secret_value())
        await key_ring.load_key_ring(connection, secret_box)
        rotated = await rotate_secret(
            connection,
            endpoint_id,
            secret_box=secret_box,
            grace_period=timedelta(hours=grace_hours),
            now=system_clock(),
        )
        await record(connection, settings, rotated.library_id, ROTATE_ACTION, targets={"endpointId": endpoint_id})
        return rotated

    rotated = run(work)
    show(endpointId=endpoint_id, secret=rotated.secret, previousSecretUntil=rotated.previous_until.isoformat())


def _shown(key: RingKeyInfo) -> dict[str, Any]:
    names = {"id": "id", "created_at": "createdAt", "active_from": "activeFrom", "verifies_until": "verifiesUntil"}
    return {
        names[name]: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(key).items()
    }
