-- SPDX-License-Identifier: Apache-2.0
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
  RETURN EXISTS (SELECT FROM cronlatch.slots s
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
  v_slot int;
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
  v_slot := cronlatch.slot_of(r, p_owner, p_attempt);
  v_same := v_slot IS NOT NULL;
  r := cronlatch.at_slot(r, v_slot);

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
      o_wake := cronlatch.first_place(r.id, v_slot, o_now);
      r := cronlatch.reserved(r, o_wake, o_now + 2000000);
    END IF;
    PERFORM cronlatch.save(r, v_slot, o_now);
    IF r.slots > 1 AND v_rest = 0 THEN PERFORM cronlatch.reset_if_idle(r.id); END IF;
    PERFORM cronlatch.wake(o_wake);
    o_verdict := 'released';
    RETURN;
  END IF;

  v_kept := cronlatch.answers_of(r.id, p_owner, p_attempt, o_now);
  IF v_same OR strpos(v_kept, 'r') > 0 THEN
    IF p_mark_done THEN PERFORM cronlatch.save(r, v_slot, o_now); END IF;
    o_verdict := 'released';  -- R3
    RETURN;
  END IF;

  -- A run that is not the holder reports only what it alone can report, once: it ran without a lock,
  -- it reports a lost lease, or it was the holder of another grant than the recorded ones.
  v_first_ttl := CASE WHEN r.slots = 1 THEN r.ttl ELSE (cronlatch.at_slot(r, 1)).ttl END;
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
  PERFORM cronlatch.save(r, v_slot, o_now);
  PERFORM cronlatch.wake(o_wake);
  o_verdict := 'lost';
  o_reason := cronlatch.loss_reason(r, p_fence);
END $$;
