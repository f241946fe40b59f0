-- SPDX-License-Identifier: Apache-2.0
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
  v_slot int;
  v_newest bigint;
  v_other text;
  v_kept text;
  v_closed boolean;
  v_ours boolean;
  v_done boolean := false;
  v_group boolean := false;
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
    v_closed := EXISTS (SELECT FROM cronlatch.slots s WHERE s.lock_id = r.id
      AND s.state <> 'none' AND s.owner = p_owner AND p_attempt < s.attempt);
  END IF;
  v_slot := cronlatch.slot_of(r, p_owner, p_attempt);
  r := cronlatch.at_slot(r, v_slot);
  v_ours := v_slot IS NOT NULL AND r.state = 'held' AND o_now < r.expires;
  -- C2: an attempt that was counted as busy gets the same answer again.
  o_reason := CASE WHEN strpos(v_kept, 'h') > 0 THEN 'held'
                   WHEN strpos(v_kept, 'c') > 0 THEN 'cooling'
                   WHEN strpos(v_kept, 'd') > 0 THEN 'done'
                   WHEN strpos(v_kept, 'q') > 0 THEN 'queued' END;
  IF o_reason IS NULL THEN
    IF strpos(v_kept, 'r') > 0 OR strpos(v_kept, 'x') > 0 OR v_closed
        OR (v_slot IS NOT NULL AND NOT v_ours) THEN
      o_verdict := 'late';
      o_flag := true;
      RETURN;
    END IF;
    v_done := cronlatch.is_done(r.id, p_job, p_once, p_once_ttl, o_now);
    -- This attempt has a grant, and its identity is done since then. The grant stays: its holder may
    -- have received it, and this request may be a copy that was delayed. Otherwise the caller tries
    -- again with another attempt.
    IF v_ours AND v_done THEN
      o_verdict := 'late';
      o_flag := true;
      RETURN;
    END IF;
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
    PERFORM cronlatch.clamp_slots(r.id, o_now);
    v_before := r;
  END IF;
  o_wake := '';

  IF o_reason IS NOT NULL THEN
    v_group := strpos(v_kept, 'g') > 0;
  ELSIF v_done THEN
    -- K3: a finished identity blocks every request, whatever its if_busy is.
    o_reason := 'done';
    PERFORM cronlatch.count(r.id, p_job, ARRAY['skipped_done', 'runs_skipped']);
    PERFORM cronlatch.stamp(r.id, p_job, 'last_skip', o_now);
    PERFORM cronlatch.remember(r.id, p_owner, p_attempt, 'd', o_now, p_ttl);
    SELECT o_ticket INTO v_ticket FROM cronlatch.open_queue(r.id, p_owner, o_now);
    o_wake := cronlatch.leave_queue(r, p_owner, v_ticket, o_now);
    IF r.slots = 1 THEN r := cronlatch.reserved(r, o_wake, o_now + 2000000); END IF;
    v_before := NULL;
  ELSIF v_ours THEN
    -- AQ4: a repeated request after an unknown result: the same fence, nothing is counted.
    r.expires := o_now + p_ttl;
    r.ttl := p_ttl;
    PERFORM cronlatch.save(r, v_slot, o_now);
    o_verdict := 'granted';
    o_fence := r.fence;
    o_flag := r.stole <> 0;
    RETURN;
  ELSIF r.slots > 1 THEN
    v_claimed := cronlatch.claimed_slot(r.id, p_job, p_once, o_now);
    v_free := v_claimed IS NULL
      AND EXISTS (SELECT FROM cronlatch.free_slots(r.id, p_group, o_now));
    IF v_free THEN
      SELECT * INTO v_ticket, v_tail FROM cronlatch.open_queue(r.id, p_owner, o_now);
      v_slot := cronlatch.next_slot(r.id, p_owner, v_ticket, p_group, v_slots, o_now);
      v_may := v_slot IS NOT NULL;
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
    r := cronlatch.grant_slot(r, v_slot, v_slots, v_newest, p_owner, p_attempt, p_ttl, p_holder, p_job,
      p_group, p_once, p_min_hold, o_now);
    IF p_waited > 0 THEN
      PERFORM cronlatch.count(r.id, p_job, ARRAY['wait_' || p_bucket]);
      PERFORM cronlatch.count(r.id, p_job, ARRAY['wait_ms'], p_waited);
    END IF;
    o_verdict := 'granted';
    o_fence := r.fence;
    o_flag := r.stole <> 0;
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
    -- While another run has the identity, its place would keep free slots from the other runs.
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
      v_next := cronlatch.reserve_slot(r.id, p_group, o_now);
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
    IF cronlatch.count_busy(
        r.id, p_owner, p_attempt, p_ttl, p_job, p_if_busy, o_reason, v_group, o_now) THEN
      v_before := NULL;
    END IF;
  END IF;

  IF r IS DISTINCT FROM v_before THEN PERFORM cronlatch.save(r, v_slot, o_now); END IF;
  PERFORM cronlatch.wake(o_wake);
  o_verdict := 'busy';
  o_flag := v_group;
  v_shown := CASE WHEN v_claimed IS NULL THEN cronlatch.next_to_end(r, o_now)
                  ELSE cronlatch.at_slot(r, v_claimed) END;
  SELECT b.* INTO o_holder, o_job, o_fence, o_held_for, o_remaining
    FROM cronlatch.describe_busy(r, v_shown, o_reason, o_now) AS b;
END $$;
