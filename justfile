# Cutroom's recipes: `just` lists them.

set dotenv-path := ".data/cutroom.env"

export PYTHONUNBUFFERED := "1"
export PYTHONDONTWRITEBYTECODE := ""  # empty is off: short-lived processes should reuse compiled bytecode

# List the recipes.
default:
    @just --list --unsorted

# Install missing dependencies: Debian packages with apt, Python packages with uv.
setup:
    dev/bootstrap

# Start (default), stop, or show PostgreSQL, Redis, Temporal and SeaweedFS: `just services [start|stop|status]`.
services action="start":
    uv run python -m dev.services {{action}}

# Services, migrations, API and worker, with merged logs; Ctrl-C stops the API and the worker.
dev:
    uv run python -m dev.run

# Check every component and show how to fix what is missing.
doctor:
    uv run cutroom-server doctor

# Migrate the database of `just services` to the latest schema.
migrate:
    uv run alembic upgrade head

# Download and verify the models, recorded speech and photographs that tests and proofs need.
models *args="--set ci":
    uv run cutroom-server models pull --folder "${CUTROOM_MODELS_DIR:-.data/models}" {{args}}
    uv run python -m dev.fixtures

# The checks that CI runs before the tests.
check:
    uv lock --check
    uv run ruff format --check .
    uv run ruff check .
    uv run mypy
    uv run lint-imports
    uv run python -m dev.lint
    uv run python -m dev.clients --check
    uv run mypy --config-file clients/python/pyproject.toml clients/python

# Regenerate what the clients take from the OpenAPI document, and the synchronous client from the asynchronous one.
clients:
    uv run python -m dev.clients

# Format, and apply automatic fixes.
fix:
    uv run ruff format .
    uv run ruff check --fix .

# Run the tests; they start the services themselves. `just test tests/web -k replay`
test *args:
    uv run pytest {{args}}

# Run a proof: it acts as a user on running services and prints its results: `just prove envelope --short`.
prove name *args:
    uv run python -m proofs.{{replace(name, "-", "_")}} {{args}}

# Run a benchmark against the bare engines: `just bench api`.
bench name *args:
    uv run python -m bench.{{replace(name, "-", "_")}} {{args}}

# Build the documentation into .data/site; fails on broken links, unknown settings, commands and operations, and stale blocks.
docs:
    uv run python -m dev.docs.blocks --check
    uv run python -m dev.docs.references
    NO_MKDOCS_2_WARNING=1 uv run mkdocs build --strict

# Regenerate the documentation blocks: examples, settings, limits, prices, plans, scaling.
blocks:
    uv run python -m dev.docs.blocks

# Record the example requests and responses of the guides on a real run; takes some minutes.
examples:
    uv run python -m tests.recording.examples
    uv run python -m dev.docs.blocks

# Print the OpenAPI document.
openapi:
    @uv run python -m cutroom.entrypoints.openapi
