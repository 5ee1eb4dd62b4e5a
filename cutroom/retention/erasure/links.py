"""Signs the URL of an erasure's certificate: with the library, every credential that could read it is gone."""

from dataclasses import dataclass

from cutroom.platform.secret_box import SecretBox

PREFIX = "/erasures"
TOKEN_PREFIX = "ecert_"  # noqa: S105 (a prefix, not a secret); lets log redaction recognize tokens
PURPOSE = "erasure-link"
_SIGNATURE_DIGITS = 32


@dataclass(frozen=True, slots=True)
class CertificateLinks:
    """Issues and reads certificate tokens, which do not expire."""

    secret_box: SecretBox
    base_url: str

    def url(self, erasure_id: str) -> str:
        return f"{self.base_url.rstrip('/')}{PREFIX}/{self.token(erasure_id)}"

    def token(self, erasure_id: str) -> str:
        signature = self.secret_box.sign(PURPOSE, erasure_id.encode())
        return f"{TOKEN_PREFIX}{erasure_id}{signature.hex()}"

    def erasure_id(self, token: str) -> str | None:
        """The erasure that a token belongs to; None if it was not issued here."""
        erasure_id = token.removeprefix(TOKEN_PREFIX)[:-_SIGNATURE_DIGITS]
        # Compared as a whole, so that a token has one spelling; the comparison takes the same time for all.
        signature = token[-_SIGNATURE_DIGITS:]
        try:
            is_signed = self.secret_box.is_signed(PURPOSE, erasure_id.encode(), bytes.fromhex(signature))
        except ValueError:
            return None
        return erasure_id if is_signed and token == self.token(erasure_id) else None
