"""Records the steps of jobs and their earlier attempts, for the timeline of a job.

0.1.0 runs with either version: it writes none of the new columns, whose rows then have no steps.
"""

from alembic import op

revision = "0006"
down_revision = "0003"

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


def upgrade() -> None:
    for statement in (_COLUMNS, _WITH_STEP, _WITH_ATTEMPT):
        op.execute(statement)


def downgrade() -> None:
    """Nothing to revert: 0.1.0 names the columns that it reads and writes."""
