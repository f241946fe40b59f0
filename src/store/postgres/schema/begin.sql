-- SPDX-License-Identifier: Apache-2.0
-- The schema of the PostgreSQL store, version 4: tables, and one function for each verb.
-- The reference is src/store/rules*.cc: the functions decide the same, and a property test compares
-- both. `cronlatch store init` executes these files as one text; it may be executed again.
--
-- Rights: a run uses only the functions that are granted to cronlatch_user. They are SECURITY
-- DEFINER with a fixed search_path, so that a run needs no right on a table.
-- Order of every verb: lock the row, read the clock once, check not_after, decide, write.
-- Each verb returns one row: verdict, the server's clock, and the columns of its verdict.
-- All times and lengths are microseconds.

BEGIN;
SET LOCAL client_min_messages = warning;
SET LOCAL search_path = pg_catalog, pg_temp;
-- Two executions at the same time follow each other.
SELECT pg_advisory_xact_lock(7166182912840021);

DO $$
DECLARE
  v_version int;
  v_owner name;
BEGIN
  SELECT pg_get_userbyid(nspowner) INTO v_owner FROM pg_namespace WHERE nspname = 'cronlatch';
  IF v_owner IS NOT NULL AND v_owner <> current_user THEN
    RAISE EXCEPTION 'the schema cronlatch belongs to role %', v_owner USING ERRCODE = 'CL002';
  END IF;
  IF to_regclass('cronlatch.version') IS NOT NULL THEN
    EXECUTE 'SELECT version FROM cronlatch.version' INTO v_version;
    IF v_version > 4 THEN
      RAISE EXCEPTION 'the schema has version %, newer than version 4', v_version
        USING ERRCODE = 'CL001';
    END IF;
    IF v_version < 3 THEN
      -- Version 3 added columns to their results, which CREATE OR REPLACE cannot do.
      DROP FUNCTION IF EXISTS cronlatch.release(text, text, bigint, text, bigint, bigint, text,
        boolean, bigint, text, bigint, bigint, text, text, boolean, text);
      DROP FUNCTION IF EXISTS cronlatch.view(text, text, bigint);
    END IF;
    IF v_version < 4 THEN
      -- Version 4 added parameters: CREATE OR REPLACE would create second functions of these names.
      DROP FUNCTION IF EXISTS cronlatch.acquire(text, text, bigint, text, bigint, bigint, text,
        text, text, text, bigint, text, bigint, text, bigint);
      DROP FUNCTION IF EXISTS cronlatch.renew(text, text, bigint, text, bigint, bigint, bigint,
        text, text, text, text);
      DROP FUNCTION IF EXISTS cronlatch.save(cronlatch.locks, bigint);
      DROP FUNCTION IF EXISTS cronlatch.first_place(bigint);
    END IF;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cronlatch_user') THEN
    CREATE ROLE cronlatch_user NOLOGIN;
  END IF;
END $$;

CREATE SCHEMA IF NOT EXISTS cronlatch;
REVOKE ALL ON SCHEMA cronlatch FROM PUBLIC;
