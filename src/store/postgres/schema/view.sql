-- SPDX-License-Identifier: Apache-2.0
-- What ls, show and the exporter read.

-- The versions of the schema, and the server's clock.
CREATE OR REPLACE FUNCTION cronlatch.hello(
    OUT o_version int, OUT o_oldest_program int, OUT o_now bigint)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  SELECT v.version, v.oldest_program INTO o_version, o_oldest_program FROM cronlatch.version v;
  o_now := cronlatch.read_clock();
END $$;

-- One lock, or (p_lock is null) the p_most locks that were granted last. Of a lock with several slots
-- the first slot; view_slots() returns the others.
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
    FROM cronlatch.locks l LEFT JOIN cronlatch.slots s ON s.lock_id = l.id AND s.slot = 1
    WHERE l.prefix = p_prefix AND (p_lock IS NULL OR l.lock = p_lock)
    ORDER BY l.acquired DESC, l.lock LIMIT p_most;
END $$;

-- The slots of the same locks but the first, in their order.
CREATE OR REPLACE FUNCTION cronlatch.view_slots(p_prefix text, p_lock text, p_most bigint)
  RETURNS TABLE (o_id bigint, o_state text, o_attempt bigint, o_holder text, o_job text,
    o_group text, o_once text, o_fence bigint, o_acquired bigint, o_expires bigint, o_ttl bigint,
    o_min_hold bigint)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT s.lock_id, s.state, s.attempt, s.holder, s.job, s.attempt_group, s.once,
      s.fence, s.acquired, s.expires, s.ttl, s.min_hold
    FROM cronlatch.slots s
    WHERE s.slot > 1 AND s.lock_id IN (
      SELECT l.id FROM cronlatch.locks l
        WHERE l.prefix = p_prefix AND (p_lock IS NULL OR l.lock = p_lock)
        ORDER BY l.acquired DESC, l.lock LIMIT p_most)
    ORDER BY s.lock_id, s.slot;
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
