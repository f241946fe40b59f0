-- SPDX-License-Identifier: Apache-2.0
-- The clock, the row of a lock, its counters and times.

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

-- For a lock with several slots: writes what they have in common, and the grant of p_slot, whose
-- columns `r` has. Null: no grant.
CREATE OR REPLACE FUNCTION cronlatch.save_slot(r cronlatch.locks, p_slot int, p_day bigint)
  RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE cronlatch.locks l SET
    state = 'several', slots = r.slots, fence = greatest(l.fence, r.fence),
    acquired = greatest(l.acquired, r.acquired), born = r.born, used_day = p_day,
    group_count = r.group_count, owner = '', attempt = 0, holder = '', job = '',
    attempt_group = '', once = '', stole = 0, expires = 0, ttl = 0, min_hold = 0, turn_owner = '',
    turn_until = 0
    WHERE l.id = r.id;
  UPDATE cronlatch.slots s SET
    state = r.state, owner = r.owner, attempt = r.attempt, holder = r.holder, job = r.job,
    attempt_group = r.attempt_group, once = r.once, fence = r.fence, stole = r.stole,
    acquired = r.acquired, expires = r.expires, ttl = r.ttl, min_hold = r.min_hold,
    turn_owner = r.turn_owner, turn_until = r.turn_until
    WHERE s.lock_id = r.id AND s.slot = p_slot;
END $$;

-- Writes the row and the grant of p_slot. On the first change of a day at most 100 locks are deleted
-- that were not changed for 90 days, have no open grant, and have no identity that finished in the
-- last 365 days, which is the longest once-ttl.
CREATE OR REPLACE FUNCTION cronlatch.save(r cronlatch.locks, p_slot int, p_now bigint)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_day bigint := p_now / 86400000000;
BEGIN
  IF r.slots > 1 THEN
    PERFORM cronlatch.save_slot(r, p_slot, v_day);
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
          AND NOT EXISTS (SELECT FROM cronlatch.slots s WHERE s.lock_id = o.id AND s.state = 'held')
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
