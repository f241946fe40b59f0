-- SPDX-License-Identifier: Apache-2.0
-- Fails unless a commit now waits for at least that many standbys. synchronous_commit = on without a
-- synchronous standby waits for none. Of a quorum (ANY k), k standbys confirm a commit.
CREATE OR REPLACE FUNCTION cronlatch.require_standbys(p_least bigint) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_connected bigint;
  v_confirming bigint;
BEGIN
  IF NOT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') THEN
    RAISE EXCEPTION 'role % lacks pg_read_all_stats', current_user USING ERRCODE = 'CL004';
  END IF;
  SELECT count(*) INTO v_connected FROM pg_stat_replication s
    WHERE s.state = 'streaming' AND s.sync_state IN ('sync', 'quorum');
  v_confirming := least(v_connected, coalesce(substring(current_setting('synchronous_standby_names')
    FROM '(?i)^[[:space:]]*(?:(?:any|first)[[:space:]]+)?([0-9]+)[[:space:]]*[(]')::bigint, 1));
  IF v_confirming < p_least THEN
    RAISE EXCEPTION '% of %', v_confirming, p_least USING ERRCODE = 'CL003';
  END IF;
END $$;
