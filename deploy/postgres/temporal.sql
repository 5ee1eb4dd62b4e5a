-- Creates the role and the two databases of Temporal's server; idempotent, except that it resets the password.
\set ON_ERROR_STOP on
\getenv password TEMPORAL_POSTGRES_PASSWORD

SELECT 'CREATE ROLE temporal' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'temporal') \gexec
ALTER ROLE temporal LOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'password';

SELECT format('CREATE DATABASE %I OWNER temporal', name)
FROM unnest(ARRAY['temporal', 'temporal_visibility']) AS name
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = name) \gexec

REVOKE ALL ON DATABASE temporal, temporal_visibility FROM PUBLIC;
-- For the indexes of search attributes. It is a trusted extension, so that the owner of a database may create it.
\connect temporal_visibility
CREATE EXTENSION IF NOT EXISTS btree_gin;
