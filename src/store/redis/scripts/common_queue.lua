-- SPDX-License-Identifier: Apache-2.0
-- Waiting in order: places, and the reservation of a free lock for the first run that waits (Q1 to Q7,
-- AQ6, AQ8). Nothing is executed before commit(), so each function considers what is planned.
-- A reservation is the field `turn` of the record: "<fence>:<until>:<owner>". A value with another
-- fence is void. Version 0.1.0 ignores it.

-- A run that waits sends a request at least every 2.2 s. Without one for this time its place is dead.
local PLACE = 6000000
-- A run without a place is granted a free lock when no other run has sent a request to wait for this
-- time.
local NEWCOMER = 3000000
local TURN = 2000000
local AHEAD = 100
local QUEUE_MS = '600000'

-- What open_queue() found: dead places, and those dated after the present time.
local dead, gone, later = {}, {}, {}

-- The ticket of the owner; nil without a live place. Once, and first, in each call that needs the
-- queue. AQ8, Q4: the owner's own place can be dead, too.
local function open_queue(owner, now)
  if read(6, 'ZCARD') + read(7, 'ZCARD') == 0 then return nil end
  local most = tostring(PURGE)
  dead = read(7, 'ZRANGEBYSCORE', '-inf', text(now - PLACE), 'LIMIT', '0', most)
  later = read(7, 'ZRANGEBYSCORE', text(now + 1), '+inf', 'LIMIT', '0', most)
  for i = 1, #dead do gone[dead[i]] = true end
  local ticket, asked = dates(6, owner), dates(7, owner)
  if asked <= now - PLACE and (ticket > 0 or asked > 0) and not gone[owner] then
    dead[#dead + 1], gone[owner] = owner, true
  end
  return ticket > 0 and not gone[owner] and ticket or nil
end

-- Plans to remove the dead places. After a backward step of the clock the others live from now on.
local function write_queue(now)
  if #dead > 0 then
    put('ZREM', KEYS[6], unpack(dead))
    put('ZREM', KEYS[7], unpack(dead))
  end
  if #later == 0 then return end
  local write = {'ZADD', KEYS[7]}
  for i = 1, #later do
    write[#write + 1] = text(now)
    write[#write + 1] = later[i]
  end
  plan[#plan + 1] = write
end

local function first_place()
  local places = read(6, 'ZRANGEBYSCORE', '-inf', '+inf', 'LIMIT', '0', tostring(#dead + 2))
  for i = 1, #places do
    if not gone[places[i]] then return places[i] end
  end
end

local function is_waiting(owner) return not gone[owner] and dates(6, owner) > 0 end

-- The reservation, or nil.
local function read_turn(r)
  local raw = read(1, 'HMGET', 'turn')[1]
  if not raw then return nil end
  local fence, till, owner = string.match(raw, '^(%d+):(%d+):(.*)$')
  fence, till = whole(fence), whole(till)
  if not fence or not till or #raw > LONGEST then poisoned(KEYS[1], 'turn') end
  return fence == r.fence and {till = till, owner = owner} or nil
end

local function write_turn(r, owner, till)
  put('HSET', KEYS[1], 'turn', text(r.fence) .. ':' .. text(till) .. ':' .. owner)
end

-- AQ6: whether a free lock is granted to this owner before all others.
local function is_next(r, owner, ticket, now)
  if not ticket then
    local since = text(now - NEWCOMER + 1)
    return #read(7, 'ZRANGEBYSCORE', since, '+inf', 'LIMIT', '0', '1') == 0
  end
  local turn = read_turn(r)
  if turn and now >= turn.till then return true end
  if turn and is_waiting(turn.owner) then return turn.owner == owner end
  return first_place() == owner
end

-- Reserves the lock until then. Returns the owner to wake, '' without one.
local function reserve_until(r, till)
  local first = first_place()
  if first then write_turn(r, first, till) end
  return first or ''
end

-- A free lock that is granted to another run than the caller. Returns the end of the reservation and
-- the owner to wake. L7: a backward step of the clock does not extend a reservation.
local function reserve(r, now)
  local turn = read_turn(r)
  if not turn then
    local wake = reserve_until(r, now + TURN)
    return wake ~= '' and now + TURN or now, wake
  end
  if now >= turn.till then return turn.till, '' end
  local till = math.min(turn.till, now + TURN)
  if not is_waiting(turn.owner) then return till, reserve_until(r, till) end
  if till ~= turn.till then write_turn(r, turn.owner, till) end
  return till, ''
end

-- R5: the lock was released. Returns the owner to wake.
local function hand_over(r, now) return reserve_until(r, now + TURN) end

-- Q7: the owner waits no longer. Passes its reservation on; returns the owner to wake.
local function leave_queue(r, owner, ticket, now)
  if not ticket then return '' end
  put('ZREM', KEYS[6], owner)
  put('ZREM', KEYS[7], owner)
  gone[owner] = true
  local turn = read_turn(r)
  if not turn or turn.owner ~= owner or now >= turn.till then return '' end
  return hand_over(r, now)
end

-- The owner waits. Returns how many places are before its own.
local function keep_place(owner, ticket, now)
  local tail = not ticket and newest_date(6, owner, now)
  put('ZADD', KEYS[7], text(now), owner)
  if tail then put('ZADD', KEYS[6], text(tail), owner) end
  put('PEXPIRE', KEYS[6], QUEUE_MS)
  put('PEXPIRE', KEYS[7], QUEUE_MS)
  local places = read(6, 'ZRANGEBYSCORE', '-inf', '(' .. text(ticket or tail), 'LIMIT', '0',
                      tostring(AHEAD + #dead))
  local before = 0
  for i = 1, #places do
    if not gone[places[i]] then before = before + 1 end
  end
  return math.min(before, AHEAD)
end
