-- Removes what deploy/postgres/temporal.sql has created.
DROP DATABASE IF EXISTS temporal WITH (FORCE);
DROP DATABASE IF EXISTS temporal_visibility WITH (FORCE);
DROP ROLE IF EXISTS temporal;
