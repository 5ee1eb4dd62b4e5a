# Cutroom's images: `docker build --target api .`, `--target worker`, `--target worker-gpu`, `--target operator`, and `--target services` for
# compose.yaml. `just prove images` builds and runs them. No image has a compiler, and each lists its packages in
# /usr/share/cutroom/sbom.json.

FROM python:3.11-slim-bookworm AS build
RUN pip install --no-cache-dir uv==0.13.7
# Files are copied out of this stage, so links into uv's cache would break; the image provides Python.
ENV UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_NO_CACHE=1 \
    UV_PYTHON_DOWNLOADS=never
WORKDIR /srv/cutroom
COPY pyproject.toml uv.lock ./

# Dependencies change rarely and code often, so each gets its own layer.
FROM build AS build-dependencies
RUN uv sync --frozen --no-dev --no-install-project

FROM build-dependencies AS build-cutroom
COPY README.md LICENSE ./
COPY cutroom ./cutroom
COPY migrations ./migrations
RUN uv sync --frozen --no-dev --no-editable

# Engines, Shaka Packager and the Mux SDK are installed for workers only; the API loads none of them.
FROM build-dependencies AS build-worker
# ttspico has no wheels.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm --recursive --force /var/lib/apt/lists/*
RUN uv sync --frozen --no-dev --all-extras --no-install-project
COPY README.md LICENSE ./
COPY cutroom ./cutroom
COPY migrations ./migrations
RUN uv sync --frozen --no-dev --all-extras --no-editable

# CUDA's libraries are Python packages as well, so that no other base image is needed. Both onnxruntimes have the same files.
FROM build-worker AS build-worker-gpu
RUN uv pip uninstall onnxruntime \
    && uv sync --frozen --no-dev --all-extras --group gpu --no-install-package onnxruntime --no-editable

FROM build AS build-services
RUN uv sync --frozen --only-group services --no-install-project

# The tool that lists packages. The images mount this stage while they are built, and keep nothing of it.
FROM build AS build-sbom
WORKDIR /srv/sbom
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --only-group sbom --no-install-project
COPY deploy/images/sbom.py ./

FROM python:3.11-slim-bookworm AS runtime
RUN useradd --system --uid 10001 --create-home --shell /usr/sbin/nologin cutroom
ENV PATH=/srv/cutroom/.venv/bin:$PATH \
    PYTHONUNBUFFERED=1
WORKDIR /srv/cutroom

# Temporal's development server and SeaweedFS, in the same versions as `just services`, and Caddy.
FROM runtime AS services
COPY --from=build-services /srv/cutroom/.venv ./.venv
RUN install --directory --owner=cutroom --group=cutroom --mode=0700 /data
RUN --mount=type=bind,from=build-sbom,source=/srv/sbom,target=/srv/sbom \
    /srv/sbom/.venv/bin/python /srv/sbom/sbom.py .venv /usr/share/cutroom/sbom.json
USER 10001
VOLUME /data

FROM runtime AS cutroom
COPY --from=build-cutroom /srv/cutroom/.venv ./.venv
# Alembic loads its scripts relative to alembic.ini.
COPY alembic.ini ./
COPY migrations ./migrations
RUN --mount=type=bind,from=build-sbom,source=/srv/sbom,target=/srv/sbom \
    /srv/sbom/.venv/bin/python /srv/sbom/sbom.py .venv /usr/share/cutroom/sbom.json
ENV CUTROOM_API_HOST=0.0.0.0 \
    CUTROOM_API_PORT=8700
USER 10001

# Administration, backup and restore: PostgreSQL's client programs beside `cutroom-server`.
FROM cutroom AS operator
USER 0
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client \
    && rm -rf /var/lib/apt/lists/* \
    && install --directory --owner=cutroom --group=cutroom --mode=0700 /backups
RUN --mount=type=bind,from=build-sbom,source=/srv/sbom,target=/srv/sbom \
    /srv/sbom/.venv/bin/python /srv/sbom/sbom.py .venv /usr/share/cutroom/sbom.json
USER 10001
VOLUME /backups
CMD ["cutroom-server", "--help"]

FROM runtime AS worker-programs
# Debian keeps only the latest build of a package, so a pinned version would soon fail to install.
# The same programs and fonts as dev/bootstrap, without those for tests and proofs; a test compares the two.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap espeak-ng ffmpeg \
        fontconfig fonts-bebas-neue fonts-lato fonts-noto-cjk fonts-noto-core \
        apertium apertium-eng-cat apertium-eng-spa apertium-es-pt apertium-fr-es apertium-fra-cat \
        apertium-nno-nob apertium-por-cat apertium-spa-cat apertium-spa-ita \
    && rm -rf /var/lib/apt/lists/* \
    && fc-cache --system-only
RUN install --directory --owner=cutroom --group=cutroom --mode=0755 /models \
    && install --directory --owner=cutroom --group=cutroom --mode=0700 /work
ENV CUTROOM_MODELS_DIR=/models \
    CUTROOM_CACHE_DIR=/work

FROM worker-programs AS worker
COPY --from=build-worker /srv/cutroom/.venv ./.venv
RUN --mount=type=bind,from=build-sbom,source=/srv/sbom,target=/srv/sbom \
    /srv/sbom/.venv/bin/python /srv/sbom/sbom.py .venv /usr/share/cutroom/sbom.json
USER 10001
VOLUME ["/models", "/work"]
CMD ["cutroom-worker"]

# The same worker with CUDA, for compose.gpu.yaml. The container runtime adds the driver's libraries, among them NVENC.
FROM worker-programs AS worker-gpu
COPY --from=build-worker-gpu /srv/cutroom/.venv ./.venv
RUN --mount=type=bind,from=build-sbom,source=/srv/sbom,target=/srv/sbom \
    /srv/sbom/.venv/bin/python /srv/sbom/sbom.py .venv /usr/share/cutroom/sbom.json
ENV NVIDIA=/srv/cutroom/.venv/lib/python3.11/site-packages/nvidia
ENV LD_LIBRARY_PATH=$NVIDIA/cu13/lib:$NVIDIA/cudnn/lib:$NVIDIA/cublas/lib \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility,video \
    NVIDIA_VISIBLE_DEVICES=all
USER 10001
VOLUME ["/models", "/work"]
CMD ["cutroom-worker"]

# The last stage is the default target of `docker build .`.
FROM cutroom AS api
EXPOSE 8700
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8700/v1/health', timeout=4)"]
CMD ["cutroom-api"]
