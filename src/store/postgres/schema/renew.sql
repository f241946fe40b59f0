-- SPDX-License-Identifier: Apache-2.0
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
  v_slot int;
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
  v_slot := cronlatch.slot_of(r, p_owner, p_attempt);
  IF v_slot IS NOT NULL THEN
    r := cronlatch.at_slot(r, v_slot);
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
    PERFORM cronlatch.save(r, v_slot, o_now);
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
  FOREACH v_slot IN ARRAY v_replaced LOOP
    v_old := cronlatch.at_slot(r, v_slot);
    IF v_old.state IN ('held', 'revoked') THEN
      PERFORM cronlatch.remember(r.id, v_old.owner, v_old.attempt, 'x', o_now, v_old.ttl);
    END IF;
    IF v_old.state = 'held' AND cronlatch.open_grants(r.id, v_old.job)
        > cronlatch.held_by_others(r.id, v_old.job, v_replaced) THEN
      PERFORM cronlatch.count(r.id, v_old.job, ARRAY['stolen']);
    END IF;
  END LOOP;
  v_others := cronlatch.held_by_others(r.id, p_job, v_replaced);
  v_slot := v_replaced[1];
  IF r.slots <> p_slots THEN
    r.slots := p_slots;
    v_slot := cronlatch.set_slots(r.id, p_slots);
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
  PERFORM cronlatch.save(r, v_slot, o_now);
  o_verdict := 'kept';
  o_flag := true;
END $$;
