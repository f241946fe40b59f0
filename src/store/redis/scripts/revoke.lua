-- SPDX-License-Identifier: Apache-2.0
-- Revoke: counts each live lease as revoked. Its holder excludes other runs until it releases, or
-- until the lease ends. A slot that only its min-hold keeps closed is opened at once.
-- KEYS: record, stats, slots. ARGV: 1 not_after
-- Of several slots, the reply has the revoked lease with the highest fence, and the longest time that
-- remains.
-- The shared key is removed, also if another program wrote it, unless a lease of this lock is in
-- effect. A key that is no string belongs to neither: an error, and nothing changes.
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
  if peer.is_no_string then impossible() end
  put('DEL', PEER)
  if r.state ~= 'none' then put('HSET', KEYS[1], 'shared', '') end
end

local function revoked(now, ended, holder, fence, ends)
  if ended ~= 'lease' and peer.state == 'held' then
    ended, holder, fence, ends = 'min_hold', name_of_peer(), 0, now + peer.left
  end
  return {'revoked', text(now), '0', ended, holder, text(fence), text(ends - now)}
end

local RANK = {none = 0, min_hold = 1, lease = 2}

local function revoke_slot(s, now)
  clamp(s, now)
  local ended, ends = 'none', now
  if is_lease(s, now) then
    ended, ends = 'lease', s.expires
  elseif now < min_hold_end(s) then
    ended, ends = 'min_hold', min_hold_end(s)
  end
  -- A grant that was not released is counted as closed; after its lease the slot is free.
  if ended ~= 'none' and s.state == 'held' then s.state = 'revoked' end
  if ended == 'min_hold' and s.state == 'cooling' then s.state, s.expires = 'free', 0 end
  return {ended = ended, rank = RANK[ended], holder = s.holder, fence = s.fence, ends = ends}
end

local function revoke()
  local now = read_clock()
  if now > argument(1) then return {'stale', text(now), '0', '0'} end
  local r = load_record()
  load_slots(r)
  if PEER then read_peer(r, now) end
  if r.state == 'none' then
    remove_peer(r)
    commit()
    return revoked(now, 'none', '', 0, now)
  end

  local best, is_changed = {rank = 0}, false
  for at = 1, #slot_list do
    local s = slot_list[at]
    local before = s.state
    local one = revoke_slot(s, now)
    if s.state ~= before or s.clamped then s.changed, is_changed = true, true end
    if before == 'held' and s.state == 'revoked' then count(s.job, 'revoked') end
    if not best.ended or one.rank > best.rank then
      best = one
    elseif one.rank == best.rank then
      local ends = math.max(one.ends, best.ends)
      if one.fence > best.fence then best = one end
      best.ends = ends
    end
  end
  if best.ended ~= 'lease' then remove_peer(r) end
  if is_changed or #plan > 0 then
    keep(KEYS[1], r)
    put('HSET', KEYS[1], 'state', r.state, 'expires', text(r.expires), 'acquired', text(r.acquired))
    post(r)
    commit()
  end
  return revoked(now, best.ended, best.holder, best.fence, best.ends)
end

return run(revoke)
