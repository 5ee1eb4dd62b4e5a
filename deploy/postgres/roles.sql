-- Creates Cutroom's roles and its database; idempotent, except that it resets the passwords.
-- Used by `dev/services/postgres.py` and, as an initialization script, by `compose.yaml`.
\set ON_ERROR_STOP on
\getenv owner_password CUTROOM_OWNER_PASSWORD
\getenv api_password CUTROOM_API_PASSWORD
\getenv worker_password CUTROOM_WORKER_PASSWORD
\getenv relay_password CUTROOM_RELAY_PASSWORD
\getenv app_password CUTROOM_APP_PASSWORD

SELECT format('CREATE ROLE %I', name)
FROM unnest(ARRAY['cutroom_owner', 'cutroom_api', 'cutroom_worker', 'cutroom_relay']) AS name
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec

-- The owner migrates the schema; migrations grant the other roles their rights.
ALTER ROLE cutroom_owner LOGIN NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'owner_password';
-- These can never bypass row-level security.
ALTER ROLE cutroom_api LOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'api_password';
ALTER ROLE cutroom_worker LOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS
    PASSWORD :'worker_password';
ALTER ROLE cutroom_relay LOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS
    PASSWORD :'relay_password';

SELECT 'CREATE DATABASE cutroom OWNER cutroom_owner'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'cutroom') \gexec

REVOKE ALL ON DATABASE cutroom FROM PUBLIC;
GRANT CONNECT ON DATABASE cutroom TO cutroom_api, cutroom_worker, cutroom_relay;

-- Only for development: a role with the rights of all three, for tools that do everything in one process, and an owner
-- that creates test databases.
\if :{?app_password}
    SELECT 'CREATE ROLE cutroom_app' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cutroom_app') \gexec
    ALTER ROLE cutroom_app LOGIN INHERIT NOCREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS PASSWORD :'app_password';
    GRANT cutroom_api, cutroom_worker, cutroom_relay TO cutroom_app;
    ALTER ROLE cutroom_owner CREATEDB;
\else
    ALTER ROLE cutroom_owner NOCREATEDB;
\endif
