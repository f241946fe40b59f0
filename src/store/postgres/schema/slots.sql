-- SPDX-License-Identifier: Apache-2.0
-- Several slots (docs/decisions/0048).
-- A verb chooses a slot and decides as for one holder: at_slot() puts the grant of the slot into the
-- row of the lock, save() writes it to the slot.

-- r, with the grant of one of its slots; null and 0: r itself.
CREATE OR REPLACE FUNCTION cronlatch.at_slot(r cronlatch.locks, p_slot int)
  RETURNS cronlatch.locks LANGUAGE plpgsql AS $$
DECLARE
  s cronlatch.slots;
BEGIN
  IF coalesce(p_slot, 0) = 0 THEN RETURN r; END IF;
  SELECT * INTO s FROM cronlatch.slots o WHERE o.lock_id = r.id AND o.slot = p_slot;
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

-- The slot of the claim, in any state; null without one. 0: the grant of a lock with one slot.
CREATE OR REPLACE FUNCTION cronlatch.slot_of(r cronlatch.locks, p_owner text, p_attempt bigint)
  RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  IF r.slots > 1 THEN
    RETURN (SELECT min(s.slot) FROM cronlatch.slots s WHERE s.lock_id = r.id
      AND s.state <> 'none' AND s.owner = p_owner AND s.attempt = p_attempt);
  END IF;
  RETURN CASE WHEN r.state <> 'none' AND r.owner = p_owner AND r.attempt = p_attempt THEN 0 END;
END $$;

-- L7: clamped() for every slot.
CREATE OR REPLACE FUNCTION cronlatch.clamp_slots(p_id bigint, p_now bigint) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  UPDATE cronlatch.slots s SET expires = least(s.expires, p_now + s.ttl),
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

-- K2: the slot of another run with this identity, whose lease is live; null without one. A lock with
-- one slot excludes that run itself.
CREATE OR REPLACE FUNCTION cronlatch.claimed_slot(
    p_id bigint, p_job text, p_once text, p_now bigint) RETURNS int
  LANGUAGE plpgsql AS $$
BEGIN
  IF p_once = '' THEN RETURN NULL; END IF;
  RETURN (SELECT min(s.slot) FROM cronlatch.slots s WHERE s.lock_id = p_id AND s.job = p_job
    AND s.once = p_once AND s.state IN ('held', 'revoked') AND p_now < s.expires);
END $$;

-- The holder that excludes a request with another number of slots: of the slot that is free first.
-- Null: none excludes it. Nothing is changed, so that the slots are not clamped yet.
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
      SELECT s.slot, s.holder, s.state, least(s.expires, p_now + s.ttl) AS expires,
        least(s.acquired, p_now) + s.min_hold AS min_hold_end,
        p_group <> '' AND p_group = s.attempt_group AS is_own
        FROM cronlatch.slots s WHERE s.lock_id = r.id) AS c
    WHERE NOT cronlatch.grantable(c.state, c.expires, c.min_hold_end, c.is_own, p_now)
    ORDER BY cronlatch.end_of(c.state, c.expires, c.min_hold_end, p_now), c.slot LIMIT 1);
END $$;

-- r, with the grant that ends first, of those that are not free.
CREATE OR REPLACE FUNCTION cronlatch.next_to_end(r cronlatch.locks, p_now bigint)
  RETURNS cronlatch.locks LANGUAGE plpgsql AS $$
BEGIN
  IF r.slots = 1 THEN RETURN r; END IF;
  RETURN cronlatch.at_slot(r, coalesce((SELECT s.slot FROM cronlatch.slots s
    WHERE s.lock_id = r.id AND s.state NOT IN ('none', 'free')
    ORDER BY cronlatch.end_of(s.state, s.expires, s.acquired + s.min_hold, p_now), s.slot
    LIMIT 1), 1));
END $$;

-- The slots that could be granted, those without an expired grant first. is_own: only the min-hold of
-- the caller's attempt group keeps it closed. is_kept: reserved for a run that waits.
CREATE OR REPLACE FUNCTION cronlatch.free_slots(p_id bigint, p_group text, p_now bigint)
  RETURNS TABLE (slot int, rank bigint, is_own boolean, turn_owner text, turn_until bigint,
    has_lapsed boolean, is_kept boolean) LANGUAGE sql STABLE AS $$
  SELECT c.slot, row_number() OVER (ORDER BY c.state = 'held', c.slot),
      c.is_own AND ((c.state = 'cooling' AND p_now < c.expires)
                 OR (c.state = 'held' AND p_now < c.min_hold_end)),
      c.turn_owner, c.turn_until, c.turn_owner <> '' AND p_now >= c.turn_until,
      p_now < c.turn_until AND EXISTS (SELECT FROM cronlatch.queue q
        WHERE q.lock_id = p_id AND q.owner = c.turn_owner)
    FROM (SELECT s.*, s.acquired + s.min_hold AS min_hold_end,
        p_group <> '' AND p_group = s.attempt_group AS is_own
        FROM cronlatch.slots s WHERE s.lock_id = p_id) AS c
    WHERE cronlatch.grantable(c.state, c.expires, c.min_hold_end, c.is_own, p_now)
$$;
