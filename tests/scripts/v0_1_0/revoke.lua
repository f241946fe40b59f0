-- SPDX-License-Identifier: Apache-2.0
-- Revoke: ends a live lease in the ledger. Its holder keeps others out until it lets go, or the
-- lease is over.
-- KEYS: record, stats. ARGV: 1 not_after
-- Replies: revoked now 0 was_held(0|1) holder fence remaining
--          stale now 0 closed(0)

local function revoke()
  local now = read_clock()
  if now > argument(1) then return {'stale', text(now), '0', '0'} end
  local r = load_record()
  if r.state == 'none' then return {'revoked', text(now), '0', '0', '', '0', '0'} end

  clamp(r, now)
  local was_held = (r.state == 'held' or r.state == 'revoked') and now < r.expires
  local revoking = was_held and r.state == 'held'
  if revoking then r.state = 'revoked' end
  if revoking or r.clamped then
    keep(KEYS[1], r)
    put('HSET', KEYS[1], 'state', r.state, 'expires', text(r.expires))
    if revoking then count(r.job, 'revoked') end
    post(r)
    commit()
  end
  local remaining = r.state == 'free' and 0 or math.max(0, r.expires - now)
  return {'revoked', text(now), '0', was_held and '1' or '0', r.holder, text(r.fence),
          text(remaining)}
end

return run(revoke)
