-- SPDX-License-Identifier: Apache-2.0
-- Acquire: who is granted the lock, who is told busy, and what either counts (AQ1 to AQ5, K1 to K6, L0, L5, C2).
-- ARGV: 1 not_after  2 owner  3 attempt  4 ttl  5 holder  6 job  7 group  8 once  9 once_ttl
--       10 if_busy: wait, skip, fail, timed_out  11 waited so far, in ms  12 its bucket
-- Replies: granted now index fence stole(0|1)
--          busy now 0 because(held|cooling|done) holder job fence held_for remaining group_granted(0|1)
--          stale now 0 closed(0|1)

local function acquire()
  local now = read_clock()
  local not_after, attempt, ttl, once_ttl = argument(1), argument(3), argument(4), argument(9)
  local owner, holder, job, group, once = ARGV[2], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
  local if_busy, waited, bucket = ARGV[10], argument(11), ARGV[12]
  if now > not_after then return {'stale', text(now), '0', '0'} end
  check_types()
  local r = load_record()

  -- AQ4: an attempt that was released, lost or followed by a later one is over.
  local same = r.owner == owner and r.attempt == attempt
  local ours = same and r.state == 'held' and is_alive(r, now)
  if answered(owner, attempt, 'r', now) or answered(owner, attempt, 'x', now)
      or (r.owner == owner and attempt < r.attempt) or (same and not ours) then
    return {'stale', text(now), '0', '1'}
  end
  clamp(r, now)

  -- First, and not refused when memory is full: what follows it must not fail.
  local function touch()
    if #plan == 0 then keep(KEYS[1], r) end
  end

  local function busy(because, group_granted)
    if r.clamped then
      touch()
      put('HSET', KEYS[1], 'expires', text(r.expires))
    end
    if #plan > 0 then
      keep(KEYS[2], r)
      commit()
    end
    local flag = group_granted and '1' or '0'
    if because == 'done' or r.state == 'none' or r.state == 'free' then
      return {'busy', text(now), '0', because, '', '', '0', '0', '0', flag}
    end
    return {'busy', text(now), '0', because, r.holder, r.job, text(r.fence),
            text(math.max(0, now - r.acquired)), text(math.max(0, r.expires - now)), flag}
  end

  local function skip(reason)
    touch()
    count(job, reason)
    count(job, 'runs_skipped')
    stamp(job, 'last_skip', now)
  end

  -- C2: what was counted as busy stays busy.
  if answered(owner, attempt, 'h', now) then return busy('held') end
  if answered(owner, attempt, 'c', now) then return busy('cooling') end
  if answered(owner, attempt, 'd', now) then return busy('done') end

  -- K3: done blocks everyone, however they would have liked to be refused.
  if once ~= '' then
    local finished = score_of(KEYS[4], once)
    if finished and finished > now - once_ttl then
      skip('skipped_done')
      remember(owner, attempt, 'd', now, ttl)
      return busy('done')
    end
  end

  -- AQ4: asked again after an unknown result.
  if ours then
    put('PERSIST', KEYS[1])
    put('HSET', KEYS[1], 'expires', text(now + ttl), 'ttl', text(ttl))
    put('PERSIST', KEYS[2])
    commit()
    return {'granted', text(now), '0', text(r.fence), r.stole ~= 0 and '1' or '0'}
  end

  local own_min_hold = r.state == 'cooling' and group ~= '' and group == r.group
  if r.state == 'none' or r.state == 'free' or not is_alive(r, now) or own_min_hold then
    local stole = r.state == 'held'
    local before = {job = r.job, owner = r.owner, attempt = r.attempt, ttl = r.ttl, state = r.state}
    r.stole = stole and r.fence or 0
    r.fence = math.max(r.fence + 1, now)
    r.state, r.owner, r.attempt, r.holder, r.job, r.group, r.once = 'held', owner, attempt, holder, job, group, once
    r.acquired, r.expires, r.ttl = now, now + ttl, ttl
    local index = seat(r, now)
    if stole then count(before.job, 'stolen') end
    if stole or before.state == 'revoked' then remember(before.owner, before.attempt, 'x', now, before.ttl) end
    count(job, 'acquired')
    if waited > 0 then
      count(job, 'wait_' .. bucket)
      count(job, 'wait_ms', waited)
    end
    keep(KEYS[2], r)
    commit()
    return {'granted', text(now), index, text(r.fence), stole and '1' or '0'}
  end

  local because = r.state == 'cooling' and 'cooling' or 'held'
  local granted_at = group ~= '' and score_of(KEYS[3], group) or nil
  local group_granted = granted_at ~= nil and granted_at > now - DAY
  local counted = true
  if if_busy == 'skip' and not group_granted then
    skip('skipped_held')
  elseif if_busy == 'fail' and not group_granted then
    touch()
    count(job, 'runs_busy')
  elseif if_busy == 'timed_out' then
    touch()
    count(job, 'wait_timeouts')
    count(job, 'runs_busy')
  else
    counted = false
  end
  if counted then remember(owner, attempt, because == 'cooling' and 'c' or 'h', now, ttl) end
  return busy(because, group_granted)
end

return run(acquire)
