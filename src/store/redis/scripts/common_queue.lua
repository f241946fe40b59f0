-- SPDX-License-Identifier: Apache-2.0
-- Waiting in order: the places of the runs that wait (Q1 to Q7, AQ8). Nothing is executed before
-- commit(), so each function considers what is planned.

-- A run that waits sends a request at least every 2.2 s. Without one for this time its place is dead.
local PLACE = 6000000
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

local function is_waiting(owner) return not gone[owner] and dates(6, owner) > 0 end

-- Whether any run waits. After open_queue().
local function has_places()
  local places = read(6, 'ZRANGEBYSCORE', '-inf', '+inf', 'LIMIT', '0', tostring(#dead + 2))
  for i = 1, #places do
    if not gone[places[i]] then return true end
  end
  return false
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
