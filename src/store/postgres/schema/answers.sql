-- SPDX-License-Identifier: Apache-2.0
-- The letters of the final answers that are kept for this attempt.
CREATE OR REPLACE FUNCTION cronlatch.answers_of(
    p_id bigint, p_owner text, p_attempt bigint, p_now bigint) RETURNS text
  LANGUAGE plpgsql AS $$
DECLARE
  v_letters text;
BEGIN
  SELECT coalesce(string_agg(a.answer, ''), '') INTO v_letters FROM cronlatch.answers a
    WHERE a.lock_id = p_id AND a.owner = p_owner AND a.attempt = p_attempt AND a.kept > p_now;
  RETURN v_letters;
END $$;

CREATE OR REPLACE FUNCTION cronlatch.remember(
    p_id bigint, p_owner text, p_attempt bigint, p_answer text, p_now bigint, p_ttl bigint)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_kept bigint := p_now + greatest(600000000, 2 * p_ttl);
BEGIN
  DELETE FROM cronlatch.answers a WHERE a.lock_id = p_id AND a.kept <= p_now;
  INSERT INTO cronlatch.answers AS a (lock_id, owner, attempt, answer, kept)
    VALUES (p_id, p_owner, p_attempt, p_answer, v_kept)
    ON CONFLICT (lock_id, owner, attempt, answer) DO UPDATE SET kept = excluded.kept;
END $$;

CREATE OR REPLACE FUNCTION cronlatch.group_was_granted(
    r cronlatch.locks, p_group text, p_now bigint) RETURNS boolean
  LANGUAGE plpgsql AS $$
BEGIN
  IF p_group = '' THEN RETURN false; END IF;
  IF r.state <> 'none' AND r.attempt_group = p_group THEN RETURN true; END IF;
  IF r.slots > 1 AND EXISTS (SELECT FROM cronlatch.slots s
      WHERE s.lock_id = r.id AND s.state <> 'none' AND s.attempt_group = p_group) THEN
    RETURN true;
  END IF;
  RETURN EXISTS (SELECT FROM cronlatch.groups g
    WHERE g.lock_id = r.id AND g.name = p_group AND g.kept > p_now - 86400000000);
END $$;

-- L5: a group that may be retried is kept for 35 days, a group that succeeded for one day; at most
-- 10,000 groups. Returns the new number of groups.
CREATE OR REPLACE FUNCTION cronlatch.remember_group(
    r cronlatch.locks, p_group text, p_finished boolean, p_now bigint) RETURNS int
  LANGUAGE plpgsql AS $$
DECLARE
  v_count int := r.group_count;
  v_rows int;
  v_kept bigint := p_now;
  v_newest cronlatch.groups;
BEGIN
  IF p_group = '' THEN RETURN v_count; END IF;
  DELETE FROM cronlatch.groups g WHERE g.lock_id = r.id AND g.kept <= p_now - 86400000000;
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  v_count := v_count - v_rows;
  IF NOT p_finished THEN
    -- After a backward step of the clock the new entry must still be the newest.
    v_kept := p_now + 34 * 86400000000;
    SELECT * INTO v_newest FROM cronlatch.groups g WHERE g.lock_id = r.id
      ORDER BY g.kept DESC, g.name COLLATE "C" DESC LIMIT 1;
    IF FOUND AND v_newest.kept >= v_kept THEN
      v_kept := v_newest.kept + CASE WHEN v_newest.name = p_group THEN 0 ELSE 1 END;
    END IF;
  END IF;
  UPDATE cronlatch.groups g SET kept = v_kept WHERE g.lock_id = r.id AND g.name = p_group;
  IF NOT FOUND THEN
    INSERT INTO cronlatch.groups (lock_id, name, kept) VALUES (r.id, p_group, v_kept);
    v_count := v_count + 1;
  END IF;
  IF v_count > 10000 THEN
    DELETE FROM cronlatch.groups g WHERE g.lock_id = r.id AND g.name IN (
      SELECT o.name FROM cronlatch.groups o WHERE o.lock_id = r.id
        ORDER BY o.kept, o.name COLLATE "C" LIMIT v_count - 10000);
    v_count := 10000;
  END IF;
  RETURN v_count;
END $$;

CREATE OR REPLACE FUNCTION cronlatch.is_done(
    p_id bigint, p_job text, p_once text, p_once_ttl bigint, p_now bigint) RETURNS boolean
  LANGUAGE plpgsql AS $$
BEGIN
  RETURN p_once <> '' AND EXISTS (SELECT FROM cronlatch.done d
    WHERE d.lock_id = p_id AND d.job = p_job AND d.once = p_once
      AND d.finished > p_now - p_once_ttl);
END $$;

-- R4, K6: the newest 128 of the job, none older than once_ttl. A repeated mark keeps its date.
CREATE OR REPLACE FUNCTION cronlatch.mark_done(
    p_id bigint, p_job text, p_once text, p_once_ttl bigint, p_now bigint) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  v_newest cronlatch.done;
  v_finished bigint := p_now;
BEGIN
  IF p_once = '' OR p_once_ttl <= 0
    OR cronlatch.is_done(p_id, p_job, p_once, p_once_ttl, p_now) THEN RETURN; END IF;
  DELETE FROM cronlatch.done d
    WHERE d.lock_id = p_id AND d.job = p_job AND d.finished <= p_now - p_once_ttl;
  SELECT * INTO v_newest FROM cronlatch.done d WHERE d.lock_id = p_id AND d.job = p_job
    ORDER BY d.finished DESC, d.once COLLATE "C" DESC LIMIT 1;
  IF FOUND AND v_newest.finished >= v_finished THEN
    v_finished := v_newest.finished + CASE WHEN v_newest.once = p_once THEN 0 ELSE 1 END;
  END IF;
  INSERT INTO cronlatch.done AS d (lock_id, job, once, finished)
    VALUES (p_id, p_job, p_once, v_finished)
    ON CONFLICT (lock_id, job, once) DO UPDATE SET finished = excluded.finished;
  DELETE FROM cronlatch.done d WHERE d.lock_id = p_id AND d.job = p_job AND d.once IN (
    SELECT o.once FROM cronlatch.done o WHERE o.lock_id = p_id AND o.job = p_job
      ORDER BY o.finished DESC, o.once COLLATE "C" DESC OFFSET 128);
END $$;
