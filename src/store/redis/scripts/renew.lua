-- SPDX-License-Identifier: Apache-2.0
-- Renew: only for the holder, only during its lease (N1, N2, N4). A record that was lost, or replaced
-- by an older one, is restored from its holder's request (N3).
-- ARGV: 1 not_after  2 owner  3 attempt  4 fence  5 ttl  6 holder  7 job  8 group  9 once; with strict
--       two more (common_epoch.lua)
-- Replies: kept now index restored(0|1)
--          not_holder now 0 because(expired|taken|revoked|gone)
--          stale now 0 closed(0)

local function question()
  return {
    not_after = argument(1), owner = ARGV[2], attempt = argument(3), fence = argument(4),
    ttl = argument(5), holder = ARGV[6], job = ARGV[7], group = ARGV[8], once = ARGV[9],
  }
end

local function not_holder(because, now) return {'not_holder', text(now), '0', because} end

-- 1 when the job has an open grant in the counters (C1).
local function open_grants(job)
  local c = counters({'acquired|' .. job, 'released|' .. job, 'stolen|' .. job, 'revoked|' .. job})
  return c[1] - c[2] - c[3] - c[4]
end

-- True when the recorded holder has no live lease: such a lease must not be overwritten.
local function is_unheld(r, now)
  return r.state == 'free' or r.state == 'cooling' or now >= r.expires
end

local function restore(r, q, now)
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
  local index = seat(r, new, now)
  if r.state == 'held' or r.state == 'revoked' then
    remember(r.owner .. ':' .. text(r.attempt), 'x', now, r.ttl)
  end
  local open = open_grants(q.job)
  -- A replaced open grant is closed in its job's counters, unless they already count it closed (C1).
  if r.state == 'held' and open_grants(r.job) > 0 then
    count(r.job, 'stolen')
    if r.job == q.job then open = open - 1 end
  end
  -- Counters that were kept already count this grant: it must not be counted twice (C1).
  if open <= 0 then count(q.job, 'acquired') end
  count(q.job, 'restored')
  quarantine(now)
  post(new)
  commit()
  return {'kept', text(now), index, '1'}
end

-- N4: a renewal does not change the fence, unless a quorum granted the lock with a higher one.
local function raise_fence(r, q)
  if q.fence <= r.fence or q.fence >= MAX then return end
  local ends = crash_hold(r)
  r.fence = q.fence
  put('HSET', KEYS[1], 'fence', text(q.fence))
  if ends ~= 0 then put('HSET', KEYS[1], 'min_hold', text(q.fence) .. ':' .. text(ends - r.acquired)) end
end

local function renew()
  local now = read_clock()
  local q = question()
  if now > q.not_after then return {'stale', text(now), '0', '0'} end
  local r = load_record()
  if r.state == 'none' then return restore(r, q, now) end
  if r.owner ~= q.owner or r.attempt ~= q.attempt then
    if r.fence < q.fence and is_unheld(r, now) then return restore(r, q, now) end
    return not_holder(loss_reason(r, q.fence), now)
  end
  if r.state == 'revoked' then return not_holder('revoked', now) end
  if r.state ~= 'held' then return not_holder('taken', now) end
  if now >= r.expires then return not_holder('expired', now) end
  -- Never overwritten: the other program's run has begun.
  if PEER then
    read_peer(r)
    if is_peers() then return not_holder('taken', now) end
  end
  clamp(r, now)
  if now + q.ttl >= r.expires then r.expires, r.ttl = now + q.ttl, q.ttl end
  put('PERSIST', KEYS[1])
  put('HSET', KEYS[1], 'expires', text(r.expires), 'ttl', text(r.ttl),
      'acquired', text(r.acquired))
  local life = PEER and math.max(r.expires, crash_hold(r)) - now
  raise_fence(r, q)
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
