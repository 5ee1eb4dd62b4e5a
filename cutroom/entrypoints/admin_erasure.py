"""Admin commands for certificates of erasure."""

import base64
import binascii
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from cutroom.entrypoints.operator import show
from cutroom.platform.settings import Settings
from cutroom.retention.erasure.log import ErasureLog, is_valid_certificate

app = typer.Typer(no_args_is_help=True, help="Certificates of erasure.")


@app.command("verify")
def verify(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The certificate, as downloaded.")],
    *,
    public_key: Annotated[
        str | None, typer.Option(help="The key of the installation, in base64; that of this installation if omitted.")
    ] = None,
) -> None:
    """Verify the signature of a certificate; exits with 1 if it was changed or issued elsewhere."""
    key = _decode(public_key) if public_key is not None else ErasureLog.of(Settings()).public_key
    signed = _read(file)
    is_valid = is_valid_certificate(signed, key)
    certificate = signed.get("certificate")
    details = certificate if is_valid and isinstance(certificate, dict) else {}
    show(ok=is_valid, **{name: details[name] for name in ("erasureId", "libraryId", "finishedAt") if name in details})
    if not is_valid:
        raise typer.Exit(1)


@app.command("key")
def show_key() -> None:
    """Print the public key that verifies certificates."""
    show(publicKey=base64.b64encode(ErasureLog.of(Settings()).public_key).decode())


def _read(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_bytes())
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise typer.BadParameter(f"{file} is not a certificate")
    return document


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise typer.BadParameter("the public key is not base64") from error
