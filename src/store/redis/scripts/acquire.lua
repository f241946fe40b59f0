-- SPDX-License-Identifier: Apache-2.0
-- Acquire: which request is granted the lock, and which is answered busy (AQ1 to AQ6, AQ8, K1 to K6,
-- L0, L5, C2). The text of acquire_preflight.lua, acquire_busy.lua and acquire_grant.lua is before this.
-- ARGV: 1 not_after  2 owner  3 attempt  4 ttl  5 holder  6 job  7 group  8 once  9 once_ttl
--       10 if_busy: wait, skip, fail, timed_out, probe  11 waited so far, in ms  12 its bucket
--       13 min_hold  14 min_uptime: of a server that may have lost the record, in seconds
--       15 slots; with strict two more (common_epoch.lua)
-- Replies: granted now index fence stole(0|1); with min_uptime also the id of the server
--          busy now 0 because(held|cooling|done|queued) holder job fence held_for remaining
--               group_granted(0|1) ahead(empty: no place) wake(an owner, or empty)
--          stale now 0 closed(0|1)
--          quarantine now 0 remaining
--          slots now 0 slots holder: the lock is held with another number of slots

-- True when neither a lease nor a min-hold excludes this caller. L0: the min-hold of an attempt group
-- does not exclude that group.
local function grantable(s, q, now)
  if is_free(s) then return true end
  if s.state ~= 'cooling' and now < s.expires then return false end
  if s.state == 'revoked' or (q.group ~= '' and q.group == s.group) then return true end
  return now >= (s.state == 'cooling' and s.expires or crash_hold(s))
end

-- The slots that could be granted, those without an expired grant first.
local function grantable_slots(q, now)
  local free, expired = {}, {}
  for at = 1, #slot_list do
    local s = slot_list[at]
    if grantable(s, q, now) then
      local list = s.state == 'held' and expired or free
      list[#list + 1] = s
    end
  end
  for i = 1, #expired do free[#free + 1] = expired[i] end
  return free
end

-- K2: the slot of another run with this identity, whose lease is live, or nil. A lock with one slot
-- excludes that run itself.
local function claimed_slot(r, q, now)
  if r.slots == 1 or q.once == '' then return nil end
  for at = 1, #slot_list do
    local s = slot_list[at]
    if is_live(s, now) and s.job == q.job and s.once == q.once then return s end
  end
end

-- The holder that excludes a request with another number of slots: the slot that is free first.
local function holder_of_other_slots(r, q, now)
  if r.state == 'none' or r.slots == q.slots then return nil end
  local first
  for at = 1, #slot_list do
    local s = slot_list[at]
    if not grantable(s, q, now) and (not first or end_of(s, now) < end_of(first, now)) then
      first = s
    end
  end
  return first and first.holder
end

-- A slot that is granted before all runs that wait. A lost record has no reservations.
local function before_queue(s, q, now)
  if loaded.state == 'none' then return true end
  if q.group == '' or q.group ~= s.group then return false end
  if s.state == 'cooling' then return now < s.expires end
  return s.state == 'held' and now < crash_hold(s)
end

-- AQ6: the slot that this run is granted now, or nil: it is not the first.
local function enter(free, q, ticket, now)
  for i = 1, #free do
    if before_queue(free[i], q, now) then return free[i] end
  end
  return next_slot(free, q.slots, q.owner, ticket, now)
end

-- AQ4: whether the attempt was released or lost, or followed by a later attempt; and its open grant.
local function own_slot(q, now)
  local own
  for at = 1, #slot_list do
    local s = slot_list[at]
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
  load_slots(r)
  if PEER then read_peer(r, now, true) end

  local is_over, ours = own_slot(q, now)
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
  for at = 1, #slot_list do clamp(slot_list[at], now) end
  -- Another program has the key, and no lease of this lock's own is in effect.
  peer.blocks = peer.state == 'held' and not is_live(r, now)
  if because then return busy(r, because, now, now < group) end
  -- K3: a finished identity blocks every request, whatever its if_busy is.
  local is_done = q.once ~= '' and dates(4, q.once) > math.max(0, now - q.once_ttl)
  -- This claim has a grant, and another program took its key, or its identity is done since then. The
  -- grant stays: its holder may have received it, and this request may be a copy that was delayed on
  -- its way. Otherwise the caller tries again with another attempt.
  if ours and (is_done or is_peers()) then return {'stale', text(now), '0', '1'} end
  if is_done then
    count_skip(r, q, 'skipped_done', now)
    remember(q.claim, 'd', now, q.ttl)
    local ticket = open_queue(q.owner, now)
    write_queue(now)
    return busy(r, 'done', now, false, {wake = leave_queue(q.owner, ticket, now)})
  end
  if ours then return grant_again(r, ours, q, now) end
  local holder = holder_of_other_slots(r, q, now)
  if holder then return {'slots', text(now), '0', text(r.slots), holder} end
  local free = grantable_slots(q, now)
  local claimed = claimed_slot(r, q, now)
  if claimed or peer.blocks or #free == 0 then return refuse(r, q, now, nil, nil, claimed) end
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
