-- SPDX-License-Identifier: Apache-2.0
-- Release: the holder lets go and says how the run ended; each is counted once (R1 to R4, K5, K6, L0, C1, C2).
-- ARGV: 1 not_after  2 owner  3 attempt  4 fence (0: unknown)
--       5 verdict: succeeded, failed, timed_out, lost, cannot_start, given_back, ungated
--       6 overlong(0|1)  7 held in ms  8 its bucket  9 min_hold  10 once_ttl  11 job  12 once
-- Replies: freed now 0
--          not_ours now 0 because(taken|gone)
--          stale now 0 closed(0)

local COUNTED = {
  succeeded = {'runs_succeeded'}, failed = {'runs_failed'}, timed_out = {'runs_timed_out'},
  lost = {'lost', 'runs_lost'}, cannot_start = {'runs_cannot_start'}, given_back = {}, ungated = {'ungated'},
}

local function count_verdict(job, verdict, now)
  for _, name in ipairs(COUNTED[verdict]) do count(job, name) end
  if verdict == 'succeeded' then stamp(job, 'last_success', now) end
end

-- K6: the newest 128 of the job, none older than once_ttl.
local function mark_done(once, once_ttl, now)
  if once == '' or once_ttl == 0 then return end
  local before = score_of(KEYS[4], once)
  local size = redis.call('ZCARD', KEYS[4]) - purge(KEYS[4], now - once_ttl)
  if not before or before <= now - once_ttl then size = size + 1 end
  put('ZADD', KEYS[4], text(now), once)
  if size > 128 then put('ZREMRANGEBYRANK', KEYS[4], '0', tostring(math.min(size - 128, PURGE) - 1)) end
  live_at_least(KEYS[4], math.ceil(once_ttl / 1000))
end

local function release()
  local now = read_clock()
  local not_after, attempt, fence, held = argument(1), argument(3), argument(4), argument(7)
  local owner, verdict, overlong, bucket = ARGV[2], ARGV[5], ARGV[6], ARGV[8]
  local min_hold, once_ttl, job, once = argument(9), argument(10), ARGV[11], ARGV[12]
  if not COUNTED[verdict] then error({err = 'ERR cronlatch: argument 5 is no verdict'}) end
  if now > not_after then return {'stale', text(now), '0', '0'} end
  check_types()
  local r = load_record()
  local same = r.owner == owner and r.attempt == attempt

  if same and (r.state == 'held' or r.state == 'revoked') then
    local was_held, counted_job, lease = r.state == 'held', r.job, r.ttl
    -- L0: what is left of the min-hold, never more than all of it.
    local rest = 0
    if was_held and verdict ~= 'given_back' then
      rest = math.min(math.max(0, r.acquired + min_hold - now), min_hold)
    end
    r.state = rest > 0 and 'cooling' or 'free'
    r.expires = rest > 0 and now + rest or 0
    -- The rest is recorded as the ttl, so that the clamp cannot cut it.
    if rest > 0 then r.ttl = rest end
    keep(KEYS[1], r)
    put('HSET', KEYS[1], 'state', r.state, 'expires', text(r.expires), 'ttl', text(r.ttl))
    remember(owner, attempt, 'r', now, lease)
    -- A revoked grant is closed in the ledger already.
    if was_held then count(counted_job, 'released') end
    count_verdict(counted_job, verdict, now)
    if verdict ~= 'given_back' and verdict ~= 'ungated' then
      count(counted_job, 'hold_' .. bucket)
      count(counted_job, 'hold_ms', held)
    end
    if overlong == '1' then count(counted_job, 'long') end
    if verdict == 'succeeded' then mark_done(once, once_ttl, now) end
    keep(KEYS[2], r)
    commit()
    return {'freed', text(now), '0'}
  end

  -- R3: a repetition is a success that changes nothing, even when another holds by now.
  if same or answered(owner, attempt, 'r', now) then return {'freed', text(now), '0'} end

  -- The record is another's, or nobody's: only what this run alone can tell is counted, and once.
  keep(KEYS[1], r)
  local answer = verdict == 'lost' and 'l' or (verdict == 'ungated' and 'u' or nil)
  if answer and not answered(owner, attempt, answer, now) then
    count_verdict(job, verdict, now)
    remember(owner, attempt, answer, now, r.ttl)
  end
  -- An acquire of this attempt that is still on its way must not be granted to nobody.
  remember(owner, attempt, 'x', now, r.ttl)
  keep(KEYS[2], r)
  commit()
  return {'not_ours', text(now), '0', why_not_ours(r, fence)}
end

return run(release)
