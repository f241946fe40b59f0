-- SPDX-License-Identifier: Apache-2.0
-- L7: after a backward step of the clock no wait is longer than the recorded length.
CREATE OR REPLACE FUNCTION cronlatch.clamped(r cronlatch.locks, p_now bigint)
  RETURNS cronlatch.locks LANGUAGE plpgsql AS $$
BEGIN
  IF r.state IN ('held', 'revoked', 'cooling') THEN
    r.expires := least(r.expires, p_now + r.ttl);
  END IF;
  IF r.state = 'held' THEN r.acquired := least(r.acquired, p_now); END IF;
  RETURN r;
END $$;

-- L0: the holder did not release an expired grant, and its min-hold has not passed.
CREATE OR REPLACE FUNCTION cronlatch.crashed_in_min_hold(r cronlatch.locks, p_now bigint)
  RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN r.state = 'held' AND p_now >= r.expires AND p_now < r.acquired + r.min_hold;
END $$;

-- Why a caller that is not the holder lost the lock.
CREATE OR REPLACE FUNCTION cronlatch.loss_reason(r cronlatch.locks, p_fence bigint)
  RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF r.state = 'none' OR r.fence < p_fence OR (p_fence <> 0 AND r.born > p_fence) THEN
    RETURN 'gone';
  END IF;
  RETURN 'taken';
END $$;
