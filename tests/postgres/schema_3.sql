-- SPDX-License-Identifier: Apache-2.0
-- The schema of the PostgreSQL store, version 3: tables, and one function for each verb.
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
    IF v_version > 3 THEN
      RAISE EXCEPTION 'the schema has version %, newer than version 3', v_version
        USING ERRCODE = 'CL001';
    END IF;
    IF v_version < 3 THEN
      -- Version 3 added columns to their results, which CREATE OR REPLACE cannot do.
      DROP FUNCTION IF EXISTS cronlatch.acquire(text, text, bigint, text, bigint, bigint, text,
        text, text, text, bigint, text, bigint, text, bigint);
      DROP FUNCTION IF EXISTS cronlatch.release(text, text, bigint, text, bigint, bigint, text,
        boolean, bigint, text, bigint, bigint, text, text, boolean, text);
      DROP FUNCTION IF EXISTS cronlatch.view(text, text, bigint);
    END IF;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cronlatch_user') THEN
    CREATE ROLE cronlatch_user NOLOGIN;
  END IF;
END $$;

CREATE SCHEMA IF NOT EXISTS cronlatch;
REVOKE ALL ON SCHEMA cronlatch FROM PUBLIC;

-- One row. A program of version N can use a schema with oldest_program <= N. Version 2 added the
-- limits of names and sizes, version 3 the queue, which earlier programs do not know.
CREATE TABLE IF NOT EXISTS cronlatch.version (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version int NOT NULL,
  oldest_program int NOT NULL
);
INSERT INTO cronlatch.version (version, oldest_program) VALUES (3, 3)
  ON CONFLICT (only_row) DO UPDATE SET version = 3, oldest_program = 3;

-- One row for each lock: its last grant. State none: no grant, but other data.
CREATE TABLE IF NOT EXISTS cronlatch.locks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Collation C: the order of keys does not depend on the system, whose library may change.
  prefix text COLLATE "C" NOT NULL,
  lock text COLLATE "C" NOT NULL,
  state text NOT NULL DEFAULT 'none'
    CHECK (state IN ('none', 'free', 'held', 'revoked', 'cooling')),
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
        AND asked BETWEEN 0 AND 9007199254740991 $c$)
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

-- Writes the row. On the first change of a day at most 100 locks are deleted that were not changed
-- for 90 days, have no open grant, and have no identity that finished in the last 365 days, which
-- is the longest once-ttl.
CREATE OR REPLACE FUNCTION cronlatch.save(r cronlatch.locks, p_now bigint) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  v_day bigint := p_now / 86400000000;
BEGIN
  UPDATE cronlatch.locks l SET
    state = r.state, owner = r.owner, attempt = r.attempt, holder = r.holder, job = r.job,
    attempt_group = r.attempt_group, once = r.once, fence = r.fence, stole = r.stole,
    acquired = r.acquired, expires = r.expires, ttl = r.ttl, min_hold = r.min_hold, born = r.born,
    used_day = v_day, group_count = r.group_count, turn_owner = r.turn_owner,
    turn_until = r.turn_until
    WHERE l.id = r.id;
  IF r.used_day <> v_day THEN
    DELETE FROM cronlatch.locks l WHERE l.id IN (
      SELECT o.id FROM cronlatch.locks o
        WHERE o.used_day < v_day - 90 AND o.state <> 'held' AND o.id <> r.id
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

-- 1 when the counters of the job have an open grant.
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

CREATE OR REPLACE FUNCTION cronlatch.first_place(p_id bigint) RETURNS text
  LANGUAGE plpgsql AS $$
DECLARE
  v_owner text;
BEGIN
  SELECT q.owner INTO v_owner FROM cronlatch.queue q WHERE q.lock_id = p_id
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
  RETURN cronlatch.first_place(r.id) = p_owner;
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
-- none.
CREATE OR REPLACE FUNCTION cronlatch.leave_queue(
    r cronlatch.locks, p_owner text, p_ticket bigint, p_now bigint) RETURNS text
  LANGUAGE plpgsql AS $$
BEGIN
  IF p_ticket = 0 THEN RETURN ''; END IF;
  DELETE FROM cronlatch.queue q WHERE q.lock_id = r.id AND q.owner = p_owner;
  IF r.turn_owner <> p_owner OR p_now >= r.turn_until THEN RETURN ''; END IF;
  RETURN cronlatch.first_place(r.id);
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

-- ---- the verbs ----
-- Each returns one row: verdict, the server's clock, and the columns of its verdict.

-- Verdicts: granted (fence, flag: stole) | busy (reason, holder, job, fence, held_for, remaining,
-- ahead, wake; flag: the attempt group was granted) | late (flag: this attempt is closed)
-- ahead: how many runs wait before this one; null: it does not wait. wake: the owner that the lock was
-- reserved for.
CREATE OR REPLACE FUNCTION cronlatch.acquire(
    p_prefix text, p_lock text, p_not_after bigint, p_owner text, p_attempt bigint, p_ttl bigint,
    p_holder text, p_job text, p_group text, p_once text, p_once_ttl bigint, p_if_busy text,
    p_waited bigint, p_bucket text, p_min_hold bigint,
    OUT o_verdict text, OUT o_now bigint, OUT o_fence bigint, OUT o_flag boolean,
    OUT o_reason text, OUT o_holder text, OUT o_job text, OUT o_held_for bigint,
    OUT o_remaining bigint, OUT o_ahead bigint, OUT o_wake text)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  r cronlatch.locks;
  v_before cronlatch.locks;
  v_kept text;
  v_same boolean;
  v_ours boolean;
  v_stole boolean;
  v_group boolean := false;
  v_count boolean := true;
  v_own boolean;
  v_cooling boolean;
  v_free boolean := false;
  v_may boolean := false;
  v_waits boolean;
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
  v_same := r.state <> 'none' AND r.owner = p_owner AND r.attempt = p_attempt;
  v_ours := v_same AND r.state = 'held' AND o_now < r.expires;
  -- C2: an attempt that was counted as busy gets the same answer again.
  o_reason := CASE WHEN strpos(v_kept, 'h') > 0 THEN 'held'
                   WHEN strpos(v_kept, 'c') > 0 THEN 'cooling'
                   WHEN strpos(v_kept, 'd') > 0 THEN 'done'
                   WHEN strpos(v_kept, 'q') > 0 THEN 'queued' END;
  IF o_reason IS NULL AND (strpos(v_kept, 'r') > 0 OR strpos(v_kept, 'x') > 0
      OR (r.state <> 'none' AND r.owner = p_owner AND p_attempt < r.attempt)
      OR (v_same AND NOT v_ours)) THEN
    o_verdict := 'late';
    o_flag := true;
    RETURN;
  END IF;
  v_before := r;
  r := cronlatch.clamped(r, o_now);
  o_remaining := 0;
  o_wake := '';

  IF o_reason IS NOT NULL THEN
    v_group := strpos(v_kept, 'g') > 0;
  ELSIF cronlatch.is_done(r.id, p_job, p_once, p_once_ttl, o_now) THEN
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
    IF v_ours THEN o_wake := cronlatch.first_place(r.id); END IF;
    r := cronlatch.reserved(r, o_wake, o_now + 2000000);
    v_before := NULL;
  ELSIF v_ours THEN
    -- AQ4: a repeated request after an unknown result: the same fence, nothing is counted.
    r.expires := o_now + p_ttl;
    r.ttl := p_ttl;
    PERFORM cronlatch.save(r, o_now);
    o_verdict := 'granted';
    o_fence := r.fence;
    o_flag := r.stole <> 0;
    RETURN;
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
    r.turn_owner := '';
    r.turn_until := 0;
    v_stole := r.state = 'held';
    -- AQ3: for the job that lost the lease.
    IF v_stole THEN PERFORM cronlatch.count(r.id, r.job, ARRAY['stolen']); END IF;
    IF v_stole OR r.state = 'revoked' THEN
      PERFORM cronlatch.remember(r.id, r.owner, r.attempt, 'x', o_now, r.ttl);
    END IF;
    r.stole := CASE WHEN v_stole THEN r.fence ELSE 0 END;
    r.fence := greatest(r.fence + 1, o_now);  -- AQ2
    IF r.state = 'none' THEN r.born := o_now; END IF;
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
    PERFORM cronlatch.save(r, o_now);
    o_verdict := 'granted';
    o_fence := r.fence;
    o_flag := v_stole;
    RETURN;
  END IF;

  IF o_reason IS NULL THEN
    o_reason := CASE WHEN v_free THEN 'queued' WHEN v_cooling THEN 'cooling' ELSE 'held' END;
    v_group := cronlatch.group_was_granted(r, p_group, o_now);
    v_waits := p_if_busy = 'wait' OR (v_group AND p_if_busy IN ('skip', 'fail'));
    IF NOT v_free AND (v_waits OR p_if_busy = 'timed_out') THEN
      SELECT * INTO v_ticket, v_tail FROM cronlatch.open_queue(r.id, p_owner, o_now);
    END IF;
    IF p_if_busy = 'timed_out' THEN
      o_wake := cronlatch.leave_queue(r, p_owner, v_ticket, o_now);
      r := cronlatch.reserved(r, o_wake, o_now + 2000000);
    END IF;
    IF v_free THEN
      -- Reserves the lock. L7: a backward step of the clock does not extend a reservation.
      v_until := o_now + 2000000;
      IF r.turn_owner = '' THEN
        v_next := cronlatch.first_place(r.id);
      ELSIF o_now < r.turn_until THEN
        v_until := least(r.turn_until, v_until);
        IF cronlatch.is_waiting(r.id, r.turn_owner) THEN
          r.turn_until := v_until;
        ELSE
          v_next := cronlatch.first_place(r.id);
        END IF;
      END IF;
      r := cronlatch.reserved(r, v_next, v_until);
      IF v_next <> '' THEN o_wake := v_next; END IF;
    END IF;
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

  IF r IS DISTINCT FROM v_before THEN PERFORM cronlatch.save(r, o_now); END IF;
  PERFORM cronlatch.wake(o_wake);
  o_verdict := 'busy';
  o_flag := v_group;
  o_holder := '';
  o_job := '';
  o_fence := 0;
  o_held_for := 0;
  IF o_reason = 'queued' THEN
    IF r.turn_owner <> '' THEN o_remaining := greatest(0, r.turn_until - o_now); END IF;
  ELSIF o_reason <> 'done' AND r.state NOT IN ('none', 'free') THEN
    o_holder := r.holder;
    o_job := r.job;
    o_fence := r.fence;
    o_held_for := greatest(0, o_now - r.acquired);
    o_remaining := greatest(0, -o_now +
      CASE WHEN o_reason = 'cooling' AND cronlatch.crashed_in_min_hold(r, o_now)
           THEN r.acquired + r.min_hold ELSE r.expires END);
  END IF;
END $$;

-- N1 to N4. Verdicts: kept (flag: restored) | lost (reason: expired, taken, revoked, gone) | late
CREATE OR REPLACE FUNCTION cronlatch.renew(
    p_prefix text, p_lock text, p_not_after bigint, p_owner text, p_attempt bigint, p_fence bigint,
    p_ttl bigint, p_holder text, p_job text, p_group text, p_once text,
    OUT o_verdict text, OUT o_now bigint, OUT o_fence bigint, OUT o_flag boolean,
    OUT o_reason text, OUT o_holder text, OUT o_job text, OUT o_held_for bigint,
    OUT o_remaining bigint)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  r cronlatch.locks;
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
  IF r.state <> 'none' AND r.owner = p_owner AND r.attempt = p_attempt THEN
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
    PERFORM cronlatch.save(r, o_now);
    o_verdict := 'kept';
    RETURN;
  END IF;

  -- N3: a record that was lost, or replaced by an older one, is restored from its holder's request.
  -- Fences rise with each grant: a record with a smaller fence is older than the caller's grant. A
  -- live lease of another holder is never overwritten.
  IF r.state <> 'none' AND NOT (r.fence < p_fence
      AND (r.state IN ('free', 'cooling') OR o_now >= r.expires)) THEN
    o_reason := cronlatch.loss_reason(r, p_fence);
    RETURN;
  END IF;
  v_kept := cronlatch.answers_of(r.id, p_owner, p_attempt, o_now);
  IF strpos(v_kept, 'r') > 0 OR strpos(v_kept, 'x') > 0 OR p_fence = 0 THEN
    o_reason := CASE WHEN v_kept ~ '[rx]' THEN 'taken' ELSE 'gone' END;
    PERFORM cronlatch.drop_new_row(r);
    RETURN;
  END IF;
  IF r.state IN ('held', 'revoked') THEN
    PERFORM cronlatch.remember(r.id, r.owner, r.attempt, 'x', o_now, r.ttl);
  END IF;
  -- C1: a replaced open grant is closed in the counters of its job, unless they count it closed.
  IF r.state = 'held' AND cronlatch.open_grants(r.id, r.job) > 0 THEN
    PERFORM cronlatch.count(r.id, r.job, ARRAY['stolen']);
  END IF;
  IF r.state = 'none' THEN r.born := o_now; END IF;
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
  IF cronlatch.open_grants(r.id, p_job) <= 0 THEN
    PERFORM cronlatch.count(r.id, p_job, ARRAY['acquired']);
  END IF;
  PERFORM cronlatch.count(r.id, p_job, ARRAY['restored']);
  PERFORM cronlatch.save(r, o_now);
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
  v_same boolean;
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
  v_same := r.state <> 'none' AND r.owner = p_owner AND r.attempt = p_attempt;

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
      o_wake := cronlatch.first_place(r.id);
      r := cronlatch.reserved(r, o_wake, o_now + 2000000);
    END IF;
    PERFORM cronlatch.save(r, o_now);
    PERFORM cronlatch.wake(o_wake);
    o_verdict := 'released';
    RETURN;
  END IF;

  v_kept := cronlatch.answers_of(r.id, p_owner, p_attempt, o_now);
  IF v_same OR strpos(v_kept, 'r') > 0 THEN
    IF p_mark_done THEN PERFORM cronlatch.save(r, o_now); END IF;
    o_verdict := 'released';  -- R3
    RETURN;
  END IF;

  -- A run that is not the holder reports only what it alone can report, once: it ran without a lock,
  -- it reports a lost lease, or it was the holder of another grant than the recorded one.
  IF p_verdict IN ('lost', 'ungated') OR (p_verdict <> 'given_back' AND p_fence <> 0
      AND (r.state = 'none' OR p_fence <> r.fence)) THEN
    IF strpos(v_kept, 'v') = 0 THEN
      PERFORM cronlatch.count_verdict(r.id, p_job, p_verdict, o_now);
      PERFORM cronlatch.remember(r.id, p_owner, p_attempt, 'v', o_now, r.ttl);
    END IF;
    r.group_count := cronlatch.remember_group(r, p_group, v_finished, o_now);
  END IF;
  -- A delayed acquire of this attempt must not be granted: no run would follow.
  PERFORM cronlatch.remember(r.id, p_owner, p_attempt, 'x', o_now, r.ttl);
  SELECT o_ticket INTO v_ticket FROM cronlatch.open_queue(r.id, p_owner, o_now);
  o_wake := cronlatch.leave_queue(r, p_owner, v_ticket, o_now);
  r := cronlatch.reserved(r, o_wake, o_now + 2000000);
  PERFORM cronlatch.save(r, o_now);
  PERFORM cronlatch.wake(o_wake);
  o_verdict := 'lost';
  o_reason := cronlatch.loss_reason(r, p_fence);
END $$;

-- Counts a live lease as revoked; its holder excludes other runs until it releases, or until the
-- lease ends. A lock that only its min-hold keeps closed is opened at once.
-- Verdicts: revoked (reason: none, lease, min_hold; holder, fence, remaining) | late
CREATE OR REPLACE FUNCTION cronlatch.revoke(
    p_prefix text, p_lock text, p_not_after bigint,
    OUT o_verdict text, OUT o_now bigint, OUT o_fence bigint, OUT o_flag boolean,
    OUT o_reason text, OUT o_holder text, OUT o_job text, OUT o_held_for bigint,
    OUT o_remaining bigint)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  r cronlatch.locks;
  v_before cronlatch.locks;
  v_ends bigint;
BEGIN
  r := cronlatch.lock_row(p_prefix, p_lock);
  o_now := cronlatch.read_clock();
  o_flag := false;
  IF o_now > p_not_after THEN
    PERFORM cronlatch.drop_new_row(r);
    o_verdict := 'late';
    RETURN;
  END IF;
  o_verdict := 'revoked';
  o_reason := 'none';
  o_holder := r.holder;
  o_fence := r.fence;
  o_remaining := 0;
  IF r.state IN ('none', 'free') THEN
    PERFORM cronlatch.drop_new_row(r);
    RETURN;
  END IF;
  v_before := r;
  r := cronlatch.clamped(r, o_now);
  IF r.state = 'cooling' THEN
    v_ends := r.expires;
    IF o_now < v_ends THEN
      o_reason := 'min_hold';
      r.state := 'free';
      r.expires := 0;
    END IF;
  ELSIF o_now < r.expires THEN
    v_ends := r.expires;
    o_reason := 'lease';
  ELSIF r.state = 'held' THEN
    v_ends := r.acquired + r.min_hold;
    IF o_now < v_ends THEN o_reason := 'min_hold'; END IF;
  END IF;
  IF r.state = 'held' AND o_reason <> 'none' THEN
    r.state := 'revoked';
    PERFORM cronlatch.count(r.id, r.job, ARRAY['revoked']);
  END IF;
  o_remaining := greatest(0, coalesce(v_ends, o_now) - o_now);
  IF r IS DISTINCT FROM v_before THEN PERFORM cronlatch.save(r, o_now); END IF;
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

-- One lock, or (p_lock is null) the p_most locks that were granted last.
CREATE OR REPLACE FUNCTION cronlatch.view(p_prefix text, p_lock text, p_most bigint)
  RETURNS TABLE (o_id bigint, o_lock text, o_now bigint, o_state text, o_attempt bigint,
    o_holder text, o_job text, o_group text, o_once text, o_fence bigint, o_acquired bigint,
    o_expires bigint, o_ttl bigint, o_min_hold bigint, o_waiters bigint)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_now bigint := cronlatch.read_clock();
BEGIN
  RETURN QUERY SELECT l.id, l.lock, v_now, l.state, l.attempt, l.holder, l.job, l.attempt_group,
      l.once, l.fence, l.acquired, l.expires, l.ttl, l.min_hold,
      (SELECT count(*) FROM cronlatch.queue q WHERE q.lock_id = l.id AND q.asked > v_now - 6000000)
    FROM cronlatch.locks l
    WHERE l.prefix = p_prefix AND (p_lock IS NULL OR l.lock = p_lock)
    ORDER BY l.acquired DESC, l.lock LIMIT p_most;
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
  cronlatch.require_standbys, cronlatch.hello, cronlatch.view, cronlatch.view_counters
  TO cronlatch_user;

COMMIT;
