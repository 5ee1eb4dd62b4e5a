"""Records the steps and earlier attempts of jobs for their timeline, and announces changes to open pages.

0.1.0 runs with either version: it names the columns that it writes, and has no listener for what its changes announce.
"""

from alembic import op

revision = "0006"
down_revision = "0005"

_COLUMNS = """
ALTER TABLE jobs ADD COLUMN requested_at timestamptz, ADD COLUMN steps jsonb, ADD COLUMN earlier_attempts jsonb
"""
# Adds a change to the steps of an attempt: one entry for each stage, however many activities it consists of.
_WITH_STEP = """
CREATE FUNCTION with_step(steps jsonb, of_stage text, change text, at timestamptz, error text) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
    place integer;
    step jsonb;
BEGIN
    steps := coalesce(steps, '[]');
    SELECT e.place - 1, e.value INTO place, step
      FROM jsonb_array_elements(steps) WITH ORDINALITY AS e (value, place) WHERE e.value ->> 'stage' = of_stage;
    IF step IS NULL THEN
        IF change NOT IN ('started', 'retried') OR jsonb_array_length(steps) >= 30 THEN
            RETURN steps;
        END IF;
        place := jsonb_array_length(steps);
        step := jsonb_build_object('stage', of_stage, 'started_at', at, 'runs', 0, 'retries', 0);
    END IF;
    step := step || CASE change
        WHEN 'started' THEN jsonb_build_object('runs', (step ->> 'runs')::integer + 1)
        WHEN 'retried' THEN jsonb_build_object('retries', (step ->> 'retries')::integer + 1, 'retried_at', at)
        WHEN 'ended' THEN jsonb_build_object('ended', coalesce((step ->> 'ended')::integer, 0) + 1, 'ended_at', at)
        ELSE jsonb_build_object('error', error)
    END;
    RETURN jsonb_set(steps, ARRAY[place::text], step);
END $$
"""
# Keeps the latest ten: an attempt that is replaced by the next one.
_WITH_ATTEMPT = """
CREATE FUNCTION with_attempt(earlier jsonb, attempt jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN jsonb_array_length(coalesce(earlier, '[]')) < 10 THEN coalesce(earlier, '[]')
                ELSE earlier - 0 END || attempt
$$
"""

# A notification is `<library or session> <topic> <transaction>`, sent with the commit and once per transaction.
_ANNOUNCE = """
CREATE FUNCTION announce_{name}() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    {body}
    RETURN NULL;
END $$
"""
_NOTIFY = "PERFORM pg_notify('changes', {key} || ' ' || {topic} || ' ' || pg_current_xact_id()::text);"
_LIBRARY = "coalesce(NEW.library_id, OLD.library_id)"
_ANNOUNCEMENTS = {
    # Takes the topic as its argument.
    "change": _NOTIFY.format(key=_LIBRARY, topic="TG_ARGV[0]"),
    "video_output": _NOTIFY.format(key=_LIBRARY, topic="'video:' || coalesce(NEW.video_id, OLD.video_id)"),
    "video": " ".join(
        _NOTIFY.format(key="NEW.library_id", topic=topic) for topic in ("'videos'", "'details:' || NEW.id")
    ),
    "job": _NOTIFY.format(
        key="NEW.library_id",
        topic="""CASE NEW.type WHEN 'voice' THEN 'voices' WHEN 'character' THEN 'characters'
            ELSE 'video:' || coalesce(NEW.video_id, NEW.plan ->> 'dubbed_video_id', NEW.plan ->> 'hosted_video_id', '')
            END""",
    ),
    "delivery": _NOTIFY.format(key="NEW.library_id", topic="'deliveries:' || NEW.endpoint_id"),
    "access": _NOTIFY.format(key="NEW.id", topic="'access'"),
    "session_end": _NOTIFY.format(key="'session:' || OLD.id", topic="'access'"),
}
# Rows that a transaction writes outside of a library are not announced: bulk loads, copies and the relay.
_IN_LIBRARY = "WHEN (current_setting('cutroom.library_id', true) <> '')"
_TRIGGERS = (
    f"CREATE TRIGGER jobs_announced AFTER INSERT OR UPDATE OF status, output_deleted_at ON jobs"
    f" FOR EACH ROW {_IN_LIBRARY} EXECUTE FUNCTION announce_job()",
    f"CREATE TRIGGER videos_announced AFTER INSERT OR UPDATE ON videos"
    f" FOR EACH ROW {_IN_LIBRARY} EXECUTE FUNCTION announce_video()",
    *(
        f"CREATE TRIGGER {table}_announced AFTER INSERT OR UPDATE OR DELETE ON {table}"
        f" FOR EACH ROW {_IN_LIBRARY} EXECUTE FUNCTION announce_video_output()"
        for table in ("dubs", "playbacks", "shorts_outputs", "thumbnail_requests", "thumbnails")
    ),
    *(
        f"CREATE TRIGGER {table}_announced AFTER INSERT OR UPDATE OR DELETE ON {table}"
        f" FOR EACH ROW {_IN_LIBRARY} EXECUTE FUNCTION announce_change('{topic}')"
        for table, topic in {
            "brand_voices": "brand-voices",
            "character_images": "characters",
            "characters": "characters",
            "exports": "exports",
            "voices": "voices",
        }.items()
    ),
    f"CREATE TRIGGER delivery_attempts_announced AFTER INSERT ON delivery_attempts"
    f" FOR EACH ROW {_IN_LIBRARY} EXECUTE FUNCTION announce_delivery()",
    f"CREATE TRIGGER webhook_deliveries_announced AFTER INSERT OR UPDATE ON webhook_deliveries"
    f" FOR EACH ROW {_IN_LIBRARY} EXECUTE FUNCTION announce_delivery()",
    "CREATE TRIGGER members_announced AFTER UPDATE OR DELETE ON members"
    " FOR EACH ROW EXECUTE FUNCTION announce_change('access')",
    "CREATE TRIGGER libraries_announced AFTER UPDATE OF suspended_at, erased_at ON libraries"
    " FOR EACH ROW EXECUTE FUNCTION announce_access()",
    "CREATE TRIGGER sessions_announced AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION announce_session_end()",
)


def upgrade() -> None:
    functions = [_ANNOUNCE.format(name=name, body=body) for name, body in _ANNOUNCEMENTS.items()]
    for statement in (_COLUMNS, _WITH_STEP, _WITH_ATTEMPT, *functions, *_TRIGGERS):
        op.execute(statement)


def downgrade() -> None:
    """Nothing to revert: 0.1.0 names the columns that it reads and writes, and listens to nothing."""
