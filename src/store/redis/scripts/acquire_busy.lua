-- SPDX-License-Identifier: Apache-2.0
-- Acquire: the busy answer, what it counts, and the place of a run that waits (K3, L5, C2, Q1 to Q7).

local function is_live(r, now)
  return (r.state == 'held' or r.state == 'revoked') and now < r.expires
end

-- `place`: the answer's part about the queue. `claimed`: the slot to name, if it is not the next one.
local function busy(r, because, now, group_granted, place, claimed)
  for at = 1, #slot_list do
    if slot_list[at].clamped then touch(r) end
  end
  write_clamped(r)
  if touched or #counted > 0 then post(r) end
  commit()
  local flag = group_granted and '1' or '0'
  local ahead, wake = place and place.ahead or '', place and place.wake or ''
  if because == 'queued' then
    return {'busy', text(now), '0', because, '', '', '0', '0', text(until_turn(now)), flag, ahead,
            wake}
  end
  if because == 'held' and peer.blocks then
    return {'busy', text(now), '0', because, name_of_peer(), '', '0', '0', text(peer.left), flag,
            ahead, wake}
  end
  local s = claimed or next_to_end(now)
  if because == 'done' or is_free(s) then
    return {'busy', text(now), '0', because, '', '', '0', '0', '0', flag, ahead, wake}
  end
  local ends = because == 'cooling' and end_of(s, now) or s.expires
  return {'busy', text(now), '0', because, s.holder, s.job, text(s.fence),
          text(math.max(0, now - s.acquired)), text(math.max(0, ends - now)), flag, ahead, wake}
end

local function count_skip(r, q, reason, now)
  touch(r)
  count(q.job, reason)
  count(q.job, 'runs_skipped')
  stamp = {'last_skip|' .. q.job, text(now)}
end

-- The caller is busy: it keeps its place, or leaves the queue. `free`: the slots that are granted to
-- another run next, and the queue is open. Without a place while another run has its identity
-- (`claimed`): it would keep free slots from the other runs.
local function wait_in_order(r, q, now, group_granted, free, ticket, claimed)
  local ends = q.if_busy == 'timed_out' or claimed
  local waits = not ends and (q.if_busy == 'wait' or (group_granted and q.if_busy ~= 'probe'))
  if not (waits or ends or free) then return nil end
  if not free then ticket = open_queue(q.owner, now) end
  local place = {}
  if #plan == 0 then put('PEXPIRE', KEYS[7], QUEUE_MS) end
  write_queue(now)
  if waits then place.ahead = text(keep_place(q.owner, ticket, now)) end
  if ends then place.wake = leave_queue(q.owner, ticket, now) end
  if free then
    local reserved = reserve(free, now)
    if reserved ~= '' then place.wake = reserved end
  end
  if place.wake and place.wake ~= '' then touch(r) end
  return place
end

local function was_granted(group, now)
  if group == '' then return false end
  for at = 1, #slot_list do
    if slot_list[at].state ~= 'none' and slot_list[at].group == group then return true end
  end
  return dates(3, group) > now - DAY
end

-- `free`: the slots that are granted to another run next. `claimed`: the slot of the same identity.
local function refuse(r, q, now, free, ticket, claimed)
  local because = free and 'queued'
      or (claimed or is_live(next_to_end(now), now) or peer.blocks) and 'held' or 'cooling'
  local group_granted = was_granted(q.group, now)
  -- L5: a group that was granted before waits instead of skipping.
  if q.if_busy == 'skip' and not group_granted then
    count_skip(r, q, 'skipped_held', now)
  elseif q.if_busy == 'fail' and not group_granted then
    touch(r)
    count(q.job, 'runs_busy')
  elseif q.if_busy == 'timed_out' then
    touch(r)
    count(q.job, 'wait_timeouts')
    count(q.job, 'runs_busy')
  end
  if #counted > 0 then
    remember(q.claim, because == 'cooling' and 'c' or free and 'q' or 'h', now, q.ttl)
    if group_granted then remember(q.claim, 'g', now, q.ttl) end
  end
  local place = wait_in_order(r, q, now, group_granted, free, ticket, claimed)
  return busy(r, because, now, group_granted, place, claimed)
end
