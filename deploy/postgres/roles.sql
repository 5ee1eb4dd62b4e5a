-- Creates Cutroom's two roles and its database; idempotent, except that it resets the passwords.
-- Used by `dev/postgres.py` and, as an initialization script, by `compose.yaml`.
\set ON_ERROR_STOP on
\getenv owner_password CUTROOM_OWNER_PASSWORD
\getenv app_password CUTROOM_APP_PASSWORD

SELECT 'CREATE ROLE cutroom_owner' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cutroom_owner') \gexec
SELECT 'CREATE ROLE cutroom_app' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cutroom_app') \gexec

-- The owner migrates the schema and creates test databases.
ALTER ROLE cutroom_owner LOGIN CREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS PASSWORD :'owner_password';
-- The application role can never bypass row-level security.
ALTER ROLE cutroom_app LOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS PASSWORD :'app_password';

SELECT 'CREATE DATABASE cutroom OWNER cutroom_owner'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'cutroom') \gexec
