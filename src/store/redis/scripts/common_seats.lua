-- SPDX-License-Identifier: Apache-2.0
-- Several slots (docs/decisions/0041-slots.md). A seat is one of the grants that a lock can have at
-- once. The record is the first seat. The others are the fields "2" to "<slots>" of KEYS[SEATS], which
-- exists, and is read, only while the record's field `slots` is above 1. Version 0.1.0 refuses such a
-- record. A seat without a field was not granted yet: its state is 'none'. The text of a field is
--   <state> <attempt> <fence> <stole> <acquired> <expires> <ttl> <min_hold> <end of its reservation>
-- and the lengths of six texts, each followed by a space, then the texts: owner, holder, job, group,
-- once, owner of the reservation.
-- The first seat has no `at`. A changed seat is written by commit().

local SEATS = KEYS[8] and 8 or 3
local PACKED = '^(%l+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) ()'

local seats = {}

local function unpack_seat(at, raw)
  local w = {string.match(raw, PACKED)}
  local from, texts = w[16], {}
  if not from then poisoned(KEYS[SEATS], at) end
  for i = 2, 15 do
    w[i] = whole(w[i])
    if not w[i] then poisoned(KEYS[SEATS], at) end
  end
  for i = 1, 6 do
    local till = from + w[9 + i]
    texts[i], from = string.sub(raw, from, till - 1), till
    if w[9 + i] > LONGEST then poisoned(KEYS[SEATS], at) end
  end
  local is_granted = w[1] ~= 'none'
  if from ~= #raw + 1 or is_granted and not is_state(w[1]) or is_granted ~= (w[3] > 0) or w[3] >= MAX then
    poisoned(KEYS[SEATS], at)
  end
  return {
    at = at, state = w[1], attempt = w[2], fence = w[3], stole = w[4], acquired = w[5],
    expires = w[6], ttl = w[7], min_hold = w[8], owner = texts[1], holder = texts[2],
    job = texts[3], group = texts[4], once = texts[5],
    turn = w[9] > 0 and {till = w[9], owner = texts[6]} or false,
  }
end

local function pack_seat(s)
  local turn = s.turn or {till = 0, owner = ''}
  local words = {s.state, text(s.attempt), text(s.fence), text(s.stole), text(s.acquired),
                 text(s.expires), text(s.ttl), text(s.min_hold), text(turn.till)}
  local texts = {s.owner, s.holder, s.job, s.group, s.once, turn.owner}
  for i = 1, 6 do words[#words + 1] = tostring(#texts[i]) end
  return table.concat(words, ' ') .. ' ' .. table.concat(texts)
end

local function new_seat(at)
  return {
    at = at, state = 'none', attempt = 0, fence = 0, stole = 0, acquired = 0, expires = 0, ttl = 0,
    min_hold = 0, owner = '', holder = '', job = '', group = '', once = '', turn = false,
  }
end

-- The seats of the record; the first is the record itself.
local function load_seats(r)
  seats = {r}
  if r.state == 'none' or r.slots == 1 then return end
  local names = {}
  for at = 2, r.slots do names[at - 1] = tostring(at) end
  local found = read(SEATS, 'HMGET', unpack(names))
  for at = 2, r.slots do
    local raw = found[at - 1]
    seats[at] = raw and unpack_seat(at, raw) or new_seat(at)
  end
end

-- Plans another number of slots: no seat but the first has a grant. Nothing that an earlier record
-- left is read again. PEXPIRE removes the key, because no user needs the right to DEL for it.
local function set_slots(first, slots)
  put('PEXPIRE', KEYS[SEATS], '0')
  seats = {first}
  for at = 2, slots do seats[at] = new_seat(at) end
end

is_open = function(first)
  if first.state == 'held' then return true end
  for at = 2, #seats do
    if seats[at].state == 'held' then return true end
  end
  return false
end

-- Plans to write the changed seats.
local function write_seats()
  if #seats < 2 then return end
  local write = {'HSET', KEYS[SEATS]}
  for at = 2, #seats do
    local s = seats[at]
    if s.changed or s.clamped then
      write[#write + 1] = tostring(at)
      write[#write + 1] = pack_seat(s)
    end
  end
  if #write > 2 then plan[#plan + 1] = write end
  if #plan > 0 then keep(KEYS[SEATS], seats[1]) end
end

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
