-- SPDX-License-Identifier: Apache-2.0
-- Release: the holder lets go and says how the run ended; each is counted once
-- (R1 to R4, K5, K6, L0, C1, C2).
-- ARGV: 1 not_after  2 owner  3 attempt  4 fence (0: unknown)
--       5 verdict: succeeded, failed, timed_out, lost, cannot_start, given_back, ungated
--       6 overlong(0|1)  7 held in ms  8 its bucket  9 min_hold  10 once_ttl  11 job  12 once
-- Replies: freed now 0
--          not_ours now 0 because(taken|gone)
--          stale now 0 closed(0)

local COUNTED = {
  succeeded = 'runs_succeeded', failed = 'runs_failed', timed_out = 'runs_timed_out',
  lost = 'runs_lost', cannot_start = 'runs_cannot_start', given_back = '', ungated = 'ungated',
}

local function count_verdict(job, verdict, now)
  if verdict == 'given_back' then return end
  count(job, COUNTED[verdict])
  if verdict == 'lost' then count(job, 'lost') end
  if verdict == 'succeeded' then stamp = {'last_success|' .. job, text(now)} end
end

-- K6: the newest 128 of the job, none older than once_ttl.
local function mark_done(once, once_ttl, now)
  if once == '' or once_ttl == 0 then return end
  local before = dates(4, once)
  local size = read(4, 'ZCARD') - purge(4, now - once_ttl)
  if before <= math.max(0, now - once_ttl) then size = size + 1 end
  enter(4, once, now, once_ttl)
  local excess = math.min(size - 128, PURGE)
  if excess > 0 then put('ZREMRANGEBYRANK', KEYS[4], '0', tostring(excess - 1)) end
end

local function report()
  local q = {
    not_after = argument(1), owner = ARGV[2], attempt = argument(3), fence = argument(4),
    claim = ARGV[2] .. ':' .. ARGV[3], verdict = ARGV[5], overlong = ARGV[6] == '1',
    held = argument(7), bucket = ARGV[8], min_hold = argument(9), once_ttl = argument(10),
    job = ARGV[11], once = ARGV[12],
  }
  if not COUNTED[q.verdict] then error({err = 'ERR cronlatch: argument 5 is no verdict'}) end
  return q
end

-- L0: what is left of the min-hold, never more than all of it.
local function rest_of_min_hold(r, q, now)
  if r.state ~= 'held' or q.verdict == 'given_back' then return 0 end
  return math.min(math.max(0, r.acquired + q.min_hold - now), q.min_hold)
end

local function close(r, q, now)
  local was_held, lease, rest = r.state == 'held', r.ttl, rest_of_min_hold(r, q, now)
  r.state = rest > 0 and 'cooling' or 'free'
  keep(KEYS[1], r)
  if rest > 0 then
    -- The rest is recorded as the ttl, so that the clamp cannot cut it.
    put('HSET', KEYS[1], 'state', r.state, 'expires', text(now + rest), 'ttl', text(rest))
  else
    put('HSET', KEYS[1], 'state', r.state, 'expires', '0')
  end
  remember(q.claim, 'r', now, lease)
  -- For the job the grant was counted for; a revoked grant is closed in the ledger already.
  if was_held then count(r.job, 'released') end
  count_verdict(r.job, q.verdict, now)
  if q.verdict ~= 'given_back' and q.verdict ~= 'ungated' then
    count(r.job, 'hold_' .. q.bucket)
    count(r.job, 'hold_ms', q.held)
  end
  if q.overlong then count(r.job, 'long') end
  if q.verdict == 'succeeded' then mark_done(q.once, q.once_ttl, now) end
  post(r)
  commit()
end

-- The record is another's, or nobody's: only what this run alone can tell is counted, and once.
local function count_outside(r, q, now)
  keep(KEYS[1], r)
  local answer = q.verdict == 'lost' and 'l' or q.verdict == 'ungated' and 'u'
  if answer and now >= dates(5, q.claim .. ':' .. answer) then
    count_verdict(q.job, q.verdict, now)
    remember(q.claim, answer, now, r.ttl)
  end
  -- An acquire of this attempt that is still on its way must not be granted to nobody.
  remember(q.claim, 'x', now, r.ttl)
  post(r)
  commit()
end

local function release()
  local now = read_clock()
  local q = report()
  if now > q.not_after then return {'stale', text(now), '0', '0'} end
  local r = load_record()
  local same = r.owner == q.owner and r.attempt == q.attempt

  if same and (r.state == 'held' or r.state == 'revoked') then
    close(r, q, now)
    return {'freed', text(now), '0'}
  end
  -- R3: a repetition is a success that changes nothing, even when another holds by now.
  if same or now < dates(5, q.claim .. ':r') then return {'freed', text(now), '0'} end
  count_outside(r, q, now)
  return {'not_ours', text(now), '0', why_not_ours(r, q.fence)}
end

return run(release)
