-- SPDX-License-Identifier: Apache-2.0
-- Planning: each function appends commands to `plan`, which commit() executes.

local plan = {}
local function put(...) plan[#plan + 1] = {...} end

-- State and counters do not expire while a grant is open; then they are kept for 90 days (G7).
-- Neither command is refused when memory is full, so a verb that plans it first works at maxmemory
-- (G2).
local is_open
local function keep(key, r)
  if is_open(r) then put('PERSIST', key) else put('PEXPIRE', key, KEEP_MS) end
end

-- Plans to keep the record. It is not refused when memory is full, so that nothing after it fails.
local touched = false
local function touch(r)
  if not touched then keep(KEYS[1], r) end
  touched = true
end

-- Plans to drop at most PURGE members dated at or before `limit`; returns how many.
local function purge(i, limit)
  local old = read(i, 'ZRANGEBYSCORE', '-inf', text(limit), 'LIMIT', '0', tostring(PURGE))
  if #old > 0 then put('ZREM', KEYS[i], unpack(old)) end
  return #old
end

-- Plans to date a member of sorted set i, and to keep the set for at least `life`.
local function enter(i, member, date, life)
  put('ZADD', KEYS[i], text(date), member)
  put('PEXPIRE', KEYS[i], text(math.max(math.ceil(life / 1000), read(i, 'PTTL'))))
end

-- Plans to record the day on which the lock was last used. On a new day the lock is entered in the
-- index again (run() sets the flag).
local entered = false
local function date_record(now)
  local day = math.floor(now / DAY)
  if not loaded.day or loaded.day == day then return end
  put('HSET', KEYS[1], 'day', text(day))
  loaded.day, entered = day, true
end

-- `wanted`, or the later date that makes the member the newest of sorted set i after a backward step
-- of the clock. A bounded set drops its oldest members, and the new member must not be among them.
-- The newest member is read only after such a step, because ZRANGEBYSCORE walks over all others.
local function newest_date(i, member, wanted)
  if #read(i, 'ZRANGEBYSCORE', text(wanted), '+inf', 'LIMIT', '0', '1') == 0 then return wanted end
  local last = tostring(read(i, 'ZCARD') - 1)
  local newest = read(i, 'ZRANGEBYSCORE', '-inf', '+inf', 'WITHSCORES', 'LIMIT', last, '1')
  local date = tonumber(newest[2])
  if not date or date >= MAX then poisoned(KEYS[i], newest[1]) end
  return newest[1] == member and date or date + 1
end

-- Plans to date a member of sorted set i, to drop the members dated at or before `limit`, and to keep
-- the `most` newest of the others.
local function enter_bounded(i, member, date, life, limit, most)
  local size = read(i, 'ZCARD') - purge(i, limit)
  if size >= most and dates(i, member) <= math.max(0, limit) then size = size + 1 end
  enter(i, member, date, life)
  local excess = math.min(size - most, PURGE)
  if excess > 0 then put('ZREMRANGEBYRANK', KEYS[i], '0', tostring(excess - 1)) end
end

-- L5: a group that may be retried is kept for 35 days, a group that succeeded for one day. Version
-- 0.1.0 keeps a group for a day after its date, so the date is 34 days ahead.
local function remember_group(group, finished, now)
  if group == '' then return end
  local date = finished and now or newest_date(3, group, now + 34 * DAY)
  enter_bounded(3, group, date, finished and DAY or 35 * DAY, now - DAY, GROUPS)
end

local seen_purged = false
local function remember(claim, answer, now, ttl)
  local life = math.max(10 * MINUTE, 2 * ttl)
  if not seen_purged then purge(5, now) end
  seen_purged = true
  enter(5, claim .. ':' .. answer, now + life, life)
  date_record(now)
end

-- The fields that the verb counts, and by how much; a stamp is a field and a text.
local counted, growth, stamp = {}, {}, {}
local function count(job, name, by)
  local field = name .. '|' .. job
  for i = 1, #counted do
    if counted[i] == field then
      growth[i] = growth[i] + (by or 1)
      return
    end
  end
  counted[#counted + 1] = field
  growth[#counted] = by or 1
end

-- Further counters that post() reads and validates, with room to grow.
local guarded = {}

-- Plans to write all counters in one command, and their expiry. Called last before commit().
local function post(r)
  local grown = #counted
  if grown + #guarded > 0 then
    for i = 1, #guarded do counted[grown + i] = guarded[i] end
    local before = counters(counted)
    for i = 1, #counted do
      local room = growth[i] or ROOM
      if before[i] > MAX - room then poisoned(KEYS[2], counted[i]) end
    end
    if grown > 0 then
      local write = {'HSET', KEYS[2], unpack(stamp)}
      for i = 1, grown do
        write[#write + 1] = counted[i]
        write[#write + 1] = text(before[i] + growth[i])
      end
      plan[#plan + 1] = write
    end
  else
    local kind = read(2, 'TYPE')['ok']
    if kind ~= 'none' and kind ~= 'hash' then poisoned(KEYS[2], 'type') end
  end
  keep(KEYS[2], r)
end
