"""Registers passkeys and verifies sign-ins with them (WebAuthn)."""

import base64
import json
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import options_to_json_dict, parse_authentication_credential_json
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from cutroom.accounts.passkeys.rules import PasskeySite
from cutroom.accounts.sessions import AuthenticatedUser, normalize_name
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox

CHALLENGE_PURPOSE = "passkey-challenge"
CHALLENGE_BYTES = 32
CHALLENGE_LIFETIME = timedelta(minutes=5)
MAX_PASSKEYS = 10
MAX_CREDENTIAL = 32_000  # characters of what a browser sends
MAX_STATE = 2_000
SITE_NAME = "Cutroom"


@dataclass(frozen=True, slots=True)
class PasskeyRequest:
    """What a browser is asked for, and the challenge in a sealed form that it sends back."""

    options: dict[str, Any]
    state: str


@dataclass(frozen=True, slots=True)
class Challenge:
    """A random value to sign, when it was issued, and for whose registration; none for a sign-in."""

    value: bytes
    issued_at: datetime
    user_id: str | None

    def seal(self, secret_box: SecretBox, *, cookie: str) -> str:
        """Bound to the browser: without its cookie, the text is useless."""
        document = {
            "value": base64.b64encode(self.value).decode(),
            "issuedAt": self.issued_at.isoformat(),
            "userId": self.user_id,
        }
        sealed = secret_box.seal(CHALLENGE_PURPOSE, json.dumps(document).encode(), cookie)
        return base64.urlsafe_b64encode(sealed).decode()


@dataclass(frozen=True, slots=True)
class PasskeyInfo:
    """A passkey as its owner sees it."""

    id: str
    name: str
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class PasskeyOwner:
    """The account of a passkey that a browser names; not verified yet."""

    user: AuthenticatedUser
    passkey_id: str


@dataclass(frozen=True, slots=True)
class PasskeyService:
    """Registers and verifies passkeys. Rows are read and written in the account's personal library."""

    secret_box: SecretBox
    site: PasskeySite

    async def registration_request(
        self, connection: Connection, user: AuthenticatedUser, *, email: str, cookie: str, now: datetime
    ) -> PasskeyRequest:
        """Ask for a passkey that is stored on the device, and that verifies the person."""
        rows = await connection.fetch("SELECT credential_id FROM passkeys WHERE library_id = $1", user.library_id)
        if len(rows) >= MAX_PASSKEYS:
            raise CutroomError(Code.CONFLICT, message=f"An account has at most {MAX_PASSKEYS} passkeys.")
        challenge = Challenge(secrets.token_bytes(CHALLENGE_BYTES), now, user.user_id)
        options = generate_registration_options(
            rp_id=self.site.host,
            rp_name=SITE_NAME,
            user_id=user.user_id.encode(),
            user_name=email,
            challenge=challenge.value,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED,
                user_verification=UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=[PublicKeyCredentialDescriptor(id=row["credential_id"]) for row in rows],
        )
        return PasskeyRequest(options_to_json_dict(options), challenge.seal(self.secret_box, cookie=cookie))

    async def register(
        self,
        connection: Connection,
        user: AuthenticatedUser,
        *,
        credential: str,
        state: str,
        name: str,
        cookie: str,
        now: datetime,
    ) -> str:
        """Store a new passkey and return its id."""
        challenge = self._unseal(state, cookie=cookie, now=now)
        if challenge is None or challenge.user_id != user.user_id:
            raise _refused()
        try:
            verified = verify_registration_response(
                credential=credential[:MAX_CREDENTIAL],
                expected_challenge=challenge.value,
                expected_rp_id=self.site.host,
                expected_origin=self.site.origin,
                require_user_verification=True,
            )
        except (WebAuthnException, ValueError, TypeError, KeyError) as error:
            raise _refused() from error
        passkey_id = new_id()
        row = {
            "library_id": user.library_id,
            "id": passkey_id,
            "credential_id": verified.credential_id,
            "public_key": verified.credential_public_key,
            "sign_count": verified.sign_count,
            "name": normalize_name(name or "Passkey"),
            "created_at": now,
            "last_challenge_at": challenge.issued_at,
        }
        try:
            await insert(connection, "passkeys", row)
        except asyncpg.UniqueViolationError as error:
            raise CutroomError(Code.ALREADY_EXISTS, message="This passkey is registered already.") from error
        return passkey_id

    def sign_in_request(self, *, cookie: str, now: datetime) -> PasskeyRequest:
        """Ask for any passkey of this site; the same for everybody, so that it reveals no account."""
        challenge = Challenge(secrets.token_bytes(CHALLENGE_BYTES), now, None)
        options = generate_authentication_options(
            rp_id=self.site.host,
            challenge=challenge.value,
            user_verification=UserVerificationRequirement.REQUIRED,
        )
        return PasskeyRequest(options_to_json_dict(options), challenge.seal(self.secret_box, cookie=cookie))

    async def verify(
        self, connection: Connection, owner: PasskeyOwner, *, credential: str, state: str, cookie: str, now: datetime
    ) -> bool:
        """Verify a sign-in in a transaction of the owner's personal library.

        The row is locked, and a challenge must be later than the last one that was signed: each works once.
        """
        challenge = self._unseal(state, cookie=cookie, now=now)
        row = await connection.fetchrow(
            """SELECT public_key, sign_count, last_challenge_at FROM passkeys
               WHERE library_id = $1 AND id = $2 FOR UPDATE""",
            owner.user.library_id,
            owner.passkey_id,
        )
        if challenge is None or challenge.user_id is not None or row is None:
            return False
        if challenge.issued_at <= row["last_challenge_at"]:
            return False
        try:
            verified = verify_authentication_response(
                credential=credential[:MAX_CREDENTIAL],
                expected_challenge=challenge.value,
                expected_rp_id=self.site.host,
                expected_origin=self.site.origin,
                credential_public_key=row["public_key"],
                credential_current_sign_count=row["sign_count"],
                require_user_verification=True,
            )
        except (WebAuthnException, ValueError, TypeError, KeyError):
            return False
        await connection.execute(
            """UPDATE passkeys SET sign_count = $3, last_used_at = $4, last_challenge_at = $5
               WHERE library_id = $1 AND id = $2""",
            owner.user.library_id,
            owner.passkey_id,
            verified.new_sign_count,
            now,
            challenge.issued_at,
        )
        return True

    def _unseal(self, state: str, *, cookie: str, now: datetime) -> Challenge | None:
        try:
            sealed = base64.urlsafe_b64decode(state[:MAX_STATE].encode())
            document = json.loads(self.secret_box.unseal(CHALLENGE_PURPOSE, sealed, cookie))
        except ValueError:
            return None
        issued_at = datetime.fromisoformat(document["issuedAt"]).astimezone(UTC)
        if not issued_at <= now < issued_at + CHALLENGE_LIFETIME:
            return None
        return Challenge(base64.b64decode(document["value"]), issued_at, document["userId"])


async def find_owner(connection: Connection, credential: str) -> PasskeyOwner | None:
    """The account of the passkey that a browser has sent."""
    try:
        parsed = parse_authentication_credential_json(credential[:MAX_CREDENTIAL])
    except (WebAuthnException, ValueError, TypeError, KeyError):
        return None
    row = await connection.fetchrow("SELECT * FROM find_passkey($1)", parsed.raw_id)
    if row is None:
        return None
    return PasskeyOwner(AuthenticatedUser(row["user_id"], row["library_id"]), row["passkey_id"])


async def list_passkeys(connection: Connection, library_id: str) -> list[PasskeyInfo]:
    rows = await connection.fetch(
        "SELECT id, name, created_at, last_used_at FROM passkeys WHERE library_id = $1 ORDER BY id LIMIT $2",
        library_id,
        MAX_PASSKEYS,
    )
    return [PasskeyInfo(row["id"], row["name"], row["created_at"], row["last_used_at"]) for row in rows]


async def delete_passkey(connection: Connection, library_id: str, passkey_id: str) -> None:
    done = await connection.execute("DELETE FROM passkeys WHERE library_id = $1 AND id = $2", library_id, passkey_id)
    if done == "DELETE 0":
        raise not_found()


async def delete_all_passkeys(connection: Connection, library_id: str) -> int:
    """Delete all passkeys of an account; return how many. For administrators."""
    rows = await connection.fetch("DELETE FROM passkeys WHERE library_id = $1 RETURNING id", library_id)
    return len(rows)


def _refused() -> CutroomError:
    return invalid_field("credential", "The passkey could not be registered. Try again.")
