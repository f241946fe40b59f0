-- SPDX-License-Identifier: Apache-2.0
-- N3: the slots that a lost grant replaces: one that no run holds, preferably a released one. All of
-- them, if their number differs. Null when it cannot be restored. Fences rise with each grant: a
-- record with a smaller fence is older than the caller's grant. A live lease of another holder is
-- never overwritten.
CREATE OR REPLACE FUNCTION cronlatch.replaceable(
    r cronlatch.locks, p_fence bigint, p_slots int, p_now bigint) RETURNS int[]
  LANGUAGE plpgsql AS $$
DECLARE
  v_slot_list int[];
BEGIN
  IF r.slots = 1 THEN
    RETURN CASE WHEN r.state = 'none' OR (r.fence < p_fence
      AND (r.state IN ('free', 'cooling') OR p_now >= r.expires)) THEN ARRAY[0] END;
  END IF;
  SELECT array_agg(s.slot ORDER BY s.state NOT IN ('none', 'free'), s.slot) INTO v_slot_list
    FROM cronlatch.slots s WHERE s.lock_id = r.id AND s.fence < p_fence
      AND (s.state IN ('none', 'free', 'cooling') OR p_now >= s.expires);
  IF r.slots = p_slots THEN RETURN v_slot_list[1:1]; END IF;
  RETURN CASE WHEN cardinality(v_slot_list) = r.slots THEN v_slot_list END;
END $$;

-- How many slots but these the job holds.
CREATE OR REPLACE FUNCTION cronlatch.held_by_others(p_id bigint, p_job text, p_but int[])
  RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT count(*) FROM cronlatch.slots s
    WHERE s.lock_id = p_id AND s.state = 'held' AND s.job = p_job AND s.slot <> ALL (p_but));
END $$;
