-- SPDX-License-Identifier: Apache-2.0
-- Renew: only the holder, only while its lease lives (N1, N2, N4); a record that was lost comes
-- back from its holder (N3).
-- ARGV: 1 not_after  2 owner  3 attempt  4 fence  5 ttl  6 holder  7 job  8 group  9 once
-- Replies: kept now index restored(0|1)
--          not_ours now 0 because(expired|taken|revoked|gone)
--          stale now 0 closed(0)

local function question()
  return {
    not_after = argument(1), owner = ARGV[2], attempt = argument(3), fence = argument(4),
    ttl = argument(5), holder = ARGV[6], job = ARGV[7], group = ARGV[8], once = ARGV[9],
  }
end

local function not_ours(because, now) return {'not_ours', text(now), '0', because} end

local function restore(r, q, now)
  local claim = ARGV[2] .. ':' .. ARGV[3]
  local released, closed = dates(5, claim .. ':r', claim .. ':x')
  if now < released or now < closed then return not_ours('taken', now) end
  if q.fence == 0 or q.fence >= MAX then return not_ours('gone', now) end
  -- Not refused when memory is full, though the record is not there: a renewal survives that (G2).
  put('PERSIST', KEYS[1])
  local new = {
    state = 'held', owner = q.owner, attempt = q.attempt, fence = q.fence, stole = 0,
    holder = q.holder, job = q.job, group = q.group, once = q.once,
    acquired = math.min(q.fence, now), expires = now + q.ttl, ttl = q.ttl,
  }
  local index = seat(r, new, now)
  -- Counters that outlived the record know of this grant already: the law must not see it twice.
  local ledger = counters({'acquired|' .. q.job, 'released|' .. q.job, 'stolen|' .. q.job,
                           'revoked|' .. q.job})
  if ledger[1] <= ledger[2] + ledger[3] + ledger[4] then count(q.job, 'acquired') end
  count(q.job, 'restored')
  post(new)
  commit()
  return {'kept', text(now), index, '1'}
end

local function renew()
  local now = read_clock()
  local q = question()
  if now > q.not_after then return {'stale', text(now), '0', '0'} end
  local r = load_record()
  if r.state == 'none' then return restore(r, q, now) end
  if r.owner ~= q.owner or r.attempt ~= q.attempt then
    return not_ours(why_not_ours(r, q.fence), now)
  end
  if r.state == 'revoked' then return not_ours('revoked', now) end
  if r.state ~= 'held' then return not_ours('taken', now) end
  if now >= r.expires then return not_ours('expired', now) end
  clamp(r, now)
  if now + q.ttl >= r.expires then r.expires, r.ttl = now + q.ttl, q.ttl end
  put('PERSIST', KEYS[1])
  put('HSET', KEYS[1], 'expires', text(r.expires), 'ttl', text(r.ttl))
  post(r)
  commit()
  return {'kept', text(now), '0', '0'}
end

return run(renew)
