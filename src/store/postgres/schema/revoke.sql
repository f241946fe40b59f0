-- SPDX-License-Identifier: Apache-2.0
-- Counts each live lease as revoked; its holder excludes other runs until it releases, or until the
-- lease ends. A slot that only its min-hold keeps closed is opened at once.
-- Verdicts: revoked (reason: none, lease, min_hold; holder and fence: of the highest fence with this
-- reason; remaining: the longest) | late
CREATE OR REPLACE FUNCTION cronlatch.revoke(
    p_prefix text, p_lock text, p_not_after bigint,
    OUT o_verdict text, OUT o_now bigint, OUT o_fence bigint, OUT o_flag boolean,
    OUT o_reason text, OUT o_holder text, OUT o_job text, OUT o_held_for bigint,
    OUT o_remaining bigint)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  c_ranks constant text[] := ARRAY['none', 'min_hold', 'lease'];
  v_row cronlatch.locks;
  r cronlatch.locks;
  v_before cronlatch.locks;
  v_slot int;
  v_reason text;
  v_ends bigint;
BEGIN
  v_row := cronlatch.lock_row(p_prefix, p_lock);
  o_now := cronlatch.read_clock();
  o_flag := false;
  IF o_now > p_not_after THEN
    PERFORM cronlatch.drop_new_row(v_row);
    o_verdict := 'late';
    RETURN;
  END IF;
  o_verdict := 'revoked';
  FOR v_slot IN SELECT 0 AS slot WHERE v_row.slots = 1
    UNION ALL SELECT s.slot FROM cronlatch.slots s WHERE s.lock_id = v_row.id ORDER BY slot
  LOOP
    v_before := cronlatch.at_slot(v_row, v_slot);
    r := cronlatch.clamped(v_before, o_now);
    v_reason := 'none';
    v_ends := o_now;
    IF r.state IN ('held', 'revoked') AND o_now < r.expires THEN
      v_reason := 'lease';
      v_ends := r.expires;
    ELSIF r.state = 'cooling' AND o_now < r.expires THEN
      v_reason := 'min_hold';
      v_ends := r.expires;
      r.state := 'free';
      r.expires := 0;
    ELSIF cronlatch.crashed_in_min_hold(r, o_now) THEN
      v_reason := 'min_hold';
      v_ends := r.acquired + r.min_hold;
    END IF;
    IF r.state = 'held' AND v_reason <> 'none' THEN
      r.state := 'revoked';
      PERFORM cronlatch.count(r.id, r.job, ARRAY['revoked']);
    END IF;
    IF r IS DISTINCT FROM v_before THEN PERFORM cronlatch.save(r, v_slot, o_now); END IF;
    IF o_reason IS NULL
        OR array_position(c_ranks, v_reason) > array_position(c_ranks, o_reason) THEN
      o_reason := v_reason;
      o_holder := r.holder;
      o_fence := r.fence;
      o_remaining := v_ends - o_now;
    ELSIF v_reason = o_reason THEN
      IF r.fence > o_fence THEN
        o_holder := r.holder;
        o_fence := r.fence;
      END IF;
      o_remaining := greatest(o_remaining, v_ends - o_now);
    END IF;
  END LOOP;
  PERFORM cronlatch.drop_new_row(v_row);
END $$;
