-- SPDX-License-Identifier: Apache-2.0
-- Waiting in order (Q1 to Q7).
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

-- The first run that waits, and for which no slot but p_slot is reserved; '' without one.
CREATE OR REPLACE FUNCTION cronlatch.first_place(p_id bigint, p_slot int, p_now bigint)
  RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_owner text;
BEGIN
  SELECT q.owner INTO v_owner FROM cronlatch.queue q
    WHERE q.lock_id = p_id AND q.owner <> ALL (ARRAY(SELECT s.turn_owner FROM cronlatch.slots s
      WHERE s.lock_id = p_id AND s.slot <> p_slot AND s.turn_until > p_now))
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
  RETURN cronlatch.first_place(r.id, 0, p_now) = p_owner;
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
-- none. With several slots the new reservation is written, too.
CREATE OR REPLACE FUNCTION cronlatch.leave_queue(
    r cronlatch.locks, p_owner text, p_ticket bigint, p_now bigint) RETURNS text
  LANGUAGE plpgsql AS $$
BEGIN
  IF p_ticket = 0 THEN RETURN ''; END IF;
  DELETE FROM cronlatch.queue q WHERE q.lock_id = r.id AND q.owner = p_owner;
  IF r.slots > 1 THEN
    RETURN cronlatch.hand_over(r.id, p_now, (SELECT min(s.slot) FROM cronlatch.slots s
      WHERE s.lock_id = r.id AND s.turn_owner = p_owner AND s.turn_until > p_now));
  END IF;
  IF r.turn_owner <> p_owner OR p_now >= r.turn_until THEN RETURN ''; END IF;
  RETURN cronlatch.first_place(r.id, 0, p_now);
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
