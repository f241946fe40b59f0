-- SPDX-License-Identifier: Apache-2.0
-- Acquire: which request is granted the lock, which is answered busy, and what each counts
-- (AQ1 to AQ6, AQ8, K1 to K6, L0, L5, C2).
-- ARGV: 1 not_after  2 owner  3 attempt  4 ttl  5 holder  6 job  7 group  8 once  9 once_ttl
--       10 if_busy: wait, skip, fail, timed_out, probe  11 waited so far, in ms  12 its bucket
--       13 min_hold  14 min_uptime: of a server that may have lost the record, in seconds
--       15 slots; with strict two more (common_epoch.lua)
-- Replies: granted now index fence stole(0|1)
--          busy now 0 because(held|cooling|done|queued) holder job fence held_for remaining
--               group_granted(0|1) ahead(empty: no place) wake(an owner, or empty)
--          stale now 0 closed(0|1)
--          quarantine now 0 remaining
--          slots now 0 slots holder: the lock is held with another number of slots

-- ---- preflight: what the renewals and the release of this run need ----

-- The counters of a job that renew, restore and release of a run read, and those that revoke and the
-- next acquire change.
local COUNTERS = {
  'acquired', 'released', 'stolen', 'revoked', 'restored', 'lost', 'long', 'runs_succeeded',
  'runs_failed', 'runs_timed_out', 'runs_lost', 'runs_cannot_start', 'hold_ms', 'hold_0', 'hold_1',
  'hold_2', 'hold_3', 'hold_4', 'hold_5', 'hold_6', 'hold_7', 'hold_8', 'hold_9', 'hold_10',
  'hold_11', 'hold_12', 'hold_13',
}

local function require_rights(i, ...)
  for at = 1, select('#', ...) do require_right((select(at, ...)), KEYS[i]) end
end

-- Checks the server's access list (7.0 and newer). HMGET and ZMSCORE are not listed: each grant runs
-- them on all keys that it needs.
local function require_listed_rights(q)
  require_right('EVALSHA', '', '0')
  require_right('EVAL', '', '0')
  for i = 1, 2 do require_rights(i, 'TYPE', 'HSET', 'PERSIST', 'PEXPIRE') end
  for i = 3, 5 do
    if (i ~= 3 or q.group ~= '') and (i ~= 4 or q.once ~= '') then
      require_rights(i, 'ZRANGEBYSCORE', 'ZADD', 'ZREM', 'PTTL', 'PEXPIRE')
      if i ~= 5 then require_rights(i, 'ZCARD', 'ZREMRANGEBYRANK') end
    end
  end
  for i = 6, 7 do require_rights(i, 'ZRANGEBYSCORE', 'ZADD', 'ZREM', 'PEXPIRE') end
  if q.slots > 1 or loaded.slots > 1 then require_rights(SEATS, 'HSET', 'PERSIST', 'PEXPIRE') end
  if PEER then require_rights(#KEYS, 'SET', 'DEL', 'PTTL') end
end

-- For servers whose access list a script cannot read: reads, and writes that change nothing. ZADD is
-- first, because only it is refused when memory is full. At the end `seen` expires when it did before.
local function try_commands(q)
  read(1, 'TYPE')
  read(5, 'ZRANGEBYSCORE', '0', '0', 'LIMIT', '0', '1')
  local life = tonumber(read(5, 'PTTL'))
  life = life > 0 and text(life) or KEEP_MS
  put('ZADD', KEYS[5], 'XX', '0', ':')
  put('ZREM', KEYS[5], ':')
  for i = 6, 7 do
    read(i, 'ZRANGEBYSCORE', '0', '0', 'LIMIT', '0', '1')
    put('ZADD', KEYS[i], 'XX', '0', ':')
    put('ZREM', KEYS[i], ':')
  end
  for i = 3, 4 do
    if (i == 3 and q.group or q.once) ~= '' then
      read(i, 'ZCARD')
      put('ZREMRANGEBYRANK', KEYS[i], '1', '0')
    end
  end
  put('PEXPIRE', KEYS[5], life)
  put('PERSIST', KEYS[5])
  put('PEXPIRE', KEYS[5], life)
  -- The key does not exist, or its value is no longer in effect: the grant writes it next.
  if PEER then
    read(#KEYS, 'PTTL')
    put('DEL', PEER)
  end
end

-- Runs before the first plan of a grant, so that a granted run can be renewed and released: the
-- counters are valid and can grow (post checks them), the keys have the right types, and the rights
-- are granted.
local function preflight(q, is_repeated)
  for i = 1, #COUNTERS do guarded[i] = COUNTERS[i] .. '|' .. q.job end
  if q.group ~= '' then dates(3, q.group) end
  read(6, 'ZCARD')
  read(7, 'ZCARD')
  crash_hold(loaded)
  if redis.acl_check_cmd then
    require_listed_rights(q)
    rights_checked = true
  elseif not is_repeated then
    try_commands(q)
  end
end

-- A server of a quorum that started recently may have lost the record. Only a record from before the
-- start proves that it has not. INFO counts whole seconds.
local function require_uptime(r, q, now)
  local answer = redis.pcall('INFO', 'server')
  if type(answer) == 'table' and answer.err then refused('INFO', '', answer) end
  local uptime = tonumber(string.match(answer, 'uptime_in_seconds:(%d+)'))
  if uptime and uptime >= q.min_uptime then return end
  if not uptime or r.state == 'none' or r.born > now - (uptime + 1) * 1000000 then
    error({err = 'CRONLATCH_RESTARTED ' .. q.min_uptime})
  end
end

-- ---- the decision ----

local function is_live(r, now)
  return (r.state == 'held' or r.state == 'revoked') and now < r.expires
end

-- `place`: the answer's part about the queue.
local function busy(r, because, now, group_granted, place)
  for at = 1, #seats do
    if seats[at].clamped then touch(r) end
  end
  write_clamped(r)
  if touched or #counted > 0 then post(r) end
  commit()
  local flag = group_granted and '1' or '0'
  local ahead, wake = place and place.ahead or '', place and place.wake or ''
  if because == 'queued' then
    return {'busy', text(now), '0', because, '', '', '0', '0', text(until_turn(now)), flag, ahead,
            wake}
  end
  if because == 'held' and peer.blocks then
    return {'busy', text(now), '0', because, name_of_peer(), '', '0', '0', text(peer.left), flag,
            ahead, wake}
  end
  local s = next_to_end(now)
  if because == 'done' or is_free(s) then
    return {'busy', text(now), '0', because, '', '', '0', '0', '0', flag, ahead, wake}
  end
  local ends = because == 'cooling' and end_of(s, now) or s.expires
  return {'busy', text(now), '0', because, s.holder, s.job, text(s.fence),
          text(math.max(0, now - s.acquired)), text(math.max(0, ends - now)), flag, ahead, wake}
end

local function count_skip(r, q, reason, now)
  touch(r)
  count(q.job, reason)
  count(q.job, 'runs_skipped')
  stamp = {'last_skip|' .. q.job, text(now)}
end

-- K3: another run marked the identity after the grant, and the caller never received the answer of
-- the grant: the grant is released.
local function give_back(r, s)
  s.state, s.expires = 'free', 0
  keep(KEYS[1], r)
  if s.at then
    s.changed = true
  else
    put('HSET', KEYS[1], 'state', s.state, 'expires', text(s.expires))
  end
  if PEER then release_peer(r, 0, 0) end
  count(s.job, 'released')
end

-- AQ3: counted for the job that lost the lease.
local function close_unreleased(s, now)
  if s.state == 'held' then count(s.job, 'stolen') end
  if s.state == 'held' or s.state == 'revoked' then
    remember(s.owner .. ':' .. text(s.attempt), 'x', now, s.ttl)
  end
end

-- Another number of slots replaces all seats, and the first one is granted.
local function grant(r, s, q, now, ticket)
  if q.min_uptime > 0 then require_uptime(r, q, now) end
  preflight(q, false)
  local resized = q.slots ~= r.slots
  if resized then s = r end
  local replaced = resized and seats or {s}
  local stole = s.state == 'held'
  local new = {
    state = 'held', owner = q.owner, attempt = q.attempt, ttl = q.ttl,
    holder = q.holder, job = q.job, group = q.group, once = q.once,
    fence = math.max(newest().fence + 1, now), stole = stole and s.fence or 0,
    acquired = now, expires = now + q.ttl, min_hold = q.min_hold,
  }
  if PEER then new.shared = claim_peer(new.fence, now, math.max(q.ttl, q.min_hold)) end
  local index = seat(r, s, new, q.slots, now)
  write_queue(now)
  if ticket then
    put('ZREM', KEYS[6], q.owner)
    put('ZREM', KEYS[7], q.owner)
  end
  for i = 1, #replaced do close_unreleased(replaced[i], now) end
  count(q.job, 'acquired')
  if q.waited > 0 then
    count(q.job, 'wait_' .. q.bucket)
    count(q.job, 'wait_ms', q.waited)
  end
  post(seats[1])
  commit()
  return {'granted', text(now), index, text(new.fence), stole and '1' or '0'}
end

-- AQ4: a repeated request after an unknown result gets the same fence; nothing is counted.
local function grant_again(r, s, q, now)
  preflight(q, true)
  put('PERSIST', KEYS[1])
  s.expires, s.ttl = now + q.ttl, q.ttl
  if s.at then
    s.changed = true
    write_clamped(r)
  else
    put('HSET', KEYS[1], 'expires', text(s.expires), 'ttl', text(s.ttl),
        'acquired', text(s.acquired))
  end
  if PEER then
    local life = math.max(q.ttl, crash_hold(r) - now)
    put('HSET', KEYS[1], 'shared', claim_peer(r.fence, now, life))
  end
  post(r)
  commit()
  return {'granted', text(now), '0', text(s.fence), s.stole ~= 0 and '1' or '0'}
end

-- The caller is busy: it keeps its place, or leaves the queue. `free`: the seats that are granted to
-- another run next, and the queue is open.
local function wait_in_order(r, q, now, group_granted, free, ticket)
  local ends = q.if_busy == 'timed_out'
  local waits = q.if_busy == 'wait' or (group_granted and not ends and q.if_busy ~= 'probe')
  if not (waits or ends or free) then return nil end
  if not free then ticket = open_queue(q.owner, now) end
  local place = {}
  if #plan == 0 then put('PEXPIRE', KEYS[7], QUEUE_MS) end
  write_queue(now)
  if waits then place.ahead = text(keep_place(q.owner, ticket, now)) end
  if ends then place.wake = leave_queue(q.owner, ticket, now) end
  if free then
    local reserved = reserve(free, now)
    if reserved ~= '' then place.wake = reserved end
  end
  if place.wake and place.wake ~= '' then touch(r) end
  return place
end

local function was_granted(group, now)
  if group == '' then return false end
  for at = 1, #seats do
    if seats[at].state ~= 'none' and seats[at].group == group then return true end
  end
  return dates(3, group) > now - DAY
end

-- `free`: the seats that are granted to another run next.
local function refuse(r, q, now, free, ticket)
  local because = free and 'queued' or (is_live(next_to_end(now), now) or peer.blocks) and 'held'
      or 'cooling'
  local group_granted = was_granted(q.group, now)
  -- L5: a group that was granted before waits instead of skipping.
  if q.if_busy == 'skip' and not group_granted then
    count_skip(r, q, 'skipped_held', now)
  elseif q.if_busy == 'fail' and not group_granted then
    touch(r)
    count(q.job, 'runs_busy')
  elseif q.if_busy == 'timed_out' then
    touch(r)
    count(q.job, 'wait_timeouts')
    count(q.job, 'runs_busy')
  end
  if #counted > 0 then
    remember(q.claim, because == 'cooling' and 'c' or free and 'q' or 'h', now, q.ttl)
    if group_granted then remember(q.claim, 'g', now, q.ttl) end
  end
  local place = wait_in_order(r, q, now, group_granted, free, ticket)
  return busy(r, because, now, group_granted, place)
end

-- True when neither a lease nor a min-hold excludes this caller. L0: the min-hold of an attempt group
-- does not exclude that group.
local function grantable(s, q, now)
  if is_free(s) then return true end
  if s.state ~= 'cooling' and now < s.expires then return false end
  if s.state == 'revoked' or (q.group ~= '' and q.group == s.group) then return true end
  return now >= (s.state == 'cooling' and s.expires or crash_hold(s))
end

-- The seats that could be granted, those without an expired grant first.
local function grantable_seats(q, now)
  local free, expired = {}, {}
  for at = 1, #seats do
    local s = seats[at]
    if grantable(s, q, now) then
      local list = s.state == 'held' and expired or free
      list[#list + 1] = s
    end
  end
  for i = 1, #expired do free[#free + 1] = expired[i] end
  return free
end

-- The holder that excludes a request with another number of slots: the seat that is free first.
local function holder_of_other_slots(r, q, now)
  if r.state == 'none' or r.slots == q.slots then return nil end
  local first
  for at = 1, #seats do
    local s = seats[at]
    if not grantable(s, q, now) and (not first or end_of(s, now) < end_of(first, now)) then
      first = s
    end
  end
  return first and first.holder
end

-- A seat that is granted before all runs that wait. A lost record has no reservations.
local function before_queue(s, q, now)
  if loaded.state == 'none' then return true end
  if q.group == '' or q.group ~= s.group then return false end
  if s.state == 'cooling' then return now < s.expires end
  return s.state == 'held' and now < crash_hold(s)
end

-- AQ6: the seat that this run is granted now, or nil: it is not the first.
local function enter(free, q, ticket, now)
  for i = 1, #free do
    if before_queue(free[i], q, now) then return free[i] end
  end
  return next_seat(free, q.slots, q.owner, ticket, now)
end

-- AQ4: whether the attempt was released or lost, or followed by a later attempt; and its open grant.
local function own_seat(q, now)
  local own
  for at = 1, #seats do
    local s = seats[at]
    if s.owner == q.owner and s.state ~= 'none' then
      if q.attempt < s.attempt then return true end
      if q.attempt == s.attempt then
        if s.state ~= 'held' or now >= s.expires then return true end
        own = s
      end
    end
  end
  return false, own
end

local function acquire()
  local now = read_clock()
  local q = {
    not_after = argument(1), owner = ARGV[2], attempt = argument(3), ttl = argument(4),
    claim = ARGV[2] .. ':' .. ARGV[3], holder = ARGV[5], job = ARGV[6], group = ARGV[7],
    once = ARGV[8], once_ttl = argument(9), if_busy = ARGV[10], waited = argument(11),
    bucket = ARGV[12], min_hold = argument(13), min_uptime = argument(14),
    slots = argument(15),
  }
  if now > q.not_after then return {'stale', text(now), '0', '0'} end
  local r = load_record()
  load_seats(r)
  if PEER then read_peer(r, now, true) end

  local is_over, ours = own_seat(q, now)
  -- The times until which each final answer to this claim is kept (C2, R3).
  local released, closed, held, cooling, done, group, queued = dates(5, q.claim .. ':r',
      q.claim .. ':x', q.claim .. ':h', q.claim .. ':c', q.claim .. ':d', q.claim .. ':g',
      q.claim .. ':q')
  -- C2: a claim that was counted as busy gets the same answer again.
  local because = now < held and 'held' or now < cooling and 'cooling' or now < done and 'done'
      or now < queued and 'queued'
  if not because and (now < released or now < closed or is_over) then
    return {'stale', text(now), '0', '1'}
  end
  for at = 1, #seats do clamp(seats[at], now) end
  -- Another program has the key, and no lease of this lock's own is in effect.
  peer.blocks = peer.state == 'held' and not is_live(r, now)
  if because then return busy(r, because, now, now < group) end
  -- K3: a finished identity blocks every request, whatever its if_busy is.
  if q.once ~= '' and dates(4, q.once) > math.max(0, now - q.once_ttl) then
    if ours then give_back(r, ours) end
    count_skip(r, q, 'skipped_done', now)
    remember(q.claim, 'd', now, q.ttl)
    local ticket = open_queue(q.owner, now)
    write_queue(now)
    local place = {wake = leave_queue(q.owner, ticket, now)}
    if ours then
      place.wake = hand_over(ours, now)
      reset_if_idle(r, has_places())
    end
    return busy(r, 'done', now, false, place)
  end
  if ours then
    -- Another program took the key from this grant, whose answer the caller never received.
    if is_peers() then return {'stale', text(now), '0', '1'} end
    return grant_again(r, ours, q, now)
  end
  local holder = holder_of_other_slots(r, q, now)
  if holder then return {'slots', text(now), '0', text(r.slots), holder} end
  local free = grantable_seats(q, now)
  if peer.blocks or #free == 0 then return refuse(r, q, now) end
  local remaining = quarantine(now)
  if remaining > 0 then
    commit()
    return {'quarantine', text(now), '0', text(remaining)}
  end
  local ticket = open_queue(q.owner, now)
  local s = enter(free, q, ticket, now)
  if s then return grant(r, s, q, now, ticket) end
  return refuse(r, q, now, free, ticket)
end

return run(acquire)
