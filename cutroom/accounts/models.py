"""Tables of users, libraries, members, API keys, sessions, invitations, OAuth and account security."""

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, LargeBinary, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class User(Table):
    """A user account."""

    __tablename__ = "users"

    id: Mapped[Id] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(Text, unique=True)  # stored in lower case
    name: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]


class Library(Table):
    """A personal library, or a workspace shared by its members.

    The id of a workspace library is the API's `workspaceId`.
    """

    __tablename__ = "libraries"
    __table_args__ = (
        CheckConstraint("kind IN ('personal', 'workspace')", name="kind"),
        CheckConstraint("least(storage_bytes_quota, media_minutes_quota, unfinished_jobs_quota) >= 0", name="quotas"),
    )

    id: Mapped[Id] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    plan: Mapped[str] = mapped_column(Text)
    suspended_at: Mapped[Instant | None]
    refuses_drafts: Mapped[bool] = mapped_column(server_default=text("false"))  # of translations
    urls_valid_from: Mapped[Instant | None]  # signed URLs from before are refused: a member has left
    # Quotas that the operator has set in place of the plan's.
    storage_bytes_quota: Mapped[int | None] = mapped_column(BigInteger)
    media_minutes_quota: Mapped[int | None] = mapped_column(BigInteger)
    unfinished_jobs_quota: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[Instant]
    erased_at: Mapped[Instant | None]  # when its erasure was requested; the row goes last


class Member(Table):
    """A user's role in a library. A personal library has one member: its owner."""

    __tablename__ = "members"
    __table_args__ = (
        CheckConstraint("role IN ('owner', 'admin', 'editor', 'viewer')", name="role"),
        Index("members_user_id_idx", "user_id"),
    )

    library_id: Mapped[Id] = mapped_column(ForeignKey("libraries.id"), primary_key=True)
    user_id: Mapped[Id] = mapped_column(ForeignKey("users.id"), primary_key=True)
    role: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]


class ApiKey(Table):
    """An API key, stored as a keyed hash with its last four characters as a hint."""

    __tablename__ = "api_keys"
    __table_args__ = (Index("api_keys_library_id_idx", "library_id", "id"),)

    id: Mapped[Id] = mapped_column(primary_key=True)
    library_id: Mapped[Id] = mapped_column(ForeignKey("libraries.id"))
    user_id: Mapped[Id] = mapped_column(ForeignKey("users.id"))
    name: Mapped[str] = mapped_column(Text)
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    hint: Mapped[str] = mapped_column(Text)
    scopes: Mapped[list[str]] = mapped_column(ARRAY(Text))
    # Speech keys created before scopes existed: no stored scopes, full speech access.
    legacy_speech: Mapped[bool] = mapped_column(server_default=text("false"))
    created_at: Mapped[Instant]
    last_used_at: Mapped[Instant | None]
    revoked_at: Mapped[Instant | None]


class OAuthToken(Table):
    """An access token granted to a client, bound to one library."""

    __tablename__ = "oauth_tokens"
    __table_args__ = (
        Index("oauth_tokens_library_id_idx", "library_id", "id"),
        Index("oauth_tokens_grant_id_idx", "library_id", "grant_id", postgresql_where=text("grant_id IS NOT NULL")),
    )

    id: Mapped[Id] = mapped_column(primary_key=True)
    library_id: Mapped[Id] = mapped_column(ForeignKey("libraries.id"))
    user_id: Mapped[Id] = mapped_column(ForeignKey("users.id"))
    client_id: Mapped[str] = mapped_column(Text)
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    scopes: Mapped[list[str]] = mapped_column(ARRAY(Text))
    created_at: Mapped[Instant]
    expires_at: Mapped[Instant]
    revoked_at: Mapped[Instant | None]
    grant_id: Mapped[Id | None]  # the consent it was issued for


class OAuthClient(Table):
    """A public OAuth client: it has no secret and uses PKCE."""

    __tablename__ = "oauth_clients"
    __table_args__ = (Index("oauth_clients_owner_id_idx", "owner_id"),)

    id: Mapped[Id] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    redirect_uris: Mapped[list[str]] = mapped_column(ARRAY(Text))
    owner_id: Mapped[Id | None] = mapped_column(ForeignKey("users.id"))  # null for clients registered by the operator
    created_at: Mapped[Instant]
    revoked_at: Mapped[Instant | None]


class OAuthGrant(Table):
    """A consent with its authorization code; all tokens issued from it share its id."""

    __tablename__ = "oauth_grants"
    __table_args__ = (Index("oauth_grants_user_id_idx", "library_id", "user_id", "id"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    user_id: Mapped[Id]
    client_id: Mapped[Id]
    scopes: Mapped[list[str]] = mapped_column(ARRAY(Text))
    redirect_uri: Mapped[str] = mapped_column(Text)
    code_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    code_challenge: Mapped[str] = mapped_column(Text)
    code_expires_at: Mapped[Instant]
    code_used_at: Mapped[Instant | None]
    created_at: Mapped[Instant]
    revoked_at: Mapped[Instant | None]


class OAuthRefreshToken(Table):
    """Can be exchanged once for a new token pair; reuse revokes the grant."""

    __tablename__ = "oauth_refresh_tokens"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    grant_id: Mapped[Id]
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_at: Mapped[Instant]
    expires_at: Mapped[Instant]
    used_at: Mapped[Instant | None]


class UserPassword(Table):
    """The Argon2 hash of a password."""

    __tablename__ = "user_passwords"

    user_id: Mapped[Id] = mapped_column(ForeignKey("users.id"), primary_key=True)
    hash: Mapped[str] = mapped_column(Text)
    changed_at: Mapped[Instant]


class SessionRow(Table):
    """A console session and its selected library."""

    __tablename__ = "sessions"
    __table_args__ = (Index("sessions_user_id_idx", "user_id"),)

    id: Mapped[Id] = mapped_column(primary_key=True)
    user_id: Mapped[Id] = mapped_column(ForeignKey("users.id"))
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    # Not `library_id`, because the row belongs to the user and not to a library.
    chosen_library: Mapped[Id] = mapped_column(ForeignKey("libraries.id"))
    created_at: Mapped[Instant]
    seen_at: Mapped[Instant]
    expires_at: Mapped[Instant]
    client_address: Mapped[str | None] = mapped_column(Text)  # where it was started
    user_agent: Mapped[str | None] = mapped_column(Text)


class Invitation(Table):
    """An invitation for one e-mail address to join a workspace."""

    __tablename__ = "invitations"
    __table_args__ = (CheckConstraint("role IN ('owner', 'admin', 'editor', 'viewer')", name="role"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(Text)
    role: Mapped[str] = mapped_column(Text)
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    invited_by: Mapped[Id]
    created_at: Mapped[Instant]
    expires_at: Mapped[Instant]
    ended_at: Mapped[Instant | None]  # accepted or revoked


class AccountSecurity(Table):
    """How an account is protected, stored with its personal library."""

    __tablename__ = "account_security"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    must_verify_email: Mapped[bool] = mapped_column(server_default=text("false"))
    email_verified_at: Mapped[Instant | None]
    totp_secret: Mapped[bytes | None] = mapped_column(LargeBinary)  # sealed; pending until a code of it was entered
    totp_enabled_at: Mapped[Instant | None]
    totp_last_step: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))  # of the last accepted code
    failed_codes: Mapped[int] = mapped_column(server_default=text("0"))  # in a row
    codes_blocked_until: Mapped[Instant | None]


class RecoveryCode(Table):
    """A code that replaces the second factor once, stored as a keyed hash."""

    __tablename__ = "recovery_codes"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    used_at: Mapped[Instant | None]


class AccountMail(Table):
    """A mail to the owner of an account. The secret of its link is kept as a hash, and sealed until it is sent."""

    __tablename__ = "account_mails"
    __table_args__ = (CheckConstraint("outcome IN ('sent', 'refused')", name="outcome"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(Text)
    recipient: Mapped[str] = mapped_column(Text)
    hash: Mapped[bytes | None] = mapped_column(LargeBinary, unique=True)
    sealed_secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    created_at: Mapped[Instant]
    expires_at: Mapped[Instant]
    outcome: Mapped[str | None] = mapped_column(Text)
    used_at: Mapped[Instant | None]  # by opening its link, or by a newer one


class Passkey(Table):
    """A public key that a device of the account's owner signs in with."""

    __tablename__ = "passkeys"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    credential_id: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    sign_count: Mapped[int] = mapped_column(BigInteger)
    name: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]
    last_used_at: Mapped[Instant | None]
    last_challenge_at: Mapped[Instant]  # when the last signed challenge was issued: each works once
