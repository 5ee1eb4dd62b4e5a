"""The delivery log of webhooks, and notifications of people by mail and in their browsers.

Only new tables and columns without a requirement: 0.1.0 runs with either version. Deliveries of events that its
processes publish get their row with their first attempt.
"""

from alembic import op

revision = "0005"
down_revision = "0004"

_OF_LIBRARY = "library_id = current_setting('cutroom.library_id', true)"
# None refers to another of them; what is a member's goes with the membership.
NEW_TABLES = ("webhook_deliveries", "notifications", "notification_preferences", "push_subscriptions")

_DELIVERIES = """
CREATE TABLE webhook_deliveries (
    library_id text COLLATE "C" NOT NULL,
    endpoint_id text COLLATE "C" NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    event_type text NOT NULL,
    event_at timestamptz NOT NULL,
    state text NOT NULL CONSTRAINT webhook_deliveries_state_check CHECK (state IN ('pending', 'delivered', 'failed')),
    attempt_offset smallint NOT NULL DEFAULT 0, -- a redelivery numbers its attempts after those before it
    next_attempt_at timestamptz,
    updated_at timestamptz NOT NULL,
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (library_id, endpoint_id, event_id)
)
"""
_DELIVERIES_FAILED = """
CREATE INDEX webhook_deliveries_failed_idx ON webhook_deliveries (library_id, endpoint_id, event_id)
WHERE state = 'failed'
"""
_DELIVERIES_EVENT = "CREATE INDEX webhook_deliveries_event_idx ON webhook_deliveries (library_id, event_id)"
_DELIVERIES_AT = "CREATE INDEX webhook_deliveries_event_at_idx ON webhook_deliveries (event_at)"
_ATTEMPT_COLUMNS = "ALTER TABLE delivery_attempts ADD COLUMN url text, ADD COLUMN response_body text"
_FAILING_SINCE = "ALTER TABLE webhook_endpoints ADD COLUMN failing_since timestamptz"
# What 0.1.0 has delivered, or is delivering; ten attempts are all that a delivery has.
_EARLIER_DELIVERIES = """
INSERT INTO webhook_deliveries (library_id, endpoint_id, event_id, event_type, event_at, state, updated_at)
SELECT a.library_id, a.endpoint_id, a.event_id, e.type, e.created_at,
       CASE WHEN bool_or(a.outcome = 'delivered') THEN 'delivered'
            WHEN bool_or(a.outcome = 'gone') OR max(a.number) >= 10 THEN 'failed'
            ELSE 'pending' END,
       max(a.at)
  FROM delivery_attempts a JOIN events e ON e.library_id = a.library_id AND e.id = a.event_id
 GROUP BY a.library_id, a.endpoint_id, a.event_id, e.type, e.created_at
"""
_PURGE_DELIVERIES = """
CREATE FUNCTION purge_deliveries(before timestamptz, at_most integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH old AS (
        SELECT library_id, endpoint_id, event_id FROM webhook_deliveries WHERE event_at < before
        ORDER BY event_at LIMIT at_most FOR UPDATE SKIP LOCKED
    ), attempts AS (
        DELETE FROM delivery_attempts a USING old
         WHERE a.library_id = old.library_id AND a.event_id = old.event_id AND a.endpoint_id = old.endpoint_id
    ), gone AS (
        DELETE FROM webhook_deliveries d USING old
         WHERE d.library_id = old.library_id AND d.endpoint_id = old.endpoint_id AND d.event_id = old.event_id
        RETURNING 1
    )
    SELECT count(*)::integer FROM gone
$$
"""
_PREFERENCES = """
CREATE TABLE notification_preferences (
    library_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    channel text NOT NULL CONSTRAINT notification_preferences_channel_check CHECK (channel IN ('mail', 'browser')),
    frequency text NOT NULL CONSTRAINT notification_preferences_frequency_check
        CHECK (frequency IN ('immediately', 'hourly', 'daily', 'never')),
    updated_at timestamptz NOT NULL,
    CONSTRAINT notification_preferences_pkey PRIMARY KEY (library_id, user_id, kind, channel),
    CONSTRAINT notification_preferences_library_id_user_id_fkey FOREIGN KEY (library_id, user_id)
        REFERENCES members (library_id, user_id) ON DELETE CASCADE
)
"""
_NOTIFICATIONS = """
CREATE TABLE notifications (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    channel text NOT NULL CONSTRAINT notifications_channel_check CHECK (channel IN ('mail', 'browser')),
    source text NOT NULL, -- the event, or what else it is about: once per source, person and channel
    kind text NOT NULL,
    subject jsonb NOT NULL,
    frequency text NOT NULL,
    created_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL,
    batch_id text COLLATE "C", -- the notification whose workflow sends it, alone or as a digest
    outcome text CONSTRAINT notifications_outcome_check CHECK (outcome IN ('sent', 'refused', 'withdrawn')),
    ended_at timestamptz,
    CONSTRAINT notifications_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT notifications_source_key UNIQUE (library_id, user_id, channel, source),
    CONSTRAINT notifications_library_id_user_id_fkey FOREIGN KEY (library_id, user_id)
        REFERENCES members (library_id, user_id) ON DELETE CASCADE
)
"""
_NOTIFICATIONS_CREATED = "CREATE INDEX notifications_created_at_idx ON notifications (created_at)"
_NOTIFICATIONS_USER = "CREATE INDEX notifications_user_idx ON notifications (library_id, user_id, created_at)"
_PURGE_NOTIFICATIONS = """
CREATE FUNCTION purge_notifications(before timestamptz, at_most integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH old AS (
        SELECT library_id, id FROM notifications WHERE created_at < before
        ORDER BY created_at LIMIT at_most FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM notifications n USING old WHERE n.library_id = old.library_id AND n.id = old.id RETURNING 1
    )
    SELECT count(*)::integer FROM gone
$$
"""
_SUBSCRIPTIONS = """
CREATE TABLE push_subscriptions (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    hash bytea NOT NULL, -- of the push service's URL, which is a capability
    sealed bytea NOT NULL, -- the URL and the keys of the browser
    device text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT push_subscriptions_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT push_subscriptions_hash_key UNIQUE (library_id, user_id, hash),
    CONSTRAINT push_subscriptions_library_id_user_id_fkey FOREIGN KEY (library_id, user_id)
        REFERENCES members (library_id, user_id) ON DELETE CASCADE
)
"""
_TITLES = """
CREATE VIEW published_titles WITH (security_invoker = true) AS SELECT library_id, id AS video_id, title FROM videos
"""
_ERASURE_TABLES = """
CREATE OR REPLACE FUNCTION erasure_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY[{names}]
$$
"""


def upgrade() -> None:
    for statement in (
        _DELIVERIES,
        _DELIVERIES_FAILED,
        _DELIVERIES_EVENT,
        _DELIVERIES_AT,
        _ATTEMPT_COLUMNS,
        _FAILING_SINCE,
        _EARLIER_DELIVERIES,
        _PURGE_DELIVERIES,
        _PREFERENCES,
        _NOTIFICATIONS,
        _NOTIFICATIONS_CREATED,
        _NOTIFICATIONS_USER,
        _PURGE_NOTIFICATIONS,
        _SUBSCRIPTIONS,
        _TITLES,
    ):
        op.execute(statement)
    for table in NEW_TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_library ON {table} USING ({_OF_LIBRARY}) WITH CHECK ({_OF_LIBRARY})")
    _erase_new_tables()


def _erase_new_tables() -> None:
    listed: list[str] = op.get_bind().exec_driver_sql("SELECT erasure_tables()").scalar_one()
    names = [*(each for each in NEW_TABLES if each not in listed), *listed]
    op.execute(_ERASURE_TABLES.format(names=", ".join(f"'{each}'" for each in names)))


def downgrade() -> None:
    """Nothing to revert: 0.1.0 does not use the new tables and columns."""
