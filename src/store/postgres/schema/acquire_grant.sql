-- SPDX-License-Identifier: Apache-2.0
-- AQ3: counted for the job that lost the lease.
CREATE OR REPLACE FUNCTION cronlatch.close_unreleased(r cronlatch.locks, p_now bigint) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF r.state = 'held' THEN PERFORM cronlatch.count(r.id, r.job, ARRAY['stolen']); END IF;
  IF r.state IN ('held', 'revoked') THEN
    PERFORM cronlatch.remember(r.id, r.owner, r.attempt, 'x', p_now, r.ttl);
  END IF;
END $$;

-- Grants the slot (0: the lock with one slot) to the owner, and writes it. Returns the row with the
-- grant; `stole` is not 0 when the grant before it was not released. p_newest: the fence of the last
-- grant of any slot.
CREATE OR REPLACE FUNCTION cronlatch.grant_slot(
    r cronlatch.locks, p_slot int, p_slots int, p_newest bigint, p_owner text, p_attempt bigint,
    p_ttl bigint, p_holder text, p_job text, p_group text, p_once text, p_min_hold bigint,
    p_now bigint)
  RETURNS cronlatch.locks LANGUAGE plpgsql AS $$
DECLARE
  v_slot int := p_slot;
BEGIN
  IF r.slots = p_slots THEN
    r := cronlatch.at_slot(r, v_slot);
    PERFORM cronlatch.close_unreleased(r, p_now);
  ELSE
    -- Another number of slots replaces all grants: the first slot is granted.
    IF r.slots = 1 THEN
      PERFORM cronlatch.close_unreleased(r, p_now);
    ELSE
      PERFORM cronlatch.close_unreleased(cronlatch.at_slot(r, s.slot), p_now)
        FROM cronlatch.slots s WHERE s.lock_id = r.id;
      r := cronlatch.at_slot(r, 1);
    END IF;
    r.slots := p_slots;
    v_slot := cronlatch.set_slots(r.id, p_slots);
  END IF;
  r.turn_owner := '';
  r.turn_until := 0;
  r.stole := CASE WHEN r.state = 'held' THEN r.fence ELSE 0 END;
  r.fence := greatest(p_newest + 1, p_now);  -- AQ2
  IF r.born = 0 THEN r.born := p_now; END IF;
  r.state := 'held';
  r.owner := p_owner;
  r.attempt := p_attempt;
  r.holder := p_holder;
  r.job := p_job;
  r.attempt_group := p_group;
  r.once := p_once;
  r.acquired := p_now;
  r.expires := p_now + p_ttl;
  r.ttl := p_ttl;
  r.min_hold := p_min_hold;
  r.group_count := cronlatch.remember_group(r, p_group, false, p_now);
  PERFORM cronlatch.count(r.id, p_job, ARRAY['acquired']);
  PERFORM cronlatch.save(r, v_slot, p_now);
  RETURN r;
END $$;
