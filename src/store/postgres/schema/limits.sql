-- SPDX-License-Identifier: Apache-2.0
-- Limits of names and sizes: every member of cronlatch_user can store them under every prefix, and
-- ls and the exporter must be able to read them. Rows of version 1 are not checked; ls shows a row
-- outside of the limits as damaged. 2^53 - 1 microseconds are in the year 2255.
DO $$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT * FROM (VALUES
    ('locks', 'locks_names',
      $c$ prefix ~ '^[!-z|~]{1,100}$' AND lock ~ '^[A-Za-z0-9._/-]{1,200}$'
        AND greatest(octet_length(owner), octet_length(holder), octet_length(job),
                     octet_length(attempt_group), octet_length(once)) <= 1024 $c$),
    ('locks', 'locks_numbers',
      $c$ attempt BETWEEN 0 AND 4294967295
        AND least(fence, stole, acquired, expires, born) >= 0
        AND greatest(fence, stole, acquired, expires, born) <= 9007199254740991
        AND least(ttl, min_hold) >= 0 AND greatest(ttl, min_hold) <= 31622400000000
        AND used_day BETWEEN 0 AND 104250 AND group_count BETWEEN 0 AND 10000 $c$),
    ('counters', 'counters_names',
      $c$ octet_length(job) <= 1024 AND name ~ ('^(acquired|released|stolen|revoked|lost|restored'
        || '|skipped_(held|done)|wait_timeouts|ungated|long|last_(success|skip)'
        || '|runs_(succeeded|failed|skipped|busy|timed_out|lost|cannot_start)'
        || '|(hold|wait)_ms|hold_([0-9]|1[0-3])|wait_[0-8])$') $c$),
    ('counters', 'counters_numbers', $c$ value <= 9006199254740991 $c$),
    ('groups', 'groups_limits',
      $c$ octet_length(name) <= 1024 AND kept BETWEEN 0 AND 9007199254740991 $c$),
    ('done', 'done_limits',
      $c$ octet_length(job) <= 1024 AND octet_length(once) <= 1024
        AND finished BETWEEN 0 AND 9007199254740991 $c$),
    ('answers', 'answers_limits',
      $c$ octet_length(owner) <= 1024 AND attempt BETWEEN 0 AND 4294967295
        AND kept BETWEEN 0 AND 9007199254740991 $c$),
    ('answers', 'answers_letters', $c$ answer ~ '^[rxhcdqgv]$' $c$),
    ('locks', 'locks_turn',
      $c$ octet_length(turn_owner) <= 1024 AND turn_until BETWEEN 0 AND 9007199254740991 $c$),
    ('queue', 'queue_limits',
      $c$ octet_length(owner) <= 1024 AND ticket BETWEEN 0 AND 9007199254740991
        AND asked BETWEEN 0 AND 9007199254740991 $c$),
    ('locks', 'locks_slots',
      $c$ CASE WHEN slots = 1 THEN state IN ('none', 'free', 'held', 'revoked', 'cooling')
          ELSE state = 'several' AND slots BETWEEN 2 AND 1000 END $c$),
    ('slots', 'slots_names',
      $c$ state IN ('none', 'free', 'held', 'revoked', 'cooling')
        AND greatest(octet_length(owner), octet_length(holder), octet_length(job),
                     octet_length(attempt_group), octet_length(once),
                     octet_length(turn_owner)) <= 1024 $c$),
    ('slots', 'slots_numbers',
      $c$ slot BETWEEN 1 AND 1000 AND attempt BETWEEN 0 AND 4294967295
        AND least(fence, stole, acquired, expires, turn_until) >= 0
        AND greatest(fence, stole, acquired, expires, turn_until) <= 9007199254740991
        AND least(ttl, min_hold) >= 0 AND greatest(ttl, min_hold) <= 31622400000000 $c$)
    ) AS v (table_name, name, condition)
  LOOP
    IF NOT EXISTS (SELECT FROM pg_constraint p WHERE p.conname = c.name
        AND p.conrelid = format('cronlatch.%I', c.table_name)::regclass) THEN
      EXECUTE format('ALTER TABLE cronlatch.%I ADD CONSTRAINT %I CHECK (%s) NOT VALID',
        c.table_name, c.name, c.condition);
    END IF;
  END LOOP;
END $$;
