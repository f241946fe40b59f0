-- SPDX-License-Identifier: Apache-2.0
-- Renew: only the holder, only while its lease lives (N1, N2, N4); a record that was lost comes back from its holder (N3).
-- ARGV: 1 not_after  2 owner  3 attempt  4 fence  5 ttl  6 holder  7 job  8 group  9 once
-- Replies: kept now index restored(0|1)
--          not_ours now 0 because(expired|taken|revoked|gone)
--          stale now 0 closed(0)

local function renew()
  local now = read_clock()
  local not_after, attempt, fence, ttl = argument(1), argument(3), argument(4), argument(5)
  local owner, holder, job, group, once = ARGV[2], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
  if now > not_after then return {'stale', text(now), '0', '0'} end
  check_types()
  local r = load_record()
  local function not_ours(because) return {'not_ours', text(now), '0', because} end

  if r.state == 'none' then
    if answered(owner, attempt, 'r', now) or answered(owner, attempt, 'x', now) then return not_ours('taken') end
    if fence == 0 or fence >= MAX then return not_ours('gone') end
    r = {state = 'held', owner = owner, attempt = attempt, holder = holder, job = job, group = group, once = once,
         fence = fence, stole = 0, acquired = math.min(fence, now), expires = now + ttl, ttl = ttl}
    -- Not refused when memory is full, though the record is not there: a renewal must survive that (G2).
    put('PERSIST', KEYS[1])
    local index = seat(r, now)
    -- Counters that outlived the record know of this grant already: the law must not see it twice.
    local closed = counter(job, 'released') + counter(job, 'stolen') + counter(job, 'revoked')
    if counter(job, 'acquired') <= closed then count(job, 'acquired') end
    count(job, 'restored')
    keep(KEYS[2], r)
    commit()
    return {'kept', text(now), index, '1'}
  end

  if r.owner ~= owner or r.attempt ~= attempt then return not_ours(why_not_ours(r, fence)) end
  if r.state == 'revoked' then return not_ours('revoked') end
  if r.state ~= 'held' then return not_ours('taken') end
  if not is_alive(r, now) then return not_ours('expired') end
  clamp(r, now)
  if now + ttl >= r.expires then r.expires, r.ttl = now + ttl, ttl end
  put('PERSIST', KEYS[1])
  put('HSET', KEYS[1], 'expires', text(r.expires), 'ttl', text(r.ttl))
  put('PERSIST', KEYS[2])
  commit()
  return {'kept', text(now), '0', '0'}
end

return run(renew)
