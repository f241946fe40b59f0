-- SPDX-License-Identifier: Apache-2.0
-- The grants of a lock's seats: which ends first, what a new one changes, and why one was lost.

local function is_free(s) return s.state == 'none' or s.state == 'free' end

-- The seat with the highest fence: the last grant.
local function newest()
  local last = seats[1]
  for at = 2, #seats do
    if seats[at].fence > last.fence then last = seats[at] end
  end
  return last
end

-- When the seat could be granted without a renewal.
local function end_of(s, now)
  if s.state ~= 'held' or now < s.expires then return s.expires end
  local crashed = crash_hold(s)
  return now < crashed and crashed or s.expires
end

-- The seat that becomes free first, of those that are not free.
local function next_to_end(now)
  local next_one = seats[1]
  for at = 2, #seats do
    local s = seats[at]
    if not is_free(s) and (is_free(next_one) or end_of(s, now) < end_of(next_one, now)) then
      next_one = s
    end
  end
  return next_one
end

-- The seat of the claim, in any state, or nil.
local function seat_of(owner, attempt)
  for at = 1, #seats do
    local s = seats[at]
    if s.state ~= 'none' and s.owner == owner and s.attempt == attempt then return s end
  end
end

-- After the last release a lock without runs that wait has one slot again. Its seat is the last
-- grant, so that fences still rise.
local function reset_if_idle(r, is_waiting)
  if #seats == 1 or is_waiting then return end
  for at = 1, #seats do
    if not is_free(seats[at]) then return end
  end
  local last = newest()
  local write = {'HSET', KEYS[1], 'slots', '1'}
  if last.at then
    for i = 1, OF_A_SEAT do
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

-- Plans to write what the clamp changed in the record, when another seat is granted.
local function write_clamped(r)
  if r.clamped then
    put('HSET', KEYS[1], 'expires', text(r.expires), 'acquired', text(r.acquired))
  end
end

-- Plans the grant `new` to the seat `old` of a lock with these slots. A record that did not exist is
-- born now. Returns the index flag.
local function seat(r, old, new, slots, now)
  new.turn = false
  if old.at then
    new.at = old.at
    seats[old.at] = new
    put('HSET', KEYS[SEATS], tostring(new.at), pack_seat(new))
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
  if slots ~= r.slots then set_slots(new, slots) else seats[1] = new end
  remember_group(new.group, false, now)
  local index = new.day ~= r.day and '1' or '0'
  r.day = new.day
  return index
end
