#!/bin/sh
# The part of the official entry point that compose.yaml uses: initialize an empty data directory, run the scripts of
# /docker-entrypoint-initdb.d on a server that listens on its Unix socket only, then start the server.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password
    # The arguments are words, as in the official image.
    # shellcheck disable=SC2086
    initdb --username=postgres --pwfile=/tmp/password --pgdata="$PGDATA" ${POSTGRES_INITDB_ARGS:-} >/dev/null
    rm /tmp/password
    printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
    pg_ctl --silent --wait --options="-c listen_addresses=''" start
    for script in /docker-entrypoint-initdb.d/*.sql; do
        psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username=postgres --file="$script"
    done
    pg_ctl --silent --wait --mode=fast stop
fi
exec "$@" -c listen_addresses='*'
