"""Signs the URL of an erasure's certificate: with the library, every credential that could read it is gone."""

import hmac
from dataclasses import dataclass

from cutroom.platform.secret_box import SecretBox

PREFIX = "/erasures"
TOKEN_PREFIX = "ecert_"  # noqa: S105 (a prefix, not a secret); lets log redaction recognize tokens
PURPOSE = "erasure-link"
_SIGNATURE_BYTES = 16


@dataclass(frozen=True, slots=True)
class CertificateLinks:
    """Issues and reads certificate tokens, which do not expire: a rotation of the key ring does not end them."""

    secret_box: SecretBox
    base_url: str

    def url(self, erasure_id: str) -> str:
        return f"{self.base_url.rstrip('/')}{PREFIX}/{self.token(erasure_id)}"

    def token(self, erasure_id: str) -> str:
        signature = self.secret_box.keyed_hash(PURPOSE, erasure_id)[:_SIGNATURE_BYTES]
        return f"{TOKEN_PREFIX}{erasure_id}{signature.hex()}"

    def erasure_id(self, token: str) -> str | None:
        """The erasure that a token belongs to; None if it was not issued here."""
        erasure_id = token.removeprefix(TOKEN_PREFIX)[: -2 * _SIGNATURE_BYTES]
        # Compared as a whole, so that a token has one spelling; the comparison takes the same time for all.
        return erasure_id if hmac.compare_digest(token.encode(), self.token(erasure_id).encode()) else None
