-- SPDX-License-Identifier: Apache-2.0
-- The slot that is granted to this owner before all others; null without one. At most p_most free
-- slots count: the request's slots. AQ6: as is_next() for one slot.
CREATE OR REPLACE FUNCTION cronlatch.next_slot(
    p_id bigint, p_owner text, p_ticket bigint, p_group text, p_most int, p_now bigint)
  RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_own int;
  v_reserved int;
  v_lapsed int;
  v_open int;
  v_count bigint;
  v_open_count bigint;
  v_before bigint;
BEGIN
  SELECT (array_agg(f.slot ORDER BY f.rank) FILTER (WHERE f.is_own))[1],
      (array_agg(f.slot ORDER BY f.rank)
        FILTER (WHERE f.turn_owner = p_owner AND f.turn_until > p_now))[1],
      (array_agg(f.slot ORDER BY f.rank) FILTER (WHERE f.has_lapsed))[1],
      (array_agg(f.slot ORDER BY f.rank) FILTER (WHERE NOT f.is_kept))[1],
      count(*), count(*) FILTER (WHERE NOT f.is_kept)
    INTO v_own, v_reserved, v_lapsed, v_open, v_count, v_open_count
    FROM cronlatch.free_slots(p_id, p_group, p_now) AS f;
  IF v_own IS NOT NULL THEN RETURN v_own; END IF;
  IF p_ticket = 0 THEN
    SELECT count(*) INTO v_before FROM cronlatch.queue q
      WHERE q.lock_id = p_id AND q.asked > p_now - 3000000;
    IF v_before >= least(v_count, p_most) THEN RETURN NULL; END IF;
    -- When all are reserved, that of a run that is silent.
    RETURN coalesce(v_open, (SELECT f.slot FROM cronlatch.free_slots(p_id, p_group, p_now) AS f
      WHERE NOT EXISTS (SELECT FROM cronlatch.queue q
        WHERE q.lock_id = p_id AND q.owner = f.turn_owner AND q.asked > p_now - 3000000)
      ORDER BY f.rank LIMIT 1));
  END IF;
  IF coalesce(v_reserved, v_lapsed) IS NOT NULL THEN RETURN coalesce(v_reserved, v_lapsed); END IF;
  -- The runs without a reservation that wait before this one.
  SELECT count(*) INTO v_before FROM cronlatch.queue q
    WHERE q.lock_id = p_id AND (q.ticket, q.owner) < (p_ticket, p_owner COLLATE "C")
      AND q.owner <> ALL (ARRAY(SELECT s.turn_owner FROM cronlatch.slots s
        WHERE s.lock_id = p_id AND s.turn_until > p_now));
  RETURN CASE WHEN v_before < least(v_open_count, p_most) THEN v_open END;
END $$;

-- Reserves a free slot for the first run that waits, one in each call: a reply can wake one run. L7:
-- a backward step of the clock does not extend a reservation. Returns the owner, '' without one.
CREATE OR REPLACE FUNCTION cronlatch.reserve_slot(p_id bigint, p_group text, p_now bigint)
  RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_latest bigint := p_now + 2000000;
  f record;
  v_wake text;
BEGIN
  UPDATE cronlatch.slots s SET turn_until = v_latest
    FROM cronlatch.free_slots(p_id, p_group, p_now) AS k
    WHERE s.lock_id = p_id AND s.slot = k.slot AND k.is_kept AND s.turn_until > v_latest;
  SELECT * INTO f FROM cronlatch.free_slots(p_id, p_group, p_now) AS k
    WHERE NOT k.is_kept AND NOT k.has_lapsed ORDER BY k.rank LIMIT 1;
  IF NOT FOUND THEN RETURN ''; END IF;
  v_wake := cronlatch.first_place(p_id, f.slot, p_now);
  IF v_wake <> '' THEN
    UPDATE cronlatch.slots s SET turn_owner = v_wake,
        turn_until = CASE WHEN f.turn_owner = '' THEN v_latest ELSE least(f.turn_until, v_latest) END
      WHERE s.lock_id = p_id AND s.slot = f.slot;
  END IF;
  RETURN v_wake;
END $$;

-- Reserves the slot for the first run that waits. Returns its owner, '' without one, or if p_slot is
-- null.
CREATE OR REPLACE FUNCTION cronlatch.hand_over(p_id bigint, p_now bigint, p_slot int) RETURNS text
  LANGUAGE plpgsql AS $$
DECLARE
  v_wake text;
BEGIN
  IF p_slot IS NULL THEN RETURN ''; END IF;
  v_wake := cronlatch.first_place(p_id, p_slot, p_now);
  IF v_wake <> '' THEN
    UPDATE cronlatch.slots s SET turn_owner = v_wake, turn_until = p_now + 2000000
      WHERE s.lock_id = p_id AND s.slot = p_slot;
  END IF;
  RETURN v_wake;
END $$;

-- Another number of slots: none has a grant, and save() writes that of the returned one. The table
-- refuses an invalid number before rows are created.
CREATE OR REPLACE FUNCTION cronlatch.set_slots(p_id bigint, p_slots int) RETURNS int
  LANGUAGE plpgsql AS $$
BEGIN
  UPDATE cronlatch.locks l SET slots = p_slots,
      state = CASE WHEN p_slots = 1 THEN 'free' ELSE 'several' END
    WHERE l.id = p_id;
  DELETE FROM cronlatch.slots s WHERE s.lock_id = p_id;
  IF p_slots = 1 THEN RETURN 0; END IF;
  INSERT INTO cronlatch.slots (lock_id, slot) SELECT p_id, n FROM generate_series(1, p_slots) AS n;
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
    FROM (SELECT * FROM cronlatch.slots o WHERE o.lock_id = p_id
      ORDER BY o.fence DESC, o.slot LIMIT 1) AS s
    WHERE l.id = p_id AND NOT EXISTS (SELECT FROM cronlatch.queue q WHERE q.lock_id = p_id)
      AND NOT EXISTS (SELECT FROM cronlatch.slots o
        WHERE o.lock_id = p_id AND o.state NOT IN ('none', 'free'));
  IF FOUND THEN DELETE FROM cronlatch.slots s WHERE s.lock_id = p_id; END IF;
END $$;
