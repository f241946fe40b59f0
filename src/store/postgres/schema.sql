-- SPDX-License-Identifier: Apache-2.0
-- The schema of the PostgreSQL store, version 4: tables, and one function for each verb.
-- The reference is src/store/rules*.cc: the functions decide the same, and a property test compares
-- both. `cronlatch store init` executes this file; it may be executed again.
--
-- Rights: a run uses only the functions below that are granted to cronlatch_user. They are SECURITY
-- DEFINER with a fixed search_path, so that a run needs no right on a table.
-- Order of every verb: lock the row, read the clock once, check not_after, decide, write.
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

-- One row. A program of version N can use a schema with oldest_program <= N. Version 2 added the
-- limits of names and sizes, version 3 the queue, which earlier programs do not know, version 4
-- several slots: programs of version 3 have one slot.
CREATE TABLE IF NOT EXISTS cronlatch.version (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version int NOT NULL,
  oldest_program int NOT NULL
);
INSERT INTO cronlatch.version (version, oldest_program) VALUES (4, 3)
  ON CONFLICT (only_row) DO UPDATE SET version = 4, oldest_program = 3;

-- One row for each lock: its last grant. State none: no grant, but other data. State several: the
-- lock has several slots, and its grants are in cronlatch.seats. `fence` is then the highest of them,
-- `acquired` the time of the last one, and the other columns of a grant are empty.
CREATE TABLE IF NOT EXISTS cronlatch.locks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Collation C: the order of keys does not depend on the system, whose library may change.
  prefix text COLLATE "C" NOT NULL,
  lock text COLLATE "C" NOT NULL,
  state text NOT NULL DEFAULT 'none',
  owner text NOT NULL DEFAULT '',
  attempt bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT '',
  job text NOT NULL DEFAULT '',
  attempt_group text NOT NULL DEFAULT '',
  once text NOT NULL DEFAULT '',
  fence bigint NOT NULL DEFAULT 0,
  stole bigint NOT NULL DEFAULT 0,    -- fence of the expired grant that was taken over; 0: none
  acquired bigint NOT NULL DEFAULT 0,
  expires bigint NOT NULL DEFAULT 0,  -- of the lease, or of the min-hold
  ttl bigint NOT NULL DEFAULT 0,      -- the length that set expires
  min_hold bigint NOT NULL DEFAULT 0,
  born bigint NOT NULL DEFAULT 0,
  used_day bigint NOT NULL DEFAULT 0, -- days since 1970: last change
  group_count int NOT NULL DEFAULT 0, -- rows of this lock in cronlatch.groups
  UNIQUE (prefix, lock)
) WITH (fillfactor = 70);
CREATE INDEX IF NOT EXISTS locks_used_day ON cronlatch.locks (used_day);
-- A free lock is reserved for the first run that waits; '' without a reservation.
ALTER TABLE cronlatch.locks ADD COLUMN IF NOT EXISTS turn_owner text NOT NULL DEFAULT '';
ALTER TABLE cronlatch.locks ADD COLUMN IF NOT EXISTS turn_until bigint NOT NULL DEFAULT 0;
ALTER TABLE cronlatch.locks ADD COLUMN IF NOT EXISTS slots int NOT NULL DEFAULT 1;
ALTER TABLE cronlatch.locks DROP CONSTRAINT IF EXISTS locks_state_check;  -- of version 3

-- The grants of a lock with several slots: seats 1 to `slots`, with the columns of a grant. State
-- none: not granted yet. A lock with one slot has no rows here.
CREATE TABLE IF NOT EXISTS cronlatch.seats (
  lock_id bigint NOT NULL REFERENCES cronlatch.locks (id) ON DELETE CASCADE,
  seat int NOT NULL,
  state text NOT NULL DEFAULT 'none',
  owner text NOT NULL DEFAULT '',
  attempt bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT '',
  job text NOT NULL DEFAULT '',
  attempt_group text NOT NULL DEFAULT '',
  once text NOT NULL DEFAULT '',
  fence bigint NOT NULL DEFAULT 0,
  stole bigint NOT NULL DEFAULT 0,
  acquired bigint NOT NULL DEFAULT 0,
  expires bigint NOT NULL DEFAULT 0,
  ttl bigint NOT NULL DEFAULT 0,
  min_hold bigint NOT NULL DEFAULT 0,
  turn_owner text NOT NULL DEFAULT '',
  turn_until bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (lock_id, seat)
) WITH (fillfactor = 70);

CREATE TABLE IF NOT EXISTS cronlatch.counters (
  lock_id bigint NOT NULL REFERENCES cronlatch.locks (id) ON DELETE CASCADE,
  job text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  value bigint NOT NULL CHECK (value >= 0),
  PRIMARY KEY (lock_id, job, name)
) WITH (fillfactor = 70);

-- Attempt groups that were granted: kept for a day after `kept`.
CREATE TABLE IF NOT EXISTS cronlatch.groups (
  lock_id bigint NOT NULL REFERENCES cronlatch.locks (id) ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  kept bigint NOT NULL,
  PRIMARY KEY (lock_id, name)
);
CREATE INDEX IF NOT EXISTS groups_kept
  ON cronlatch.groups (lock_id, kept, name);

-- Run identities that are finished.
CREATE TABLE IF NOT EXISTS cronlatch.done (
  lock_id bigint NOT NULL REFERENCES cronlatch.locks (id) ON DELETE CASCADE,
  job text COLLATE "C" NOT NULL,
  once text COLLATE "C" NOT NULL,
  finished bigint NOT NULL,
  PRIMARY KEY (lock_id, job, once)
);

-- Final answers to one attempt: r released, x closed, h c d q counted as busy (held, cooling, done,
-- queued), g its attempt group was granted, v its verdict was counted.
CREATE TABLE IF NOT EXISTS cronlatch.answers (
  lock_id bigint NOT NULL REFERENCES cronlatch.locks (id) ON DELETE CASCADE,
  owner text COLLATE "C" NOT NULL,
  attempt bigint NOT NULL,
  answer text NOT NULL,
  kept bigint NOT NULL,
  PRIMARY KEY (lock_id, owner, attempt, answer)
);
ALTER TABLE cronlatch.answers DROP CONSTRAINT IF EXISTS answers_answer_check;  -- of version 2

-- Runs that wait, in the order of their tickets. `asked`: the last request.
CREATE TABLE IF NOT EXISTS cronlatch.queue (
  lock_id bigint NOT NULL REFERENCES cronlatch.locks (id) ON DELETE CASCADE,
  owner text COLLATE "C" NOT NULL,
  ticket bigint NOT NULL,
  asked bigint NOT NULL,
  PRIMARY KEY (lock_id, owner)
) WITH (fillfactor = 50);
CREATE INDEX IF NOT EXISTS queue_ticket ON cronlatch.queue (lock_id, ticket, owner);

-- Limits of names and sizes: every member of cronlatch_user can store them under every prefix, and
-- ls and the exporter must be able to read them. Rows of version 1 are not checked; ls shows a row
-- outside of the limits as damaged. 2^53 - 1 microseconds are in the year 2255.
DO $$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT * FROM (VALUES
    ('locks', 'locks_names',
      $c$ prefix ~ '^[!-z|~]{1,100}$' AND lock ~ '^[A-Za-z0-9._/-]{1,200}$'
        AND greatest(octet_length(owner), octet_length(holder), octet_length(job),
                     octet_length(attempt_group), octet_length(once)) <= 1024 $c$),
    ('locks', 'locks_numbers',
      $c$ attempt BETWEEN 0 AND 4294967295
        AND least(fence, stole, acquired, expires, born) >= 0
        AND greatest(fence, stole, acquired, expires, born) <= 9007199254740991
        AND least(ttl, min_hold) >= 0 AND greatest(ttl, min_hold) <= 31622400000000
        AND used_day BETWEEN 0 AND 104250 AND group_count BETWEEN 0 AND 10000 $c$),
    ('counters', 'counters_names',
      $c$ octet_length(job) <= 1024 AND name ~ ('^(acquired|released|stolen|revoked|lost|restored'
        || '|skipped_(held|done)|wait_timeouts|ungated|long|last_(success|skip)'
        || '|runs_(succeeded|failed|skipped|busy|timed_out|lost|cannot_start)'
        || '|(hold|wait)_ms|hold_([0-9]|1[0-3])|wait_[0-8])$') $c$),
    ('counters', 'counters_numbers', $c$ value <= 9006199254740991 $c$),
    ('groups', 'groups_limits',
      $c$ octet_length(name) <= 1024 AND kept BETWEEN 0 AND 9007199254740991 $c$),
    ('done', 'done_limits',
      $c$ octet_length(job) <= 1024 AND octet_length(once) <= 1024
        AND finished BETWEEN 0 AND 9007199254740991 $c$),
    ('answers', 'answers_limits',
      $c$ octet_length(owner) <= 1024 AND attempt BETWEEN 0 AND 4294967295
        AND kept BETWEEN 0 AND 9007199254740991 $c$),
    ('answers', 'answers_letters', $c$ answer ~ '^[rxhcdqgv]$' $c$),
    ('locks', 'locks_turn',
      $c$ octet_length(turn_owner) <= 1024 AND turn_until BETWEEN 0 AND 9007199254740991 $c$),
    ('queue', 'queue_limits',
      $c$ octet_length(owner) <= 1024 AND ticket BETWEEN 0 AND 9007199254740991
        AND asked BETWEEN 0 AND 9007199254740991 $c$),
    ('locks', 'locks_slots',
      $c$ CASE WHEN slots = 1 THEN state IN ('none', 'free', 'held', 'revoked', 'cooling')
          ELSE state = 'several' AND slots BETWEEN 2 AND 1000 END $c$),
    ('seats', 'seats_names',
      $c$ state IN ('none', 'free', 'held', 'revoked', 'cooling')
        AND greatest(octet_length(owner), octet_length(holder), octet_length(job),
                     octet_length(attempt_group), octet_length(once),
                     octet_length(turn_owner)) <= 1024 $c$),
    ('seats', 'seats_numbers',
      $c$ seat BETWEEN 1 AND 1000 AND attempt BETWEEN 0 AND 4294967295
        AND least(fence, stole, acquired, expires, turn_until) >= 0
        AND greatest(fence, stole, acquired, expires, turn_until) <= 9007199254740991
        AND least(ttl, min_hold) >= 0 AND greatest(ttl, min_hold) <= 31622400000000 $c$)
    ) AS v (table_name, name, condition)
  LOOP
    IF NOT EXISTS (SELECT FROM pg_constraint p WHERE p.conname = c.name
        AND p.conrelid = format('cronlatch.%I', c.table_name)::regclass) THEN
      EXECUTE format('ALTER TABLE cronlatch.%I ADD CONSTRAINT %I CHECK (%s) NOT VALID',
        c.table_name, c.name, c.condition);
    END IF;
  END LOOP;
END $$;

-- ---- parts of the verbs ----

-- The tests replace this function to make time virtual.
CREATE OR REPLACE FUNCTION cronlatch.read_clock() RETURNS bigint
  LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN round(extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
END $$;

-- The row of a lock, locked until the end of the transaction; created when it does not exist.
CREATE OR REPLACE FUNCTION cronlatch.lock_row(p_prefix text, p_lock text)
  RETURNS cronlatch.locks LANGUAGE plpgsql AS $$
DECLARE
  r cronlatch.locks;
BEGIN
  -- A confirmed grant must survive a crash of the server.
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'local', true);
  END IF;
  LOOP
    SELECT * INTO r FROM cronlatch.locks l WHERE l.prefix = p_prefix AND l.lock = p_lock FOR UPDATE;
    IF FOUND THEN RETURN r; END IF;
    INSERT INTO cronlatch.locks (prefix, lock) VALUES (p_prefix, p_lock)
      ON CONFLICT (prefix, lock) DO NOTHING;
  END LOOP;
END $$;

-- After not_after nothing changes: an empty row that lock_row created is deleted.
CREATE OR REPLACE FUNCTION cronlatch.drop_new_row(r cronlatch.locks) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF r.used_day = 0 THEN DELETE FROM cronlatch.locks l WHERE l.id = r.id; END IF;
END $$;

-- Writes what all seats of a lock with several slots have in common, and the grant of p_seat, whose
-- columns `r` has. Null: no grant.
CREATE OR REPLACE FUNCTION cronlatch.save_seat(r cronlatch.locks, p_seat int, p_day bigint)
  RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE cronlatch.locks l SET
    state = 'several', slots = r.slots, fence = greatest(l.fence, r.fence),
    acquired = greatest(l.acquired, r.acquired), born = r.born, used_day = p_day,
    group_count = r.group_count, owner = '', attempt = 0, holder = '', job = '',
    attempt_group = '', once = '', stole = 0, expires = 0, ttl = 0, min_hold = 0, turn_owner = '',
    turn_until = 0
    WHERE l.id = r.id;
  UPDATE cronlatch.seats s SET
    state = r.state, owner = r.owner, attempt = r.attempt, holder = r.holder, job = r.job,
    attempt_group = r.attempt_group, once = r.once, fence = r.fence, stole = r.stole,
    acquired = r.acquired, expires = r.expires, ttl = r.ttl, min_hold = r.min_hold,
    turn_owner = r.turn_owner, turn_until = r.turn_until
    WHERE s.lock_id = r.id AND s.seat = p_seat;
END $$;

-- Writes the row and the grant of p_seat. On the first change of a day at most 100 locks are deleted
-- that were not changed for 90 days, have no open grant, and have no identity that finished in the
-- last 365 days, which is the longest once-ttl.
CREATE OR REPLACE FUNCTION cronlatch.save(r cronlatch.locks, p_seat int, p_now bigint)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_day bigint := p_now / 86400000000;
BEGIN
  IF r.slots > 1 THEN
    PERFORM cronlatch.save_seat(r, p_seat, v_day);
  ELSE
    UPDATE cronlatch.locks l SET
      state = r.state, owner = r.owner, attempt = r.attempt, holder = r.holder, job = r.job,
      attempt_group = r.attempt_group, once = r.once, fence = r.fence, stole = r.stole,
      acquired = r.acquired, expires = r.expires, ttl = r.ttl, min_hold = r.min_hold, born = r.born,
      used_day = v_day, group_count = r.group_count, turn_owner = r.turn_owner,
      turn_until = r.turn_until, slots = r.slots
      WHERE l.id = r.id;
  END IF;
  IF r.used_day <> v_day THEN
    DELETE FROM cronlatch.locks l WHERE l.id IN (
      SELECT o.id FROM cronlatch.locks o
        WHERE o.used_day < v_day - 90 AND o.state <> 'held' AND o.id <> r.id
          AND NOT EXISTS (SELECT FROM cronlatch.seats s WHERE s.lock_id = o.id AND s.state = 'held')
          AND NOT EXISTS (SELECT FROM cronlatch.done d
            WHERE d.lock_id = o.id AND d.finished > p_now - 31536000000000)
        ORDER BY o.used_day LIMIT 100 FOR UPDATE SKIP LOCKED);
  END IF;
END $$;

CREATE OR REPLACE FUNCTION cronlatch.count(
    p_id bigint, p_job text, p_names text[], p_by bigint DEFAULT 1) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO cronlatch.counters AS c (lock_id, job, name, value)
    SELECT p_id, p_job, n, p_by FROM unnest(p_names) AS n
    ON CONFLICT (lock_id, job, name) DO UPDATE SET value = c.value + excluded.value;
END $$;

CREATE OR REPLACE FUNCTION cronlatch.stamp(p_id bigint, p_job text, p_name text, p_now bigint)
  RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO cronlatch.counters AS c (lock_id, job, name, value)
    VALUES (p_id, p_job, p_name, p_now)
    ON CONFLICT (lock_id, job, name) DO UPDATE SET value = excluded.value;
END $$;

-- The open grants that the counters of the job have.
CREATE OR REPLACE FUNCTION cronlatch.open_grants(p_id bigint, p_job text) RETURNS bigint
  LANGUAGE plpgsql AS $$
DECLARE
  v_open bigint;
BEGIN
  SELECT coalesce(sum(CASE c.name WHEN 'acquired' THEN c.value ELSE -c.value END), 0) INTO v_open
    FROM cronlatch.counters c WHERE c.lock_id = p_id AND c.job = p_job
      AND c.name IN ('acquired', 'released', 'stolen', 'revoked');
  RETURN v_open;
END $$;

-- The letters of the final answers that are kept for this attempt.
CREATE OR REPLACE FUNCTION cronlatch.answers_of(
    p_id bigint, p_owner text, p_attempt bigint, p_now bigint) RETURNS text
  LANGUAGE plpgsql AS $$
DECLARE
  v_letters text;
BEGIN
  SELECT coalesce(string_agg(a.answer, ''), '') INTO v_letters FROM cronlatch.answers a
    WHERE a.lock_id = p_id AND a.owner = p_owner AND a.attempt = p_attempt AND a.kept > p_now;
  RETURN v_letters;
END $$;

CREATE OR REPLACE FUNCTION cronlatch.remember(
    p_id bigint, p_owner text, p_attempt bigint, p_answer text, p_now bigint, p_ttl bigint)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_kept bigint := p_now + greatest(600000000, 2 * p_ttl);
BEGIN
  DELETE FROM cronlatch.answers a WHERE a.lock_id = p_id AND a.kept <= p_now;
  INSERT INTO cronlatch.answers AS a (lock_id, owner, attempt, answer, kept)
    VALUES (p_id, p_owner, p_attempt, p_answer, v_kept)
    ON CONFLICT (lock_id, owner, attempt, answer) DO UPDATE SET kept = excluded.kept;
END $$;

CREATE OR REPLACE FUNCTION cronlatch.group_was_granted(
    r cronlatch.locks, p_group text, p_now bigint) RETURNS boolean
  LANGUAGE plpgsql AS $$
BEGIN
  IF p_group = '' THEN RETURN false; END IF;
  IF r.state <> 'none' AND r.attempt_group = p_group THEN RETURN true; END IF;
  IF r.slots > 1 AND EXISTS (SELECT FROM cronlatch.seats s
      WHERE s.lock_id = r.id AND s.state <> 'none' AND s.attempt_group = p_group) THEN
    RETURN true;
  END IF;
  RETURN EXISTS (SELECT FROM cronlatch.groups g
    WHERE g.lock_id = r.id AND g.name = p_group AND g.kept > p_now - 86400000000);
END $$;

-- L5: a group that may be retried is kept for 35 days, a group that succeeded for one day; at most
-- 10,000 groups. Returns the new number of groups.
CREATE OR REPLACE FUNCTION cronlatch.remember_group(
    r cronlatch.locks, p_group text, p_finished boolean, p_now bigint) RETURNS int
  LANGUAGE plpgsql AS $$
DECLARE
  v_count int := r.group_count;
  v_rows int;
  v_kept bigint := p_now;
  v_newest cronlatch.groups;
BEGIN
  IF p_group = '' THEN RETURN v_count; END IF;
  DELETE FROM cronlatch.groups g WHERE g.lock_id = r.id AND g.kept <= p_now - 86400000000;
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  v_count := v_count - v_rows;
  IF NOT p_finished THEN
    -- After a backward step of the clock the new entry must still be the newest.
    v_kept := p_now + 34 * 86400000000;
    SELECT * INTO v_newest FROM cronlatch.groups g WHERE g.lock_id = r.id
      ORDER BY g.kept DESC, g.name COLLATE "C" DESC LIMIT 1;
    IF FOUND AND v_newest.kept >= v_kept THEN
      v_kept := v_newest.kept + CASE WHEN v_newest.name = p_group THEN 0 ELSE 1 END;
    END IF;
  END IF;
  UPDATE cronlatch.groups g SET kept = v_kept WHERE g.lock_id = r.id AND g.name = p_group;
  IF NOT FOUND THEN
    INSERT INTO cronlatch.groups (lock_id, name, kept) VALUES (r.id, p_group, v_kept);
    v_count := v_count + 1;
  END IF;
  IF v_count > 10000 THEN
    DELETE FROM cronlatch.groups g WHERE g.lock_id = r.id AND g.name IN (
      SELECT o.name FROM cronlatch.groups o WHERE o.lock_id = r.id
        ORDER BY o.kept, o.name COLLATE "C" LIMIT v_count - 10000);
    v_count := 10000;
  END IF;
  RETURN v_count;
END $$;

CREATE OR REPLACE FUNCTION cronlatch.is_done(
    p_id bigint, p_job text, p_once text, p_once_ttl bigint, p_now bigint) RETURNS boolean
  LANGUAGE plpgsql AS $$
BEGIN
  RETURN p_once <> '' AND EXISTS (SELECT FROM cronlatch.done d
    WHERE d.lock_id = p_id AND d.job = p_job AND d.once = p_once
      AND d.finished > p_now - p_once_ttl);
END $$;

-- R4, K6: the newest 128 of the job, none older than once_ttl. A repeated mark keeps its date.
CREATE OR REPLACE FUNCTION cronlatch.mark_done(
    p_id bigint, p_job text, p_once text, p_once_ttl bigint, p_now bigint) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  v_newest cronlatch.done;
  v_finished bigint := p_now;
BEGIN
  IF p_once = '' OR p_once_ttl <= 0
    OR cronlatch.is_done(p_id, p_job, p_once, p_once_ttl, p_now) THEN RETURN; END IF;
  DELETE FROM cronlatch.done d
    WHERE d.lock_id = p_id AND d.job = p_job AND d.finished <= p_now - p_once_ttl;
  SELECT * INTO v_newest FROM cronlatch.done d WHERE d.lock_id = p_id AND d.job = p_job
    ORDER BY d.finished DESC, d.once COLLATE "C" DESC LIMIT 1;
  IF FOUND AND v_newest.finished >= v_finished THEN
    v_finished := v_newest.finished + CASE WHEN v_newest.once = p_once THEN 0 ELSE 1 END;
  END IF;
  INSERT INTO cronlatch.done AS d (lock_id, job, once, finished)
    VALUES (p_id, p_job, p_once, v_finished)
    ON CONFLICT (lock_id, job, once) DO UPDATE SET finished = excluded.finished;
  DELETE FROM cronlatch.done d WHERE d.lock_id = p_id AND d.job = p_job AND d.once IN (
    SELECT o.once FROM cronlatch.done o WHERE o.lock_id = p_id AND o.job = p_job
      ORDER BY o.finished DESC, o.once COLLATE "C" DESC OFFSET 128);
END $$;

-- L7: after a backward step of the clock no wait is longer than the recorded length.
CREATE OR REPLACE FUNCTION cronlatch.clamped(r cronlatch.locks, p_now bigint)
  RETURNS cronlatch.locks LANGUAGE plpgsql AS $$
BEGIN
  IF r.state IN ('held', 'revoked', 'cooling') THEN
    r.expires := least(r.expires, p_now + r.ttl);
  END IF;
  IF r.state = 'held' THEN r.acquired := least(r.acquired, p_now); END IF;
  RETURN r;
END $$;

-- L0: the holder did not release an expired grant, and its min-hold has not passed.
CREATE OR REPLACE FUNCTION cronlatch.crashed_in_min_hold(r cronlatch.locks, p_now bigint)
  RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN r.state = 'held' AND p_now >= r.expires AND p_now < r.acquired + r.min_hold;
END $$;

-- Why a caller that is not the holder lost the lock.
CREATE OR REPLACE FUNCTION cronlatch.loss_reason(r cronlatch.locks, p_fence bigint)
  RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF r.state = 'none' OR r.fence < p_fence OR (p_fence <> 0 AND r.born > p_fence) THEN
    RETURN 'gone';
  END IF;
  RETURN 'taken';
END $$;

-- ---- waiting in order (Q1 to Q7) ----
-- A place is dead 6 s after its last request. A free lock is reserved for 2 s. A newcomer is granted
-- a free lock when no other run has sent a request to wait for 3 s.

-- Removes dead places, also that of the owner; at most 100 others. Once, and first, in each request
-- that needs the queue. o_ticket 0: this owner has no live place; o_tail: the ticket of a new one.
CREATE OR REPLACE FUNCTION cronlatch.open_queue(
    p_id bigint, p_owner text, p_now bigint, OUT o_ticket bigint, OUT o_tail bigint)
  LANGUAGE plpgsql AS $$
DECLARE
  v_dead bigint := p_now - 6000000;
  v_newest cronlatch.queue;
  v_first bigint;
  v_last bigint;
BEGIN
  o_ticket := 0;
  o_tail := p_now;
  SELECT * INTO v_newest FROM cronlatch.queue q WHERE q.lock_id = p_id
    ORDER BY q.ticket DESC, q.owner DESC LIMIT 1;
  IF NOT FOUND THEN RETURN; END IF;
  IF v_newest.ticket >= p_now THEN
    o_tail := v_newest.ticket + CASE WHEN v_newest.owner = p_owner THEN 0 ELSE 1 END;
  END IF;
  SELECT min(q.asked), max(q.asked) INTO v_first, v_last
    FROM cronlatch.queue q WHERE q.lock_id = p_id;
  IF v_first <= v_dead THEN
    DELETE FROM cronlatch.queue q WHERE q.lock_id = p_id AND q.owner IN (
      SELECT o.owner FROM cronlatch.queue o WHERE o.lock_id = p_id AND o.asked <= v_dead
        ORDER BY o.asked, o.owner LIMIT 100);
    -- AQ8, Q4
    DELETE FROM cronlatch.queue q
      WHERE q.lock_id = p_id AND q.owner = p_owner AND q.asked <= v_dead;
  END IF;
  IF v_last > p_now THEN
    -- After a backward step of the clock a place lives from this request on.
    UPDATE cronlatch.queue q SET asked = p_now WHERE q.lock_id = p_id AND q.owner IN (
      SELECT o.owner FROM cronlatch.queue o WHERE o.lock_id = p_id AND o.asked > p_now
        ORDER BY o.asked, o.owner LIMIT 100);
  END IF;
  SELECT q.ticket INTO o_ticket FROM cronlatch.queue q
    WHERE q.lock_id = p_id AND q.owner = p_owner;
  o_ticket := coalesce(o_ticket, 0);
END $$;

-- The first run that waits, and for which no seat but p_seat is reserved; '' without one.
CREATE OR REPLACE FUNCTION cronlatch.first_place(p_id bigint, p_seat int, p_now bigint)
  RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_owner text;
BEGIN
  SELECT q.owner INTO v_owner FROM cronlatch.queue q
    WHERE q.lock_id = p_id AND q.owner <> ALL (ARRAY(SELECT s.turn_owner FROM cronlatch.seats s
      WHERE s.lock_id = p_id AND s.seat <> p_seat AND s.turn_until > p_now))
    ORDER BY q.ticket, q.owner LIMIT 1;
  RETURN coalesce(v_owner, '');
END $$;

CREATE OR REPLACE FUNCTION cronlatch.is_waiting(p_id bigint, p_owner text) RETURNS boolean
  LANGUAGE plpgsql AS $$
BEGIN
  RETURN EXISTS (SELECT FROM cronlatch.queue q WHERE q.lock_id = p_id AND q.owner = p_owner);
END $$;

-- Whether a free lock is granted to this owner before all others.
CREATE OR REPLACE FUNCTION cronlatch.is_next(
    r cronlatch.locks, p_owner text, p_ticket bigint, p_now bigint) RETURNS boolean
  LANGUAGE plpgsql AS $$
BEGIN
  IF p_ticket = 0 THEN
    RETURN NOT EXISTS (SELECT FROM cronlatch.queue q
      WHERE q.lock_id = r.id AND q.asked > p_now - 3000000);
  END IF;
  IF r.turn_owner <> '' THEN
    IF p_now >= r.turn_until THEN RETURN true; END IF;
    IF cronlatch.is_waiting(r.id, r.turn_owner) THEN RETURN r.turn_owner = p_owner; END IF;
  END IF;
  RETURN cronlatch.first_place(r.id, 0, p_now) = p_owner;
END $$;

-- r, with a reservation for this owner if there is one.
CREATE OR REPLACE FUNCTION cronlatch.reserved(r cronlatch.locks, p_owner text, p_until bigint)
  RETURNS cronlatch.locks LANGUAGE plpgsql AS $$
BEGIN
  IF p_owner <> '' THEN
    r.turn_owner := p_owner;
    r.turn_until := p_until;
  END IF;
  RETURN r;
END $$;

-- Q7: the owner waits no longer. Returns the owner that its reservation passes on to, '' if there is
-- none. With several slots the new reservation is written, too.
CREATE OR REPLACE FUNCTION cronlatch.leave_queue(
    r cronlatch.locks, p_owner text, p_ticket bigint, p_now bigint) RETURNS text
  LANGUAGE plpgsql AS $$
BEGIN
  IF p_ticket = 0 THEN RETURN ''; END IF;
  DELETE FROM cronlatch.queue q WHERE q.lock_id = r.id AND q.owner = p_owner;
  IF r.slots > 1 THEN
    RETURN cronlatch.hand_over(r.id, p_now, (SELECT min(s.seat) FROM cronlatch.seats s
      WHERE s.lock_id = r.id AND s.turn_owner = p_owner AND s.turn_until > p_now));
  END IF;
  IF r.turn_owner <> p_owner OR p_now >= r.turn_until THEN RETURN ''; END IF;
  RETURN cronlatch.first_place(r.id, 0, p_now);
END $$;

-- The owner waits. Returns how many places are before its own, at most 100.
CREATE OR REPLACE FUNCTION cronlatch.keep_place(
    p_id bigint, p_owner text, p_ticket bigint, p_now bigint) RETURNS bigint
  LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO cronlatch.queue AS q (lock_id, owner, ticket, asked)
    VALUES (p_id, p_owner, p_ticket, p_now)
    ON CONFLICT (lock_id, owner) DO UPDATE SET asked = excluded.asked;
  RETURN (SELECT count(*) FROM (SELECT FROM cronlatch.queue q
    WHERE q.lock_id = p_id AND q.ticket < p_ticket LIMIT 100) AS before);
END $$;

-- Wakes the run that the lock was reserved for, which listens on a channel of its own. The owner
-- authorizes renew and release: every session can read the names of channels, so it is not readable
-- in them.
CREATE OR REPLACE FUNCTION cronlatch.wake(p_owner text) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF p_owner <> '' THEN
    PERFORM pg_notify('cronlatch_'
      || left(encode(sha256(convert_to(p_owner, 'UTF8')), 'hex'), 40), '');
  END IF;
END $$;

-- ---- several slots (docs/decisions/0048) ----
-- A verb chooses a seat and decides as for one holder: at_seat() puts the grant of the seat into the
-- row of the lock, save() writes it to the seat.

-- r, with the grant of one of its seats; null and 0: r itself.
CREATE OR REPLACE FUNCTION cronlatch.at_seat(r cronlatch.locks, p_seat int)
  RETURNS cronlatch.locks LANGUAGE plpgsql AS $$
DECLARE
  s cronlatch.seats;
BEGIN
  IF coalesce(p_seat, 0) = 0 THEN RETURN r; END IF;
  SELECT * INTO s FROM cronlatch.seats o WHERE o.lock_id = r.id AND o.seat = p_seat;
  r.state := s.state;
  r.owner := s.owner;
  r.attempt := s.attempt;
  r.holder := s.holder;
  r.job := s.job;
  r.attempt_group := s.attempt_group;
  r.once := s.once;
  r.fence := s.fence;
  r.stole := s.stole;
  r.acquired := s.acquired;
  r.expires := s.expires;
  r.ttl := s.ttl;
  r.min_hold := s.min_hold;
  r.turn_owner := s.turn_owner;
  r.turn_until := s.turn_until;
  RETURN r;
END $$;

-- The seat of the claim, in any state; null without one. 0: the grant of a lock with one slot.
CREATE OR REPLACE FUNCTION cronlatch.seat_of(r cronlatch.locks, p_owner text, p_attempt bigint)
  RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  IF r.slots > 1 THEN
    RETURN (SELECT min(s.seat) FROM cronlatch.seats s WHERE s.lock_id = r.id
      AND s.state <> 'none' AND s.owner = p_owner AND s.attempt = p_attempt);
  END IF;
  RETURN CASE WHEN r.state <> 'none' AND r.owner = p_owner AND r.attempt = p_attempt THEN 0 END;
END $$;

-- L7: clamped() for every seat.
CREATE OR REPLACE FUNCTION cronlatch.clamp_seats(p_id bigint, p_now bigint) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  UPDATE cronlatch.seats s SET expires = least(s.expires, p_now + s.ttl),
      acquired = CASE WHEN s.state = 'held' THEN least(s.acquired, p_now) ELSE s.acquired END
    WHERE s.lock_id = p_id AND s.state IN ('held', 'revoked', 'cooling')
      AND (s.expires > p_now + s.ttl OR (s.state = 'held' AND s.acquired > p_now));
END $$;

-- Neither a lease nor a min-hold excludes the caller. p_own: the min-hold is that of its own attempt
-- group (L0). p_min_hold_end: of a grant that was not released.
CREATE OR REPLACE FUNCTION cronlatch.grantable(
    p_state text, p_expires bigint, p_min_hold_end bigint, p_own boolean, p_now bigint)
  RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE p_state
    WHEN 'held' THEN p_now >= p_expires AND (p_own OR p_now >= p_min_hold_end)
    WHEN 'revoked' THEN p_now >= p_expires
    WHEN 'cooling' THEN p_own OR p_now >= p_expires
    ELSE true END
$$;

-- When a grant could be replaced without a renewal.
CREATE OR REPLACE FUNCTION cronlatch.end_of(
    p_state text, p_expires bigint, p_min_hold_end bigint, p_now bigint)
  RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_state = 'held' AND p_now >= p_expires AND p_now < p_min_hold_end
              THEN p_min_hold_end ELSE p_expires END
$$;

-- K2: the seat of another run with this identity, whose lease is live; null without one. A lock with
-- one slot excludes that run itself.
CREATE OR REPLACE FUNCTION cronlatch.claimed_seat(
    p_id bigint, p_job text, p_once text, p_now bigint) RETURNS int
  LANGUAGE plpgsql AS $$
BEGIN
  IF p_once = '' THEN RETURN NULL; END IF;
  RETURN (SELECT min(s.seat) FROM cronlatch.seats s WHERE s.lock_id = p_id AND s.job = p_job
    AND s.once = p_once AND s.state IN ('held', 'revoked') AND p_now < s.expires);
END $$;

-- The holder that excludes a request with another number of slots: of the seat that is free first.
-- Null: none excludes it. Nothing is changed, so that the seats are not clamped yet.
CREATE OR REPLACE FUNCTION cronlatch.holder_of_other_slots(
    r cronlatch.locks, p_group text, p_now bigint) RETURNS text
  LANGUAGE plpgsql AS $$
BEGIN
  IF r.slots = 1 THEN
    r := cronlatch.clamped(r, p_now);
    RETURN CASE WHEN NOT cronlatch.grantable(r.state, r.expires, r.acquired + r.min_hold,
      p_group <> '' AND p_group = r.attempt_group, p_now) THEN r.holder END;
  END IF;
  RETURN (SELECT c.holder FROM (
      SELECT s.seat, s.holder, s.state, least(s.expires, p_now + s.ttl) AS expires,
        least(s.acquired, p_now) + s.min_hold AS min_hold_end,
        p_group <> '' AND p_group = s.attempt_group AS is_own
        FROM cronlatch.seats s WHERE s.lock_id = r.id) AS c
    WHERE NOT cronlatch.grantable(c.state, c.expires, c.min_hold_end, c.is_own, p_now)
    ORDER BY cronlatch.end_of(c.state, c.expires, c.min_hold_end, p_now), c.seat LIMIT 1);
END $$;

-- r, with the grant that ends first, of those that are not free.
CREATE OR REPLACE FUNCTION cronlatch.next_to_end(r cronlatch.locks, p_now bigint)
  RETURNS cronlatch.locks LANGUAGE plpgsql AS $$
BEGIN
  IF r.slots = 1 THEN RETURN r; END IF;
  RETURN cronlatch.at_seat(r, coalesce((SELECT s.seat FROM cronlatch.seats s
    WHERE s.lock_id = r.id AND s.state NOT IN ('none', 'free')
    ORDER BY cronlatch.end_of(s.state, s.expires, s.acquired + s.min_hold, p_now), s.seat
    LIMIT 1), 1));
END $$;

-- The seats that could be granted, those without an expired grant first. is_own: only the min-hold of
-- the caller's attempt group keeps it closed. is_kept: reserved for a run that waits.
CREATE OR REPLACE FUNCTION cronlatch.free_seats(p_id bigint, p_group text, p_now bigint)
  RETURNS TABLE (seat int, rank bigint, is_own boolean, turn_owner text, turn_until bigint,
    has_lapsed boolean, is_kept boolean) LANGUAGE sql STABLE AS $$
  SELECT c.seat, row_number() OVER (ORDER BY c.state = 'held', c.seat),
      c.is_own AND ((c.state = 'cooling' AND p_now < c.expires)
                 OR (c.state = 'held' AND p_now < c.min_hold_end)),
      c.turn_owner, c.turn_until, c.turn_owner <> '' AND p_now >= c.turn_until,
      p_now < c.turn_until AND EXISTS (SELECT FROM cronlatch.queue q
        WHERE q.lock_id = p_id AND q.owner = c.turn_owner)
    FROM (SELECT s.*, s.acquired + s.min_hold AS min_hold_end,
        p_group <> '' AND p_group = s.attempt_group AS is_own
        FROM cronlatch.seats s WHERE s.lock_id = p_id) AS c
    WHERE cronlatch.grantable(c.state, c.expires, c.min_hold_end, c.is_own, p_now)
$$;

-- The seat that is granted to this owner before all others; null without one. At most p_most free
-- seats count: the request's slots. AQ6: as is_next() for one slot.
CREATE OR REPLACE FUNCTION cronlatch.next_seat(
    p_id bigint, p_owner text, p_ticket bigint, p_group text, p_most int, p_now bigint)
  RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_own int;
  v_reserved int;
  v_lapsed int;
  v_open int;
  v_any int;
  v_count bigint;
  v_open_count bigint;
  v_before bigint;
BEGIN
  SELECT (array_agg(f.seat ORDER BY f.rank) FILTER (WHERE f.is_own))[1],
      (array_agg(f.seat ORDER BY f.rank)
        FILTER (WHERE f.turn_owner = p_owner AND f.turn_until > p_now))[1],
      (array_agg(f.seat ORDER BY f.rank) FILTER (WHERE f.has_lapsed))[1],
      (array_agg(f.seat ORDER BY f.rank) FILTER (WHERE NOT f.is_kept))[1],
      (array_agg(f.seat ORDER BY f.rank))[1],
      count(*), count(*) FILTER (WHERE NOT f.is_kept)
    INTO v_own, v_reserved, v_lapsed, v_open, v_any, v_count, v_open_count
    FROM cronlatch.free_seats(p_id, p_group, p_now) AS f;
  IF v_own IS NOT NULL THEN RETURN v_own; END IF;
  IF p_ticket = 0 THEN
    SELECT count(*) INTO v_before FROM cronlatch.queue q
      WHERE q.lock_id = p_id AND q.asked > p_now - 3000000;
    RETURN CASE WHEN v_before < least(v_count, p_most) THEN coalesce(v_open, v_any) END;
  END IF;
  IF coalesce(v_reserved, v_lapsed) IS NOT NULL THEN RETURN coalesce(v_reserved, v_lapsed); END IF;
  -- The runs without a reservation that wait before this one.
  SELECT count(*) INTO v_before FROM cronlatch.queue q
    WHERE q.lock_id = p_id AND (q.ticket, q.owner) < (p_ticket, p_owner COLLATE "C")
      AND q.owner <> ALL (ARRAY(SELECT s.turn_owner FROM cronlatch.seats s
        WHERE s.lock_id = p_id AND s.turn_until > p_now));
  RETURN CASE WHEN v_before < least(v_open_count, p_most) THEN v_open END;
END $$;

-- Reserves a free seat for the first run that waits, one in each call: a reply can wake one run. L7:
-- a backward step of the clock does not extend a reservation. Returns the owner, '' without one.
CREATE OR REPLACE FUNCTION cronlatch.reserve_seat(p_id bigint, p_group text, p_now bigint)
  RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_latest bigint := p_now + 2000000;
  f record;
  v_wake text;
BEGIN
  UPDATE cronlatch.seats s SET turn_until = v_latest
    FROM cronlatch.free_seats(p_id, p_group, p_now) AS k
    WHERE s.lock_id = p_id AND s.seat = k.seat AND k.is_kept AND s.turn_until > v_latest;
  SELECT * INTO f FROM cronlatch.free_seats(p_id, p_group, p_now) AS k
    WHERE NOT k.is_kept AND NOT k.has_lapsed ORDER BY k.rank LIMIT 1;
  IF NOT FOUND THEN RETURN ''; END IF;
  v_wake := cronlatch.first_place(p_id, f.seat, p_now);
  IF v_wake <> '' THEN
    UPDATE cronlatch.seats s SET turn_owner = v_wake,
        turn_until = CASE WHEN f.turn_owner = '' THEN v_latest ELSE least(f.turn_until, v_latest) END
      WHERE s.lock_id = p_id AND s.seat = f.seat;
  END IF;
  RETURN v_wake;
END $$;

-- Reserves the seat for the first run that waits. Returns its owner, '' without one, or without a
-- seat.
CREATE OR REPLACE FUNCTION cronlatch.hand_over(p_id bigint, p_now bigint, p_seat int) RETURNS text
  LANGUAGE plpgsql AS $$
DECLARE
  v_wake text;
BEGIN
  IF p_seat IS NULL THEN RETURN ''; END IF;
  v_wake := cronlatch.first_place(p_id, p_seat, p_now);
  IF v_wake <> '' THEN
    UPDATE cronlatch.seats s SET turn_owner = v_wake, turn_until = p_now + 2000000
      WHERE s.lock_id = p_id AND s.seat = p_seat;
  END IF;
  RETURN v_wake;
END $$;

-- Another number of slots: no seat has a grant, and save() writes that of the returned one. The table
-- refuses an invalid number before rows are created.
CREATE OR REPLACE FUNCTION cronlatch.set_slots(p_id bigint, p_slots int) RETURNS int
  LANGUAGE plpgsql AS $$
BEGIN
  UPDATE cronlatch.locks l SET slots = p_slots,
      state = CASE WHEN p_slots = 1 THEN 'free' ELSE 'several' END
    WHERE l.id = p_id;
  DELETE FROM cronlatch.seats s WHERE s.lock_id = p_id;
  IF p_slots = 1 THEN RETURN 0; END IF;
  INSERT INTO cronlatch.seats (lock_id, seat) SELECT p_id, n FROM generate_series(1, p_slots) AS n;
  RETURN 1;
END $$;

-- After the last release a lock without runs that wait has one slot again. Its grant is the last one,
-- so that fences still rise.
CREATE OR REPLACE FUNCTION cronlatch.reset_if_idle(p_id bigint) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  UPDATE cronlatch.locks l SET
      slots = 1, state = s.state, owner = s.owner, attempt = s.attempt, holder = s.holder,
      job = s.job, attempt_group = s.attempt_group, once = s.once, fence = s.fence,
      stole = s.stole, acquired = s.acquired, expires = s.expires, ttl = s.ttl,
      min_hold = s.min_hold, turn_owner = '', turn_until = 0
    FROM (SELECT * FROM cronlatch.seats o WHERE o.lock_id = p_id
      ORDER BY o.fence DESC, o.seat LIMIT 1) AS s
    WHERE l.id = p_id AND NOT EXISTS (SELECT FROM cronlatch.queue q WHERE q.lock_id = p_id)
      AND NOT EXISTS (SELECT FROM cronlatch.seats o
        WHERE o.lock_id = p_id AND o.state NOT IN ('none', 'free'));
  IF FOUND THEN DELETE FROM cronlatch.seats s WHERE s.lock_id = p_id; END IF;
END $$;

-- N3: the seats that a lost grant replaces: one that no run holds, preferably a released one. All of
-- them, if their number differs. Null when it cannot be restored. Fences rise with each grant: a
-- record with a smaller fence is older than the caller's grant. A live lease of another holder is
-- never overwritten.
CREATE OR REPLACE FUNCTION cronlatch.replaceable(
    r cronlatch.locks, p_fence bigint, p_slots int, p_now bigint) RETURNS int[]
  LANGUAGE plpgsql AS $$
DECLARE
  v_seats int[];
BEGIN
  IF r.slots = 1 THEN
    RETURN CASE WHEN r.state = 'none' OR (r.fence < p_fence
      AND (r.state IN ('free', 'cooling') OR p_now >= r.expires)) THEN ARRAY[0] END;
  END IF;
  SELECT array_agg(s.seat ORDER BY s.state NOT IN ('none', 'free'), s.seat) INTO v_seats
    FROM cronlatch.seats s WHERE s.lock_id = r.id AND s.fence < p_fence
      AND (s.state IN ('none', 'free', 'cooling') OR p_now >= s.expires);
  IF r.slots = p_slots THEN RETURN v_seats[1:1]; END IF;
  RETURN CASE WHEN cardinality(v_seats) = r.slots THEN v_seats END;
END $$;

-- How many seats but these the job holds.
CREATE OR REPLACE FUNCTION cronlatch.held_by_others(p_id bigint, p_job text, p_but int[])
  RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT count(*) FROM cronlatch.seats s
    WHERE s.lock_id = p_id AND s.state = 'held' AND s.job = p_job AND s.seat <> ALL (p_but));
END $$;

-- ---- the verbs ----
-- Each returns one row: verdict, the server's clock, and the columns of its verdict.

-- AQ3: counted for the job that lost the lease.
CREATE OR REPLACE FUNCTION cronlatch.close_unreleased(r cronlatch.locks, p_now bigint) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF r.state = 'held' THEN PERFORM cronlatch.count(r.id, r.job, ARRAY['stolen']); END IF;
  IF r.state IN ('held', 'revoked') THEN
    PERFORM cronlatch.remember(r.id, r.owner, r.attempt, 'x', p_now, r.ttl);
  END IF;
END $$;

-- Verdicts: granted (fence, flag: stole) | busy (reason, holder, job, fence, held_for, remaining,
-- ahead, wake; flag: the attempt group was granted) | late (flag: this attempt is closed)
-- | slots (fence: the number of slots of the lock, holder)
-- ahead: how many runs wait before this one; null: it does not wait. wake: the owner that the lock
-- was reserved for. p_slots: null for a program of version 3, which has one slot and gets an error
-- instead of the verdict slots.
CREATE OR REPLACE FUNCTION cronlatch.acquire(
    p_prefix text, p_lock text, p_not_after bigint, p_owner text, p_attempt bigint, p_ttl bigint,
    p_holder text, p_job text, p_group text, p_once text, p_once_ttl bigint, p_if_busy text,
    p_waited bigint, p_bucket text, p_min_hold bigint, p_slots int DEFAULT NULL,
    OUT o_verdict text, OUT o_now bigint, OUT o_fence bigint, OUT o_flag boolean,
    OUT o_reason text, OUT o_holder text, OUT o_job text, OUT o_held_for bigint,
    OUT o_remaining bigint, OUT o_ahead bigint, OUT o_wake text)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  r cronlatch.locks;
  v_before cronlatch.locks;
  v_shown cronlatch.locks;
  v_slots int := coalesce(p_slots, 1);
  v_seat int;
  v_newest bigint;
  v_other text;
  v_kept text;
  v_closed boolean;
  v_ours boolean;
  v_done boolean := false;
  v_stole boolean;
  v_group boolean := false;
  v_count boolean := true;
  v_own boolean;
  v_cooling boolean;
  v_free boolean := false;
  v_may boolean := false;
  v_claimed int;
  v_waits boolean;
  v_leaves boolean;
  v_next text := '';
  v_ticket bigint;
  v_tail bigint;
  v_until bigint;
BEGIN
  r := cronlatch.lock_row(p_prefix, p_lock);
  o_now := cronlatch.read_clock();
  IF o_now > p_not_after THEN
    PERFORM cronlatch.drop_new_row(r);
    o_verdict := 'late';
    o_flag := false;
    RETURN;
  END IF;

  -- AQ4: an attempt that was released, lost or followed by a later attempt is closed.
  v_kept := cronlatch.answers_of(r.id, p_owner, p_attempt, o_now);
  v_newest := r.fence;
  v_closed := r.state <> 'none' AND r.owner = p_owner AND p_attempt < r.attempt;
  IF r.slots > 1 THEN
    v_closed := EXISTS (SELECT FROM cronlatch.seats s WHERE s.lock_id = r.id
      AND s.state <> 'none' AND s.owner = p_owner AND p_attempt < s.attempt);
  END IF;
  v_seat := cronlatch.seat_of(r, p_owner, p_attempt);
  r := cronlatch.at_seat(r, v_seat);
  v_ours := v_seat IS NOT NULL AND r.state = 'held' AND o_now < r.expires;
  -- C2: an attempt that was counted as busy gets the same answer again.
  o_reason := CASE WHEN strpos(v_kept, 'h') > 0 THEN 'held'
                   WHEN strpos(v_kept, 'c') > 0 THEN 'cooling'
                   WHEN strpos(v_kept, 'd') > 0 THEN 'done'
                   WHEN strpos(v_kept, 'q') > 0 THEN 'queued' END;
  IF o_reason IS NULL THEN
    IF strpos(v_kept, 'r') > 0 OR strpos(v_kept, 'x') > 0 OR v_closed
        OR (v_seat IS NOT NULL AND NOT v_ours) THEN
      o_verdict := 'late';
      o_flag := true;
      RETURN;
    END IF;
    v_done := cronlatch.is_done(r.id, p_job, p_once, p_once_ttl, o_now);
    IF r.slots <> v_slots AND r.state <> 'none' AND NOT v_ours AND NOT v_done THEN
      v_other := cronlatch.holder_of_other_slots(r, p_group, o_now);
      IF v_other IS NOT NULL AND p_slots IS NULL THEN
        RAISE EXCEPTION 'slots is 1, and lock % has %, which is held by %', p_lock, r.slots, v_other
          USING ERRCODE = 'CL001';
      ELSIF v_other IS NOT NULL THEN
        o_verdict := 'slots';
        o_fence := r.slots;
        o_holder := v_other;
        RETURN;
      END IF;
    END IF;
  END IF;
  v_before := r;
  r := cronlatch.clamped(r, o_now);
  IF r.slots > 1 THEN
    PERFORM cronlatch.clamp_seats(r.id, o_now);
    v_before := r;
  END IF;
  o_remaining := 0;
  o_wake := '';

  IF o_reason IS NOT NULL THEN
    v_group := strpos(v_kept, 'g') > 0;
  ELSIF v_done THEN
    -- K3: a finished identity blocks every request, whatever its if_busy is. A grant whose answer the
    -- caller never received is released.
    IF v_ours THEN
      PERFORM cronlatch.count(r.id, r.job, ARRAY['released']);
      r.state := 'free';
      r.expires := 0;
    END IF;
    o_reason := 'done';
    PERFORM cronlatch.count(r.id, p_job, ARRAY['skipped_done', 'runs_skipped']);
    PERFORM cronlatch.stamp(r.id, p_job, 'last_skip', o_now);
    PERFORM cronlatch.remember(r.id, p_owner, p_attempt, 'd', o_now, p_ttl);
    SELECT o_ticket INTO v_ticket FROM cronlatch.open_queue(r.id, p_owner, o_now);
    o_wake := cronlatch.leave_queue(r, p_owner, v_ticket, o_now);
    IF v_ours THEN o_wake := cronlatch.first_place(r.id, v_seat, o_now); END IF;
    IF v_ours OR r.slots = 1 THEN r := cronlatch.reserved(r, o_wake, o_now + 2000000); END IF;
    v_before := NULL;
  ELSIF v_ours THEN
    -- AQ4: a repeated request after an unknown result: the same fence, nothing is counted.
    r.expires := o_now + p_ttl;
    r.ttl := p_ttl;
    PERFORM cronlatch.save(r, v_seat, o_now);
    o_verdict := 'granted';
    o_fence := r.fence;
    o_flag := r.stole <> 0;
    RETURN;
  ELSIF r.slots > 1 THEN
    v_claimed := cronlatch.claimed_seat(r.id, p_job, p_once, o_now);
    v_free := v_claimed IS NULL
      AND EXISTS (SELECT FROM cronlatch.free_seats(r.id, p_group, o_now));
    IF v_free THEN
      SELECT * INTO v_ticket, v_tail FROM cronlatch.open_queue(r.id, p_owner, o_now);
      v_seat := cronlatch.next_seat(r.id, p_owner, v_ticket, p_group, v_slots, o_now);
      v_may := v_seat IS NOT NULL;
    END IF;
  ELSE
    -- L0: the min-hold of an attempt group does not exclude that group.
    v_own := p_group <> '' AND p_group = r.attempt_group;
    v_cooling := cronlatch.crashed_in_min_hold(r, o_now)
      OR (r.state = 'cooling' AND o_now < r.expires);
    v_free := r.state IN ('none', 'free', 'cooling') OR o_now >= r.expires;
    IF v_cooling THEN v_free := v_own; END IF;
    IF v_free THEN
      SELECT * INTO v_ticket, v_tail FROM cronlatch.open_queue(r.id, p_owner, o_now);
      -- AQ6: a free lock is granted to the first run that waits. A lost record has no reservations.
      v_may := r.state = 'none' OR (v_own AND v_cooling)
        OR cronlatch.is_next(r, p_owner, v_ticket, o_now);
    END IF;
  END IF;

  IF v_may THEN
    IF v_ticket <> 0 THEN
      DELETE FROM cronlatch.queue q WHERE q.lock_id = r.id AND q.owner = p_owner;
    END IF;
    IF r.slots = v_slots THEN
      r := cronlatch.at_seat(r, v_seat);
      PERFORM cronlatch.close_unreleased(r, o_now);
    ELSE
      -- Another number of slots replaces all seats, and the first one is granted.
      IF r.slots = 1 THEN
        PERFORM cronlatch.close_unreleased(r, o_now);
      ELSE
        PERFORM cronlatch.close_unreleased(cronlatch.at_seat(r, s.seat), o_now)
          FROM cronlatch.seats s WHERE s.lock_id = r.id;
        r := cronlatch.at_seat(r, 1);
      END IF;
      r.slots := v_slots;
      v_seat := cronlatch.set_slots(r.id, v_slots);
    END IF;
    v_stole := r.state = 'held';
    r.turn_owner := '';
    r.turn_until := 0;
    r.stole := CASE WHEN v_stole THEN r.fence ELSE 0 END;
    r.fence := greatest(v_newest + 1, o_now);  -- AQ2
    IF r.born = 0 THEN r.born := o_now; END IF;
    r.state := 'held';
    r.owner := p_owner;
    r.attempt := p_attempt;
    r.holder := p_holder;
    r.job := p_job;
    r.attempt_group := p_group;
    r.once := p_once;
    r.acquired := o_now;
    r.expires := o_now + p_ttl;
    r.ttl := p_ttl;
    r.min_hold := p_min_hold;
    r.group_count := cronlatch.remember_group(r, p_group, false, o_now);
    PERFORM cronlatch.count(r.id, p_job, ARRAY['acquired']);
    IF p_waited > 0 THEN
      PERFORM cronlatch.count(r.id, p_job, ARRAY['wait_' || p_bucket]);
      PERFORM cronlatch.count(r.id, p_job, ARRAY['wait_ms'], p_waited);
    END IF;
    PERFORM cronlatch.save(r, v_seat, o_now);
    o_verdict := 'granted';
    o_fence := r.fence;
    o_flag := v_stole;
    RETURN;
  END IF;

  IF o_reason IS NULL THEN
    IF r.slots > 1 THEN
      v_shown := cronlatch.next_to_end(r, o_now);
      v_cooling := v_shown.state = 'cooling' OR cronlatch.crashed_in_min_hold(v_shown, o_now);
    END IF;
    o_reason := CASE WHEN v_free THEN 'queued' WHEN v_claimed IS NULL AND v_cooling THEN 'cooling'
                     ELSE 'held' END;
    v_group := cronlatch.group_was_granted(r, p_group, o_now);
    -- While another run has the identity, its place would keep free seats from the other runs.
    v_leaves := p_if_busy = 'timed_out' OR v_claimed IS NOT NULL;
    v_waits := v_claimed IS NULL
      AND (p_if_busy = 'wait' OR (v_group AND p_if_busy IN ('skip', 'fail')));
    IF NOT v_free AND (v_waits OR v_leaves) THEN
      SELECT * INTO v_ticket, v_tail FROM cronlatch.open_queue(r.id, p_owner, o_now);
    END IF;
    IF v_leaves THEN
      o_wake := cronlatch.leave_queue(r, p_owner, v_ticket, o_now);
      IF r.slots = 1 THEN r := cronlatch.reserved(r, o_wake, o_now + 2000000); END IF;
    END IF;
    IF v_free AND r.slots > 1 THEN
      v_next := cronlatch.reserve_seat(r.id, p_group, o_now);
    ELSIF v_free THEN
      -- Reserves the lock. L7: a backward step of the clock does not extend a reservation.
      v_until := o_now + 2000000;
      IF r.turn_owner = '' THEN
        v_next := cronlatch.first_place(r.id, 0, o_now);
      ELSIF o_now < r.turn_until THEN
        v_until := least(r.turn_until, v_until);
        IF cronlatch.is_waiting(r.id, r.turn_owner) THEN
          r.turn_until := v_until;
        ELSE
          v_next := cronlatch.first_place(r.id, 0, o_now);
        END IF;
      END IF;
      r := cronlatch.reserved(r, v_next, v_until);
    END IF;
    IF v_next <> '' THEN o_wake := v_next; END IF;
    IF v_waits THEN
      o_ahead := cronlatch.keep_place(
        r.id, p_owner, CASE WHEN v_ticket <> 0 THEN v_ticket ELSE v_tail END, o_now);
    END IF;
    -- L5: a group that was granted before waits instead of skipping.
    IF p_if_busy = 'skip' AND NOT v_group THEN
      PERFORM cronlatch.count(r.id, p_job, ARRAY['skipped_held', 'runs_skipped']);
      PERFORM cronlatch.stamp(r.id, p_job, 'last_skip', o_now);
    ELSIF p_if_busy = 'fail' AND NOT v_group THEN
      PERFORM cronlatch.count(r.id, p_job, ARRAY['runs_busy']);
    ELSIF p_if_busy = 'timed_out' THEN
      PERFORM cronlatch.count(r.id, p_job, ARRAY['wait_timeouts', 'runs_busy']);
    ELSE
      v_count := false;
    END IF;
    IF v_count THEN
      PERFORM cronlatch.remember(r.id, p_owner, p_attempt,
        CASE o_reason WHEN 'cooling' THEN 'c' WHEN 'queued' THEN 'q' ELSE 'h' END, o_now, p_ttl);
      IF v_group THEN
        PERFORM cronlatch.remember(r.id, p_owner, p_attempt, 'g', o_now, p_ttl);
      END IF;
      v_before := NULL;
    END IF;
  END IF;

  IF r IS DISTINCT FROM v_before THEN PERFORM cronlatch.save(r, v_seat, o_now); END IF;
  PERFORM cronlatch.wake(o_wake);
  o_verdict := 'busy';
  o_flag := v_group;
  o_holder := '';
  o_job := '';
  o_fence := 0;
  o_held_for := 0;
  v_shown := CASE WHEN v_claimed IS NULL THEN cronlatch.next_to_end(r, o_now)
                  ELSE cronlatch.at_seat(r, v_claimed) END;
  IF o_reason = 'queued' THEN
    SELECT coalesce(min(t.until) - o_now, 0) INTO o_remaining FROM (
      SELECT r.turn_until AS until UNION ALL
      SELECT s.turn_until FROM cronlatch.seats s WHERE s.lock_id = r.id) AS t
      WHERE t.until > o_now;
  ELSIF o_reason <> 'done' AND v_shown.state NOT IN ('none', 'free') THEN
    o_holder := v_shown.holder;
    o_job := v_shown.job;
    o_fence := v_shown.fence;
    o_held_for := greatest(0, o_now - v_shown.acquired);
    o_remaining := greatest(0, -o_now +
      CASE WHEN o_reason = 'cooling' AND cronlatch.crashed_in_min_hold(v_shown, o_now)
           THEN v_shown.acquired + v_shown.min_hold ELSE v_shown.expires END);
  END IF;
  IF v_done AND v_ours AND r.slots > 1 THEN PERFORM cronlatch.reset_if_idle(r.id); END IF;
END $$;

-- N1 to N4. Verdicts: kept (flag: restored) | lost (reason: expired, taken, revoked, gone) | late
CREATE OR REPLACE FUNCTION cronlatch.renew(
    p_prefix text, p_lock text, p_not_after bigint, p_owner text, p_attempt bigint, p_fence bigint,
    p_ttl bigint, p_holder text, p_job text, p_group text, p_once text, p_slots int DEFAULT 1,
    OUT o_verdict text, OUT o_now bigint, OUT o_fence bigint, OUT o_flag boolean,
    OUT o_reason text, OUT o_holder text, OUT o_job text, OUT o_held_for bigint,
    OUT o_remaining bigint)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  r cronlatch.locks;
  v_old cronlatch.locks;
  v_seat int;
  v_replaced int[];
  v_others bigint;
  v_kept text;
BEGIN
  r := cronlatch.lock_row(p_prefix, p_lock);
  o_now := cronlatch.read_clock();
  o_flag := false;
  IF o_now > p_not_after THEN
    PERFORM cronlatch.drop_new_row(r);
    o_verdict := 'late';
    RETURN;
  END IF;
  o_verdict := 'lost';
  v_seat := cronlatch.seat_of(r, p_owner, p_attempt);
  IF v_seat IS NOT NULL THEN
    r := cronlatch.at_seat(r, v_seat);
    o_reason := CASE WHEN r.state = 'revoked' THEN 'revoked'
                     WHEN r.state <> 'held' THEN 'taken'
                     WHEN o_now >= r.expires THEN 'expired' END;
    IF o_reason IS NOT NULL THEN RETURN; END IF;
    r := cronlatch.clamped(r, o_now);
    IF o_now + p_ttl >= r.expires THEN
      r.expires := o_now + p_ttl;
      r.ttl := p_ttl;
    END IF;
    r.fence := greatest(r.fence, p_fence);
    PERFORM cronlatch.save(r, v_seat, o_now);
    o_verdict := 'kept';
    RETURN;
  END IF;

  -- N3: a record that was lost, or replaced by an older one, is restored from its holder's request.
  v_replaced := cronlatch.replaceable(r, p_fence, p_slots, o_now);
  IF v_replaced IS NULL THEN
    o_reason := cronlatch.loss_reason(r, p_fence);
    RETURN;
  END IF;
  v_kept := cronlatch.answers_of(r.id, p_owner, p_attempt, o_now);
  IF strpos(v_kept, 'r') > 0 OR strpos(v_kept, 'x') > 0 OR p_fence = 0 THEN
    o_reason := CASE WHEN v_kept ~ '[rx]' THEN 'taken' ELSE 'gone' END;
    PERFORM cronlatch.drop_new_row(r);
    RETURN;
  END IF;
  -- C1: a replaced open grant is closed in the counters of its job, unless they count it closed.
  FOREACH v_seat IN ARRAY v_replaced LOOP
    v_old := cronlatch.at_seat(r, v_seat);
    IF v_old.state IN ('held', 'revoked') THEN
      PERFORM cronlatch.remember(r.id, v_old.owner, v_old.attempt, 'x', o_now, v_old.ttl);
    END IF;
    IF v_old.state = 'held' AND cronlatch.open_grants(r.id, v_old.job)
        > cronlatch.held_by_others(r.id, v_old.job, v_replaced) THEN
      PERFORM cronlatch.count(r.id, v_old.job, ARRAY['stolen']);
    END IF;
  END LOOP;
  v_others := cronlatch.held_by_others(r.id, p_job, v_replaced);
  v_seat := v_replaced[1];
  IF r.slots <> p_slots THEN
    r.slots := p_slots;
    v_seat := cronlatch.set_slots(r.id, p_slots);
  END IF;
  IF r.born = 0 THEN r.born := o_now; END IF;
  r.state := 'held';
  r.owner := p_owner;
  r.attempt := p_attempt;
  r.holder := p_holder;
  r.job := p_job;
  r.attempt_group := p_group;
  r.once := p_once;
  r.fence := p_fence;
  r.stole := 0;
  r.acquired := least(p_fence, o_now);
  r.expires := o_now + p_ttl;
  r.ttl := p_ttl;
  r.min_hold := 0;
  r.turn_owner := '';
  r.turn_until := 0;
  r.group_count := cronlatch.remember_group(r, p_group, false, o_now);
  -- C1: counters that were kept already count this grant.
  IF cronlatch.open_grants(r.id, p_job) <= v_others THEN
    PERFORM cronlatch.count(r.id, p_job, ARRAY['acquired']);
  END IF;
  PERFORM cronlatch.count(r.id, p_job, ARRAY['restored']);
  PERFORM cronlatch.save(r, v_seat, o_now);
  o_verdict := 'kept';
  o_flag := true;
END $$;

CREATE OR REPLACE FUNCTION cronlatch.count_verdict(
    p_id bigint, p_job text, p_verdict text, p_now bigint) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF p_verdict = 'given_back' THEN RETURN; END IF;
  PERFORM cronlatch.count(p_id, p_job, CASE p_verdict
    WHEN 'succeeded' THEN ARRAY['runs_succeeded']
    WHEN 'failed' THEN ARRAY['runs_failed']
    WHEN 'timed_out' THEN ARRAY['runs_timed_out']
    WHEN 'lost' THEN ARRAY['lost', 'runs_lost']
    WHEN 'cannot_start' THEN ARRAY['runs_cannot_start']
    WHEN 'ungated' THEN ARRAY['ungated'] END);
  IF p_verdict = 'succeeded' THEN
    PERFORM cronlatch.stamp(p_id, p_job, 'last_success', p_now);
  END IF;
END $$;

-- Whether a recorded grant has this fence.
CREATE OR REPLACE FUNCTION cronlatch.has_fence(r cronlatch.locks, p_fence bigint) RETURNS boolean
  LANGUAGE plpgsql AS $$
BEGIN
  IF r.slots = 1 THEN RETURN r.state <> 'none' AND r.fence = p_fence; END IF;
  RETURN EXISTS (SELECT FROM cronlatch.seats s
    WHERE s.lock_id = r.id AND s.state <> 'none' AND s.fence = p_fence);
END $$;

-- R1 to R5. Verdicts: released (wake) | lost (reason: taken, gone; wake) | late
CREATE OR REPLACE FUNCTION cronlatch.release(
    p_prefix text, p_lock text, p_not_after bigint, p_owner text, p_attempt bigint, p_fence bigint,
    p_verdict text, p_overlong boolean, p_held bigint, p_bucket text, p_min_hold bigint,
    p_once_ttl bigint, p_job text, p_once text, p_mark_done boolean, p_group text,
    OUT o_verdict text, OUT o_now bigint, OUT o_fence bigint, OUT o_flag boolean,
    OUT o_reason text, OUT o_holder text, OUT o_job text, OUT o_held_for bigint,
    OUT o_remaining bigint, OUT o_ahead bigint, OUT o_wake text)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  r cronlatch.locks;
  v_seat int;
  v_same boolean;
  v_first_ttl bigint;
  v_finished boolean := p_mark_done OR p_verdict = 'succeeded';
  v_kept text;
  v_rest bigint := 0;
  v_ticket bigint;
BEGIN
  r := cronlatch.lock_row(p_prefix, p_lock);
  o_now := cronlatch.read_clock();
  o_flag := false;
  o_wake := '';
  IF o_now > p_not_after THEN
    PERFORM cronlatch.drop_new_row(r);
    o_verdict := 'late';
    RETURN;
  END IF;
  -- R4: the work is finished, in every state of the lease.
  IF p_mark_done THEN
    PERFORM cronlatch.mark_done(r.id, p_job, p_once, p_once_ttl, o_now);
  END IF;
  v_seat := cronlatch.seat_of(r, p_owner, p_attempt);
  v_same := v_seat IS NOT NULL;
  r := cronlatch.at_seat(r, v_seat);

  IF v_same AND r.state IN ('held', 'revoked') THEN
    PERFORM cronlatch.remember(r.id, r.owner, r.attempt, 'r', o_now, r.ttl);
    -- L0: the rest of the min-hold, at most all of it.
    IF r.state = 'held' AND p_verdict <> 'given_back' THEN
      v_rest := least(greatest(0, r.acquired + p_min_hold - o_now), greatest(0, p_min_hold));
    END IF;
    -- For the job of the grant; a revoked grant is counted already.
    IF r.state = 'held' THEN PERFORM cronlatch.count(r.id, r.job, ARRAY['released']); END IF;
    PERFORM cronlatch.count_verdict(r.id, r.job, p_verdict, o_now);
    IF p_verdict NOT IN ('given_back', 'ungated') THEN
      PERFORM cronlatch.count(r.id, r.job, ARRAY['hold_' || p_bucket]);
      PERFORM cronlatch.count(r.id, r.job, ARRAY['hold_ms'], p_held);
    END IF;
    IF p_overlong THEN PERFORM cronlatch.count(r.id, r.job, ARRAY['long']); END IF;
    r.group_count := cronlatch.remember_group(r, p_group, v_finished, o_now);
    r.state := CASE WHEN v_rest > 0 THEN 'cooling' ELSE 'free' END;
    r.expires := CASE WHEN v_rest > 0 THEN o_now + v_rest ELSE 0 END;
    IF v_rest > 0 THEN
      r.ttl := v_rest;  -- so that the clamp does not shorten the rest
      r.turn_owner := '';
      r.turn_until := 0;
    ELSE
      -- R5
      PERFORM cronlatch.open_queue(r.id, p_owner, o_now);
      o_wake := cronlatch.first_place(r.id, v_seat, o_now);
      r := cronlatch.reserved(r, o_wake, o_now + 2000000);
    END IF;
    PERFORM cronlatch.save(r, v_seat, o_now);
    IF r.slots > 1 AND v_rest = 0 THEN PERFORM cronlatch.reset_if_idle(r.id); END IF;
    PERFORM cronlatch.wake(o_wake);
    o_verdict := 'released';
    RETURN;
  END IF;

  v_kept := cronlatch.answers_of(r.id, p_owner, p_attempt, o_now);
  IF v_same OR strpos(v_kept, 'r') > 0 THEN
    IF p_mark_done THEN PERFORM cronlatch.save(r, v_seat, o_now); END IF;
    o_verdict := 'released';  -- R3
    RETURN;
  END IF;

  -- A run that is not the holder reports only what it alone can report, once: it ran without a lock,
  -- it reports a lost lease, or it was the holder of another grant than the recorded ones.
  v_first_ttl := CASE WHEN r.slots = 1 THEN r.ttl ELSE (cronlatch.at_seat(r, 1)).ttl END;
  IF p_verdict IN ('lost', 'ungated') OR (p_verdict <> 'given_back' AND p_fence <> 0
      AND NOT cronlatch.has_fence(r, p_fence)) THEN
    IF strpos(v_kept, 'v') = 0 THEN
      PERFORM cronlatch.count_verdict(r.id, p_job, p_verdict, o_now);
      PERFORM cronlatch.remember(r.id, p_owner, p_attempt, 'v', o_now, v_first_ttl);
    END IF;
    r.group_count := cronlatch.remember_group(r, p_group, v_finished, o_now);
  END IF;
  -- A delayed acquire of this attempt must not be granted: no run would follow.
  PERFORM cronlatch.remember(r.id, p_owner, p_attempt, 'x', o_now, v_first_ttl);
  SELECT o_ticket INTO v_ticket FROM cronlatch.open_queue(r.id, p_owner, o_now);
  o_wake := cronlatch.leave_queue(r, p_owner, v_ticket, o_now);
  IF r.slots = 1 THEN r := cronlatch.reserved(r, o_wake, o_now + 2000000); END IF;
  PERFORM cronlatch.save(r, v_seat, o_now);
  PERFORM cronlatch.wake(o_wake);
  o_verdict := 'lost';
  o_reason := cronlatch.loss_reason(r, p_fence);
END $$;

-- Counts each live lease as revoked; its holder excludes other runs until it releases, or until the
-- lease ends. A seat that only its min-hold keeps closed is opened at once.
-- Verdicts: revoked (reason: none, lease, min_hold; holder and fence: of the highest fence with this
-- reason; remaining: the longest) | late
CREATE OR REPLACE FUNCTION cronlatch.revoke(
    p_prefix text, p_lock text, p_not_after bigint,
    OUT o_verdict text, OUT o_now bigint, OUT o_fence bigint, OUT o_flag boolean,
    OUT o_reason text, OUT o_holder text, OUT o_job text, OUT o_held_for bigint,
    OUT o_remaining bigint)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  c_ranks constant text[] := ARRAY['none', 'min_hold', 'lease'];
  v_row cronlatch.locks;
  r cronlatch.locks;
  v_before cronlatch.locks;
  v_seat int;
  v_reason text;
  v_ends bigint;
BEGIN
  v_row := cronlatch.lock_row(p_prefix, p_lock);
  o_now := cronlatch.read_clock();
  o_flag := false;
  IF o_now > p_not_after THEN
    PERFORM cronlatch.drop_new_row(v_row);
    o_verdict := 'late';
    RETURN;
  END IF;
  o_verdict := 'revoked';
  FOR v_seat IN SELECT 0 AS seat WHERE v_row.slots = 1
    UNION ALL SELECT s.seat FROM cronlatch.seats s WHERE s.lock_id = v_row.id ORDER BY seat
  LOOP
    v_before := cronlatch.at_seat(v_row, v_seat);
    r := cronlatch.clamped(v_before, o_now);
    v_reason := 'none';
    v_ends := o_now;
    IF r.state IN ('held', 'revoked') AND o_now < r.expires THEN
      v_reason := 'lease';
      v_ends := r.expires;
    ELSIF r.state = 'cooling' AND o_now < r.expires THEN
      v_reason := 'min_hold';
      v_ends := r.expires;
      r.state := 'free';
      r.expires := 0;
    ELSIF cronlatch.crashed_in_min_hold(r, o_now) THEN
      v_reason := 'min_hold';
      v_ends := r.acquired + r.min_hold;
    END IF;
    IF r.state = 'held' AND v_reason <> 'none' THEN
      r.state := 'revoked';
      PERFORM cronlatch.count(r.id, r.job, ARRAY['revoked']);
    END IF;
    IF r IS DISTINCT FROM v_before THEN PERFORM cronlatch.save(r, v_seat, o_now); END IF;
    IF o_reason IS NULL
        OR array_position(c_ranks, v_reason) > array_position(c_ranks, o_reason) THEN
      o_reason := v_reason;
      o_holder := r.holder;
      o_fence := r.fence;
      o_remaining := v_ends - o_now;
    ELSIF v_reason = o_reason THEN
      IF r.fence > o_fence THEN
        o_holder := r.holder;
        o_fence := r.fence;
      END IF;
      o_remaining := greatest(o_remaining, v_ends - o_now);
    END IF;
  END LOOP;
  PERFORM cronlatch.drop_new_row(v_row);
END $$;

-- ---- strict ----

-- Fails unless a commit now waits for at least that many standbys. synchronous_commit = on without a
-- synchronous standby waits for none. Of a quorum (ANY k), k standbys confirm a commit.
CREATE OR REPLACE FUNCTION cronlatch.require_standbys(p_least bigint) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_connected bigint;
  v_confirming bigint;
BEGIN
  IF NOT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') THEN
    RAISE EXCEPTION 'role % lacks pg_read_all_stats', current_user USING ERRCODE = 'CL004';
  END IF;
  SELECT count(*) INTO v_connected FROM pg_stat_replication s
    WHERE s.state = 'streaming' AND s.sync_state IN ('sync', 'quorum');
  v_confirming := least(v_connected, coalesce(substring(current_setting('synchronous_standby_names')
    FROM '(?i)^[[:space:]]*(?:(?:any|first)[[:space:]]+)?([0-9]+)[[:space:]]*[(]')::bigint, 1));
  IF v_confirming < p_least THEN
    RAISE EXCEPTION '% of %', v_confirming, p_least USING ERRCODE = 'CL003';
  END IF;
END $$;

-- ---- reading ----

-- The versions of the schema, and the server's clock.
CREATE OR REPLACE FUNCTION cronlatch.hello(
    OUT o_version int, OUT o_oldest_program int, OUT o_now bigint)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  SELECT v.version, v.oldest_program INTO o_version, o_oldest_program FROM cronlatch.version v;
  o_now := cronlatch.read_clock();
END $$;

-- One lock, or (p_lock is null) the p_most locks that were granted last. Of a lock with several slots
-- the first seat; view_seats() returns the others.
CREATE OR REPLACE FUNCTION cronlatch.view(p_prefix text, p_lock text, p_most bigint)
  RETURNS TABLE (o_id bigint, o_lock text, o_now bigint, o_state text, o_attempt bigint,
    o_holder text, o_job text, o_group text, o_once text, o_fence bigint, o_acquired bigint,
    o_expires bigint, o_ttl bigint, o_min_hold bigint, o_waiters bigint)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_now bigint := cronlatch.read_clock();
BEGIN
  RETURN QUERY SELECT l.id, l.lock, v_now, coalesce(s.state, l.state),
      coalesce(s.attempt, l.attempt), coalesce(s.holder, l.holder), coalesce(s.job, l.job),
      coalesce(s.attempt_group, l.attempt_group), coalesce(s.once, l.once),
      coalesce(s.fence, l.fence), coalesce(s.acquired, l.acquired), coalesce(s.expires, l.expires),
      coalesce(s.ttl, l.ttl), coalesce(s.min_hold, l.min_hold),
      (SELECT count(*) FROM cronlatch.queue q WHERE q.lock_id = l.id AND q.asked > v_now - 6000000)
    FROM cronlatch.locks l LEFT JOIN cronlatch.seats s ON s.lock_id = l.id AND s.seat = 1
    WHERE l.prefix = p_prefix AND (p_lock IS NULL OR l.lock = p_lock)
    ORDER BY l.acquired DESC, l.lock LIMIT p_most;
END $$;

-- The seats of the same locks but the first, in their order.
CREATE OR REPLACE FUNCTION cronlatch.view_seats(p_prefix text, p_lock text, p_most bigint)
  RETURNS TABLE (o_id bigint, o_state text, o_attempt bigint, o_holder text, o_job text,
    o_group text, o_once text, o_fence bigint, o_acquired bigint, o_expires bigint, o_ttl bigint,
    o_min_hold bigint)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT s.lock_id, s.state, s.attempt, s.holder, s.job, s.attempt_group, s.once,
      s.fence, s.acquired, s.expires, s.ttl, s.min_hold
    FROM cronlatch.seats s
    WHERE s.seat > 1 AND s.lock_id IN (
      SELECT l.id FROM cronlatch.locks l
        WHERE l.prefix = p_prefix AND (p_lock IS NULL OR l.lock = p_lock)
        ORDER BY l.acquired DESC, l.lock LIMIT p_most)
    ORDER BY s.lock_id, s.seat;
END $$;

-- The counters of the same locks: name=value, separated by commas, one row for each job.
CREATE OR REPLACE FUNCTION cronlatch.view_counters(p_prefix text, p_lock text, p_most bigint)
  RETURNS TABLE (o_id bigint, o_job text, o_counters text)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT c.lock_id, c.job, string_agg(c.name || '=' || c.value, ',')
    FROM cronlatch.counters c
    WHERE c.lock_id IN (
      SELECT l.id FROM cronlatch.locks l
        WHERE l.prefix = p_prefix AND (p_lock IS NULL OR l.lock = p_lock)
        ORDER BY l.acquired DESC, l.lock LIMIT p_most)
    GROUP BY c.lock_id, c.job;
END $$;

-- ---- rights ----

REVOKE ALL ON ALL TABLES IN SCHEMA cronlatch FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA cronlatch FROM PUBLIC;
GRANT USAGE ON SCHEMA cronlatch TO cronlatch_user;
GRANT EXECUTE ON FUNCTION
  cronlatch.acquire, cronlatch.renew, cronlatch.release, cronlatch.revoke,
  cronlatch.require_standbys, cronlatch.hello, cronlatch.view, cronlatch.view_seats,
  cronlatch.view_counters
  TO cronlatch_user;

COMMIT;
