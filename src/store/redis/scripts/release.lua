-- SPDX-License-Identifier: Apache-2.0
-- Release: the holder releases the lock and reports the run's verdict; each is counted once
-- (R1 to R5, K5, K6, L0, C1, C2). A run that waits removes its place (Q7).
-- ARGV: 1 not_after  2 owner  3 attempt  4 fence (0: unknown)
--       5 verdict: succeeded, failed, timed_out, lost, cannot_start, given_back, ungated
--       6 overlong(0|1)  7 held in ms  8 its bucket  9 min_hold  10 once_ttl  11 job  12 once
--       13 mark_done(0|1)  14 group
-- Replies: freed now 0 wake(an owner, or empty)
--          not_holder now 0 because(taken|gone) wake
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

-- R4, K6: keeps the newest 128 of the job, none older than once_ttl. A repeated mark keeps its date.
-- Returns whether a mark is planned.
local function mark_done(q, now)
  local limit = now - q.once_ttl
  if not q.mark_done or q.once == '' or q.once_ttl == 0 or dates(4, q.once) > math.max(0, limit) then
    return false
  end
  enter_bounded(4, q.once, newest_date(4, q.once, now), q.once_ttl, limit, ONCE)
  return true
end

local function report()
  local q = {
    not_after = argument(1), owner = ARGV[2], attempt = argument(3), fence = argument(4),
    claim = ARGV[2] .. ':' .. ARGV[3], verdict = ARGV[5], overlong = ARGV[6] == '1',
    held = argument(7), bucket = ARGV[8], min_hold = argument(9), once_ttl = argument(10),
    job = ARGV[11], once = ARGV[12], mark_done = ARGV[13] == '1', group = ARGV[14],
  }
  q.finished = q.mark_done or q.verdict == 'succeeded'
  if not COUNTED[q.verdict] then error({err = 'ERR cronlatch: argument 5 is no verdict'}) end
  return q
end

-- L0: the rest of the min-hold, at most all of it.
local function rest_of_min_hold(s, q, now)
  if s.state ~= 'held' or q.verdict == 'given_back' then return 0 end
  return math.min(math.max(0, s.acquired + q.min_hold - now), q.min_hold)
end

-- The slot was released. Returns the owner to wake. During a min-hold no reservation is valid.
local function wake_next(r, s, q, now, rest)
  if rest > 0 then
    if read_turn(s) then
      s.turn = false
      if not s.at then put('HSET', KEYS[1], 'turn', '0:0:') end
    end
    return ''
  end
  open_queue(q.owner, now)
  write_queue(now)
  local wake = hand_over(s, now)
  if #slot_list > 1 then reset_if_idle(r, has_places()) end
  return wake
end

local function close(r, s, q, now)
  local was_held, lease, rest = s.state == 'held', s.ttl, rest_of_min_hold(s, q, now)
  s.state, s.changed = rest > 0 and 'cooling' or 'free', true
  s.expires = rest > 0 and now + rest or 0
  keep(KEYS[1], r)
  if rest > 0 then
    -- The rest is recorded as the ttl, so that the clamp does not shorten it.
    s.ttl = rest
    if not s.at then
      put('HSET', KEYS[1], 'state', s.state, 'expires', text(s.expires), 'ttl', text(rest))
    end
  elseif not s.at then
    put('HSET', KEYS[1], 'state', s.state, 'expires', '0')
  end
  if PEER then
    read_peer(r)
    release_peer(r, now, rest)
  end
  remember(q.claim, 'r', now, lease)
  -- For the job that the grant was counted for; a revoked grant is counted as closed already.
  if was_held then count(s.job, 'released') end
  count_verdict(s.job, q.verdict, now)
  if q.verdict ~= 'given_back' and q.verdict ~= 'ungated' then
    count(s.job, 'hold_' .. q.bucket)
    count(s.job, 'hold_ms', q.held)
  end
  if q.overlong then count(s.job, 'long') end
  mark_done(q, now)
  remember_group(q.group, q.finished, now)
  local wake = wake_next(r, s, q, now, rest)
  post(r)
  commit()
  return wake
end

-- Whether a run that is not the holder reports a verdict: it ran without a lock, it reports a lost
-- lease, or it was the holder of another grant than the recorded one.
local function ran_outside(q)
  if q.verdict == 'lost' or q.verdict == 'ungated' then return true end
  if q.verdict == 'given_back' or q.fence == 0 then return false end
  for at = 1, #slot_list do
    if slot_list[at].fence == q.fence then return false end
  end
  return true
end

-- There is no record, or it names another holder: counts only what this run alone can report, once.
local function count_outside(r, q, now)
  keep(KEYS[1], r)
  if ran_outside(q) then
    if now >= dates(5, q.claim .. ':v') then
      count_verdict(q.job, q.verdict, now)
      remember(q.claim, 'v', now, r.ttl)
    end
    remember_group(q.group, q.finished, now)
  end
  mark_done(q, now)
  -- A delayed acquire of this attempt must not be granted: no run would follow.
  remember(q.claim, 'x', now, r.ttl)
  local ticket = open_queue(q.owner, now)
  write_queue(now)
  local wake = leave_queue(q.owner, ticket, now)
  post(r)
  commit()
  return wake
end

-- R3: a repeated release succeeds and changes nothing, even when another run holds the lock. Only a
-- lost mark is written again.
local function repeat_mark(r, q, now)
  keep(KEYS[1], r)
  if not mark_done(q, now) then return end
  post(r)
  commit()
end

local function release()
  local now = read_clock()
  local q = report()
  if now > q.not_after then return {'stale', text(now), '0', '0'} end
  local r = load_record()
  load_slots(r)
  local s = slot_of(q.owner, q.attempt)

  if s and (s.state == 'held' or s.state == 'revoked') then
    return {'freed', text(now), '0', close(r, s, q, now)}
  end
  if s or now < dates(5, q.claim .. ':r') then
    repeat_mark(r, q, now)
    return {'freed', text(now), '0', ''}
  end
  local wake = count_outside(r, q, now)
  return {'not_holder', text(now), '0', loss_reason(r, q.fence), wake}
end

return run(release)
