-- SPDX-License-Identifier: Apache-2.0
-- Revoke: counts a live lease as revoked. Its holder excludes other runs until it releases, or until
-- the lease ends. A lock that only its min-hold keeps closed is opened at once.
-- KEYS: record, stats. ARGV: 1 not_after
-- The shared key is removed, also if another program wrote it, unless a lease of this lock is in
-- effect.
-- Replies: revoked now 0 ended(none|lease|min_hold) holder fence remaining
--          stale now 0 closed(0)

local function is_lease(r, now)
  return (r.state == 'held' or r.state == 'revoked') and now < r.expires
end

-- The time until which a min-hold keeps the lock closed; 0 without one.
local function min_hold_end(r)
  if r.state == 'cooling' then return r.expires end
  return r.state == 'held' and crash_hold(r) or 0
end

local function remove_peer(r)
  if peer.state == 'absent' then return end
  put('DEL', PEER)
  if r.state ~= 'none' then put('HSET', KEYS[1], 'shared', '') end
end

local function revoked(now, ended, holder, fence, ends)
  if ended ~= 'lease' and peer.state == 'held' then
    ended, holder, fence, ends = 'min_hold', name_of_peer(), 0, now + peer.left
  end
  return {'revoked', text(now), '0', ended, holder, text(fence), text(ends - now)}
end

local function revoke()
  local now = read_clock()
  if now > argument(1) then return {'stale', text(now), '0', '0'} end
  local r = load_record()
  if PEER then read_peer(r, now) end
  if r.state == 'none' then
    remove_peer(r)
    commit()
    return revoked(now, 'none', '', 0, now)
  end

  clamp(r, now)
  local ended, ends, before = 'none', now, r.state
  if is_lease(r, now) then
    ended, ends = 'lease', r.expires
  elseif now < min_hold_end(r) then
    ended, ends = 'min_hold', min_hold_end(r)
  end
  -- A grant that was not released is counted as closed; after its lease the lock is free.
  if ended ~= 'none' and r.state == 'held' then r.state = 'revoked' end
  if ended == 'min_hold' and r.state == 'cooling' then r.state, r.expires = 'free', 0 end
  if ended ~= 'lease' then remove_peer(r) end
  if r.state ~= before or r.clamped or #plan > 0 then
    keep(KEYS[1], r)
    put('HSET', KEYS[1], 'state', r.state, 'expires', text(r.expires), 'acquired', text(r.acquired))
    if before == 'held' and r.state == 'revoked' then count(r.job, 'revoked') end
    post(r)
    commit()
  end
  return revoked(now, ended, r.holder, r.fence, ends)
end

return run(revoke)
