-- SPDX-License-Identifier: Apache-2.0
-- The grants of a lock's slots: which ends first, what a new one changes, and why one was lost.

local function is_free(s) return s.state == 'none' or s.state == 'free' end

-- The slot with the highest fence: the last grant.
local function newest()
  local last = slot_list[1]
  for at = 2, #slot_list do
    if slot_list[at].fence > last.fence then last = slot_list[at] end
  end
  return last
end

-- When the slot could be granted without a renewal.
local function end_of(s, now)
  if s.state ~= 'held' or now < s.expires then return s.expires end
  local crashed = crash_hold(s)
  return now < crashed and crashed or s.expires
end

-- The slot that becomes free first, of those that are not free.
local function next_to_end(now)
  local next_one = slot_list[1]
  for at = 2, #slot_list do
    local s = slot_list[at]
    if not is_free(s) and (is_free(next_one) or end_of(s, now) < end_of(next_one, now)) then
      next_one = s
    end
  end
  return next_one
end

-- The slot of the claim, in any state, or nil.
local function slot_of(owner, attempt)
  for at = 1, #slot_list do
    local s = slot_list[at]
    if s.state ~= 'none' and s.owner == owner and s.attempt == attempt then return s end
  end
end

-- After the last release a lock without runs that wait has one slot again. It contains the
-- last grant, so that fences still rise.
local function reset_if_idle(r, is_waiting)
  if #slot_list == 1 or is_waiting then return end
  for at = 1, #slot_list do
    if not is_free(slot_list[at]) then return end
  end
  local last = newest()
  local write = {'HSET', KEYS[1], 'slots', '1'}
  if last.at then
    for i = 1, OF_A_SLOT do
      local name = FIELDS[i]
      r[name] = last[name]
      write[#write + 1] = name
      write[#write + 1] = i > TEXTS and text(last[name]) or last[name]
    end
    if last.min_hold > 0 then
      write[#write + 1] = 'min_hold'
      write[#write + 1] = text(last.fence) .. ':' .. text(last.min_hold)
    end
  end
  write[#write + 1] = 'turn'
  write[#write + 1] = '0:0:'
  plan[#plan + 1] = write
  set_slots(r, 1)
end

-- Why a caller that is not the holder lost the lock.
local function loss_reason(r, fence)
  if r.state == 'none' or newest().fence < fence or (fence ~= 0 and r.born > fence) then
    return 'gone'
  end
  return 'taken'
end

-- Plans to write what the clamp changed in the record, when another slot is granted.
local function write_clamped(r)
  if r.clamped then
    put('HSET', KEYS[1], 'expires', text(r.expires), 'acquired', text(r.acquired))
  end
end

-- Plans the grant `new` of the slot `old`. `slots`: their number from now on. A record that did not
-- exist is born now. Returns the index flag.
local function set_holder(r, old, new, slots, now)
  new.turn = false
  if old.at then
    new.at = old.at
    slot_list[old.at] = new
    put('HSET', KEYS[SLOTS], tostring(new.at), pack_slot(new))
    put('PERSIST', KEYS[1])
    write_clamped(r)
    date_record(now)
    remember_group(new.group, false, now)
    return '0'
  end
  new.born, new.day, new.slots = r.born or now, math.floor(now / DAY), slots
  local write = {'HSET', KEYS[1]}
  for i, name in ipairs(FIELDS) do
    local value = new[name]
    if value ~= r[name] or r.state == 'none' then
      write[#write + 1] = name
      write[#write + 1] = i > TEXTS and text(value) or value
    end
  end
  if new.min_hold > 0 then
    write[#write + 1] = 'min_hold'
    write[#write + 1] = text(new.fence) .. ':' .. text(new.min_hold)
  end
  if new.shared then
    write[#write + 1] = 'shared'
    write[#write + 1] = new.shared
  end
  plan[#plan + 1] = write
  put('PERSIST', KEYS[1])
  if slots ~= r.slots then set_slots(new, slots) else slot_list[1] = new end
  remember_group(new.group, false, now)
  local index = new.day ~= r.day and '1' or '0'
  r.day = new.day
  return index
end
