-- SPDX-License-Identifier: Apache-2.0
-- Acquire: what a grant changes (AQ2 to AQ4).

-- AQ3: counted for the job that lost the lease.
local function close_unreleased(s, now)
  if s.state == 'held' then count(s.job, 'stolen') end
  if s.state == 'held' or s.state == 'revoked' then
    remember(s.owner .. ':' .. text(s.attempt), 'x', now, s.ttl)
  end
end

-- The last field only for a server of a quorum: its id, '' if unknown.
local function granted(now, index, fence, stole, info)
  local reply = {'granted', text(now), index, text(fence), stole and '1' or '0'}
  if info then reply[6] = string.match(info, 'run_id:(%x+)') or '' end
  return reply
end

-- Another number of slots replaces all grants: the first slot is granted, and the others are free.
local function grant(r, s, q, now, ticket)
  local info = server_info(q)
  if info then require_uptime(r, q, info, now) end
  preflight(q, false)
  local resized = q.slots ~= r.slots
  if resized then s = r end
  local replaced = resized and slot_list or {s}
  local stole = s.state == 'held'
  local new = {
    state = 'held', owner = q.owner, attempt = q.attempt, ttl = q.ttl,
    holder = q.holder, job = q.job, group = q.group, once = q.once,
    fence = math.max(newest().fence + 1, now), stole = stole and s.fence or 0,
    acquired = now, expires = now + q.ttl, min_hold = q.min_hold,
  }
  if PEER then new.shared = claim_peer(new.fence, now, math.max(q.ttl, q.min_hold)) end
  local index = set_holder(r, s, new, q.slots, now)
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
  post(slot_list[1])
  commit()
  return granted(now, index, new.fence, stole, info)
end

-- AQ4: a repeated request after an unknown result gets the same fence; nothing is counted.
local function grant_again(r, s, q, now)
  local info = server_info(q)
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
  return granted(now, '0', s.fence, s.stole ~= 0, info)
end
