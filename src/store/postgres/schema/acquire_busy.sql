-- SPDX-License-Identifier: Apache-2.0
-- Counts the answer busy, and remembers it for a repeated request. False: the run goes on waiting, or
-- only asks. L5: a group that was granted before waits instead of skipping.
CREATE OR REPLACE FUNCTION cronlatch.count_busy(
    p_id bigint, p_owner text, p_attempt bigint, p_ttl bigint, p_job text, p_if_busy text,
    p_reason text, p_group_granted boolean, p_now bigint)
  RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF p_if_busy = 'skip' AND NOT p_group_granted THEN
    PERFORM cronlatch.count(p_id, p_job, ARRAY['skipped_held', 'runs_skipped']);
    PERFORM cronlatch.stamp(p_id, p_job, 'last_skip', p_now);
  ELSIF p_if_busy = 'fail' AND NOT p_group_granted THEN
    PERFORM cronlatch.count(p_id, p_job, ARRAY['runs_busy']);
  ELSIF p_if_busy = 'timed_out' THEN
    PERFORM cronlatch.count(p_id, p_job, ARRAY['wait_timeouts', 'runs_busy']);
  ELSE
    RETURN false;
  END IF;
  PERFORM cronlatch.remember(p_id, p_owner, p_attempt,
    CASE p_reason WHEN 'cooling' THEN 'c' WHEN 'queued' THEN 'q' ELSE 'h' END, p_now, p_ttl);
  IF p_group_granted THEN
    PERFORM cronlatch.remember(p_id, p_owner, p_attempt, 'g', p_now, p_ttl);
  END IF;
  RETURN true;
END $$;

-- What the answer busy says about the grant p_shown, and how long the caller may have to wait.
CREATE OR REPLACE FUNCTION cronlatch.describe_busy(
    r cronlatch.locks, p_shown cronlatch.locks, p_reason text, p_now bigint,
    OUT o_holder text, OUT o_job text, OUT o_fence bigint, OUT o_held_for bigint,
    OUT o_remaining bigint)
  LANGUAGE plpgsql AS $$
BEGIN
  o_holder := '';
  o_job := '';
  o_fence := 0;
  o_held_for := 0;
  o_remaining := 0;
  IF p_reason = 'queued' THEN
    SELECT coalesce(min(t.until) - p_now, 0) INTO o_remaining FROM (
      SELECT r.turn_until AS until UNION ALL
      SELECT s.turn_until FROM cronlatch.slots s WHERE s.lock_id = r.id) AS t
      WHERE t.until > p_now;
  ELSIF p_reason <> 'done' AND p_shown.state NOT IN ('none', 'free') THEN
    o_holder := p_shown.holder;
    o_job := p_shown.job;
    o_fence := p_shown.fence;
    o_held_for := greatest(0, p_now - p_shown.acquired);
    o_remaining := greatest(0, -p_now +
      CASE WHEN p_reason = 'cooling' AND cronlatch.crashed_in_min_hold(p_shown, p_now)
           THEN p_shown.acquired + p_shown.min_hold ELSE p_shown.expires END);
  END IF;
END $$;
