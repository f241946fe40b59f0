-- SPDX-License-Identifier: Apache-2.0
-- Renew: only for the holder, only during its lease (N1, N2, N4). A record that was lost, or replaced
-- by an older one, is restored from its holder's request (N3).
-- ARGV: 1 not_after  2 owner  3 attempt  4 fence  5 ttl  6 holder  7 job  8 group  9 once
--       10 slots; with strict two more (common_epoch.lua)
-- Replies: kept now index restored(0|1)
--          not_holder now 0 because(expired|taken|revoked|gone)
--          stale now 0 closed(0)

local function question()
  return {
    not_after = argument(1), owner = ARGV[2], attempt = argument(3), fence = argument(4),
    ttl = argument(5), holder = ARGV[6], job = ARGV[7], group = ARGV[8], once = ARGV[9],
    slots = argument(10),
  }
end

local function not_holder(because, now) return {'not_holder', text(now), '0', because} end

-- The open grants of the job by its counters (C1).
local function open_grants(job)
  local c = counters({'acquired|' .. job, 'released|' .. job, 'stolen|' .. job, 'revoked|' .. job})
  return c[1] - c[2] - c[3] - c[4]
end

-- The open grants of the job in other slots than these.
local function held_by_others(job, but)
  local n = 0
  for at = 1, #slot_list do
    local s, is_other = slot_list[at], true
    for i = 1, #but do is_other = is_other and but[i] ~= s end
    if is_other and s.state == 'held' and s.job == job then n = n + 1 end
  end
  return n
end

-- True when the recorded holder has no live lease: such a lease must not be overwritten. Fences rise
-- with each grant: a slot with a smaller fence is older than the caller's grant.
local function is_replaceable(s, q, now)
  return s.fence < q.fence and (is_free(s) or s.state == 'cooling' or now >= s.expires)
end

-- The slots that the caller's lost grant replaces: one that no run holds, preferably a released one.
-- All of them, if their number differs. Empty when the grant cannot be restored.
local function replaceable(r, q, now)
  if r.state == 'none' then return slot_list end
  local fitting = {}
  for at = 1, #slot_list do
    if is_replaceable(slot_list[at], q, now) then fitting[#fitting + 1] = slot_list[at] end
  end
  if r.slots ~= q.slots then return #fitting == #slot_list and fitting or {} end
  for i = 1, #fitting do
    if is_free(fitting[i]) then return {fitting[i]} end
  end
  return {fitting[1]}
end

-- A replaced open grant is closed in its job's counters, unless they already count it closed (C1).
-- Returns how many grants of `job` were counted.
local function close_replaced(replaced, job, now)
  local open, closed = {}, 0
  for i = 1, #replaced do
    local s = replaced[i]
    if s.state == 'held' or s.state == 'revoked' then
      remember(s.owner .. ':' .. text(s.attempt), 'x', now, s.ttl)
    end
    if s.state == 'held' then
      open[s.job] = open[s.job] or open_grants(s.job)
      if open[s.job] > held_by_others(s.job, replaced) then
        count(s.job, 'stolen')
        open[s.job] = open[s.job] - 1
        if s.job == job then closed = closed + 1 end
      end
    end
  end
  return closed
end

local function restore(r, replaced, q, now)
  local claim = ARGV[2] .. ':' .. ARGV[3]
  local released, closed = dates(5, claim .. ':r', claim .. ':x')
  if now < released or now < closed then return not_holder('taken', now) end
  if q.fence == 0 or q.fence >= MAX then return not_holder('gone', now) end
  if PEER then
    read_peer(r)
    if is_peers() then return not_holder('taken', now) end
  end
  -- Not refused when memory is full, even without a record: a renewal works at maxmemory (G2).
  put('PERSIST', KEYS[1])
  local new = {
    state = 'held', owner = q.owner, attempt = q.attempt, fence = q.fence, stole = 0,
    holder = q.holder, job = q.job, group = q.group, once = q.once,
    acquired = math.min(q.fence, now), expires = now + q.ttl, ttl = q.ttl, min_hold = 0,
  }
  if PEER then new.shared = claim_peer(q.fence, now, q.ttl) end
  local others = held_by_others(q.job, replaced)
  local closed = close_replaced(replaced, q.job, now)
  local index = set_holder(r, replaced[1], new, q.slots, now)
  -- Counters that were kept already count this grant: it must not be counted twice (C1).
  if open_grants(q.job) - closed <= others then count(q.job, 'acquired') end
  count(q.job, 'restored')
  quarantine(now)
  post(slot_list[1])
  commit()
  return {'kept', text(now), index, '1'}
end

-- N4: a renewal does not change the fence, unless a quorum granted the lock with a higher one.
local function raise_fence(s, q)
  if q.fence <= s.fence or q.fence >= MAX then return end
  local ends = crash_hold(s)
  s.fence = q.fence
  if s.at then return end
  put('HSET', KEYS[1], 'fence', text(q.fence))
  if ends ~= 0 then put('HSET', KEYS[1], 'min_hold', text(q.fence) .. ':' .. text(ends - s.acquired)) end
end

local function renew()
  local now = read_clock()
  local q = question()
  if now > q.not_after then return {'stale', text(now), '0', '0'} end
  local r = load_record()
  load_slots(r)
  local s = slot_of(q.owner, q.attempt)
  if not s then
    local replaced = replaceable(r, q, now)
    if #replaced > 0 then return restore(r, replaced, q, now) end
    return not_holder(loss_reason(r, q.fence), now)
  end
  if s.state == 'revoked' then return not_holder('revoked', now) end
  if s.state ~= 'held' then return not_holder('taken', now) end
  if now >= s.expires then return not_holder('expired', now) end
  -- Never overwritten: the other program's run has begun.
  if PEER then
    read_peer(r)
    if is_peers() then return not_holder('taken', now) end
  end
  clamp(s, now)
  if now + q.ttl >= s.expires then s.expires, s.ttl = now + q.ttl, q.ttl end
  put('PERSIST', KEYS[1])
  if s.at then
    s.changed = true
  else
    put('HSET', KEYS[1], 'expires', text(s.expires), 'ttl', text(s.ttl),
        'acquired', text(s.acquired))
  end
  local life = PEER and math.max(r.expires, crash_hold(r)) - now
  raise_fence(s, q)
  if PEER then
    put('HSET', KEYS[1], 'shared', claim_peer(r.fence, now, life))
  end
  date_record(now)
  -- A new epoch begins with its first request; it does not end a lease.
  quarantine(now)
  post(r)
  commit()
  return {'kept', text(now), '0', '0'}
end

return run(renew)
