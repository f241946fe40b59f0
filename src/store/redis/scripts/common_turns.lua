-- SPDX-License-Identifier: Apache-2.0
-- The reservation of a free slot for the first run that waits (AQ6, Q1 to Q7). A run has at most one.
-- The reservation of the first slot is the field `turn` of the record: "<fence>:<until>:<owner>". A
-- value with another fence is void. Version 0.1.0 ignores it.

local TURN = 2000000
-- A run without a place is granted a free lock when no other run has sent a request to wait for this
-- time.
local NEWCOMER = 3000000

-- The reservation of a slot, or false.
local function read_turn(s)
  if s.turn ~= nil then return s.turn end
  s.turn = false
  local raw = read(1, 'HMGET', 'turn')[1]
  if not raw then return false end
  local fence, till, owner = string.match(raw, '^(%d+):(%d+):(.*)$')
  fence, till = whole(fence), whole(till)
  if not fence or not till or #raw > LONGEST then poisoned(KEYS[1], 'turn') end
  if fence == s.fence then s.turn = {till = till, owner = owner} end
  return s.turn
end

local function write_turn(s, owner, till)
  s.turn = {till = till, owner = owner}
  if s.at then
    s.changed = true
  else
    put('HSET', KEYS[1], 'turn', text(s.fence) .. ':' .. text(till) .. ':' .. owner)
  end
end

local function is_reserved(s, owner, now)
  local turn = read_turn(s)
  return turn and turn.owner == owner and now < turn.till
end

-- The owners for which a slot but this one is reserved, and their number.
local function reserved_owners(but, now)
  local owners, n = {}, 0
  for at = 1, #slot_list do
    local turn = slot_list[at] ~= but and read_turn(slot_list[at])
    if turn and now < turn.till and not owners[turn.owner] then
      owners[turn.owner], n = true, n + 1
    end
  end
  return owners, n
end

-- The first run that waits and for which no other slot is reserved, or nil.
local function first_place(s, now)
  local owners, n = reserved_owners(s, now)
  local most = tostring(#dead + n + 2)
  local places = read(6, 'ZRANGEBYSCORE', '-inf', '+inf', 'LIMIT', '0', most)
  for i = 1, #places do
    if not gone[places[i]] and not owners[places[i]] then return places[i] end
  end
end

-- True when fewer than `most` runs without a reservation wait before the owner.
local function is_among_first(owner, most, now)
  local owners, n = reserved_owners(nil, now)
  local limit = tostring(#dead + n + most + 1)
  local places = read(6, 'ZRANGEBYSCORE', '-inf', '+inf', 'LIMIT', '0', limit)
  for i = 1, #places do
    if most <= 0 then return false end
    if places[i] == owner then return true end
    if not gone[places[i]] and not owners[places[i]] then most = most - 1 end
  end
  return false
end

-- Whether a run that waits has the reservation of the slot.
local function is_kept(s, now)
  local turn = read_turn(s)
  return turn and now < turn.till and is_waiting(turn.owner)
end

-- The first of the free slots that is not reserved, or nil.
local function first_without_turn(free, now)
  for i = 1, #free do
    if not is_kept(free[i], now) then return free[i] end
  end
end

-- For a run without a place: a slot that is not reserved, or else the reserved one of a run that is
-- silent. Nil when as many runs answer as it could have slots.
local function slot_of_newcomer(free, most, now)
  most = math.min(most, #free)
  local since = text(now - NEWCOMER + 1)
  local asked = read(7, 'ZRANGEBYSCORE', since, '+inf', 'LIMIT', '0', tostring(most))
  if #asked >= most then return nil end
  local slot = first_without_turn(free, now)
  if slot then return slot end
  local answering = {}
  for i = 1, #asked do answering[asked[i]] = true end
  for i = 1, #free do
    if not answering[read_turn(free[i]).owner] then return free[i] end
  end
end

-- AQ6: the slot that is granted to this owner before all others, of the free ones, or nil. At most
-- `most` of them count: the request's slots.
local function next_slot(free, most, owner, ticket, now)
  if not ticket then return slot_of_newcomer(free, most, now) end
  for i = 1, #free do
    if is_reserved(free[i], owner, now) then return free[i] end
  end
  for i = 1, #free do
    local turn = read_turn(free[i])
    if turn and now >= turn.till then return free[i] end
  end
  local open = 0
  for i = 1, #free do
    if not is_kept(free[i], now) then open = open + 1 end
  end
  if not is_among_first(owner, math.min(open, most), now) then return nil end
  return first_without_turn(free, now)
end

-- Reserves the slot until then. Returns the owner to wake, '' without one.
local function reserve_until(s, till, now)
  local first = first_place(s, now)
  if first then write_turn(s, first, till) end
  return first or ''
end

-- Slots that are granted to another run than the caller: reserves one in each call, because a reply
-- can wake one run. Returns the owner to wake. L7: a backward step of the clock does not extend a
-- reservation.
local function reserve(free, now)
  local wake = ''
  for i = 1, #free do
    local turn = read_turn(free[i])
    if not turn or now < turn.till then
      local till = math.min(turn and turn.till or now + TURN, now + TURN)
      if is_kept(free[i], now) then
        if till ~= turn.till then write_turn(free[i], turn.owner, till) end
      elseif wake == '' then
        wake = reserve_until(free[i], till, now)
      end
    end
  end
  return wake
end

-- Until the first reservation ends; 0 without one.
local function until_turn(now)
  local first = 0
  for at = 1, #slot_list do
    local turn = read_turn(slot_list[at])
    if turn and now < turn.till and (first == 0 or turn.till - now < first) then
      first = turn.till - now
    end
  end
  return first
end

-- R5: the slot was released. Returns the owner to wake.
local function hand_over(s, now) return reserve_until(s, now + TURN, now) end

-- Q7: the owner waits no longer. Passes its reservation on; returns the owner to wake.
local function leave_queue(owner, ticket, now)
  if not ticket then return '' end
  put('ZREM', KEYS[6], owner)
  put('ZREM', KEYS[7], owner)
  gone[owner] = true
  for at = 1, #slot_list do
    if is_reserved(slot_list[at], owner, now) then return hand_over(slot_list[at], now) end
  end
  return ''
end
