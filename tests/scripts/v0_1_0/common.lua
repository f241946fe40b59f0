-- SPDX-License-Identifier: Apache-2.0
-- What the verbs share. The reference is src/store/rules*.cc: the scripts say the same, and the
-- property test in tests/scripts holds both together. Redis 6.2 or newer. A user needs, on the keys
-- below the prefix: EVAL TIME TYPE HMGET HSET ZMSCORE ZCARD ZRANGEBYSCORE ZADD ZREM ZREMRANGEBYRANK
-- PTTL PEXPIRE PERSIST.
--
-- KEYS of every verb but revoke (which has the first two):
--   1 record  hash: the last grant (fields below)
--   2 stats   hash: <counter>|<job> -> whole number
--   3 groups  zset: attempt group -> when it was granted (us)
--   4 once    zset: run identity of the caller's job -> when it was finished (us)
--   5 seen    zset: <owner>:<attempt>:<answer> -> remembered until (us)
--
-- Order of every verb: read the clock once, validate what is stored, decide, plan the writes, check
-- that we may write all of it, write. Nothing that can fail follows the first write, because Redis
-- does not roll back. So a key is read before it is written, if only for its type; one that the
-- verb has no need of is left alone. (Before 7.0 a script cannot ask its ACL: there a user who
-- lacks one of the commands above can tear a record.)
-- A lock costs its server mostly what the scripts allocate: few closures, tables and texts.
-- All times and lengths are microseconds, below 2^53, so that Lua's numbers hold them exactly.
-- A reply is an array of strings: verdict, server's now, index (1: enter the lock in the index),
-- then the verdict's own.

if redis.replicate_commands then redis.replicate_commands() end

local MAX = 9007199254740991
local DAY = 86400000000
local MINUTE = 60000000
local KEEP_MS = '7776000000'
local PURGE = 100

-- The tests replace this line to make time virtual.
local function read_clock() local t = redis.call('TIME') return t[1] * 1000000 + t[2] end

-- Lua would print 16 digits as 1.76369e+15. %d takes a quarter of the time of %.0f, but is a long
-- in C: too short on a server of 32 bits.
local WHOLE = string.format('%d', MAX) == '9007199254740991' and '%d' or '%.0f'
local function text(n) return string.format(WHOLE, n) end

local function poisoned(key, field)
  error({err = 'CRONLATCH_POISONED ' .. key .. ' ' .. field})
end

-- A whole number without sign or leading zero, or nil.
local function whole(s)
  if s == '0' then return 0 end
  local n = s and string.find(s, '^[1-9]%d*$') and tonumber(s)
  return n and n <= MAX and n or nil
end

local function argument(i)
  local n = whole(ARGV[i])
  if not n then error({err = 'ERR cronlatch: argument ' .. i .. ' is no whole number'}) end
  return n
end

-- ---- reading ----

-- What the command says of key i. It checks the key's type by itself.
local function read(i, command, ...)
  local answer = redis.pcall(command, KEYS[i], ...)
  if type(answer) ~= 'table' or not answer.err then return answer end
  if string.find(answer.err, 'WRONGTYPE', 1, true) then poisoned(KEYS[i], 'type') end
  error(answer)
end

local FIELDS = {'state', 'owner', 'holder', 'job', 'group', 'once', 'attempt', 'fence', 'stole',
                'acquired', 'expires', 'ttl', 'born', 'day', 'slots'}
local TEXTS = 6

-- The record, validated; state 'none' when there is no record.
local function load_record()
  local v = read(1, 'HMGET', unpack(FIELDS))
  if not v[1] and read(1, 'TYPE')['ok'] == 'none' then
    return {state = 'none', fence = 0, ttl = 0}
  end
  local r = {
    state = v[1], owner = v[2], holder = v[3], job = v[4], group = v[5], once = v[6],
    attempt = whole(v[7]), fence = whole(v[8]), stole = whole(v[9]), acquired = whole(v[10]),
    expires = whole(v[11]), ttl = whole(v[12]), born = whole(v[13]), day = whole(v[14]),
    slots = whole(v[15]),
  }
  for i = 1, #FIELDS do
    if not r[FIELDS[i]] then poisoned(KEYS[1], FIELDS[i]) end
  end
  local state = r.state
  if state ~= 'free' and state ~= 'held' and state ~= 'revoked' and state ~= 'cooling' then
    poisoned(KEYS[1], 'state')
  end
  if r.slots ~= 1 then poisoned(KEYS[1], 'slots') end
  if r.fence < 1 or r.fence >= MAX then poisoned(KEYS[1], 'fence') end
  return r
end

-- The members' dates in sorted set i; 0 for one that is not there.
local function dates(i, ...)
  local found = read(i, 'ZMSCORE', ...)
  for at = 1, #found do
    local n = tonumber(found[at] or 0)
    if not n or n < 0 or n > MAX then poisoned(KEYS[i], (select(at, ...))) end
    found[at] = n
  end
  return unpack(found)
end

-- The counters of these fields; one that was never counted is zero.
local function counters(fields)
  local values = read(2, 'HMGET', unpack(fields))
  for i, raw in ipairs(values) do
    values[i] = whole(raw or '0') or poisoned(KEYS[2], fields[i])
  end
  return values
end

-- L7: after a backward step of the clock nothing waits longer than it was meant to.
local function clamp(r, now)
  if r.state == 'none' or r.state == 'free' or r.expires <= now + r.ttl then return end
  r.expires, r.clamped = now + r.ttl, true
end

-- Why a caller that is not the holder lost the lock.
local function why_not_ours(r, fence)
  if r.state == 'none' or (fence ~= 0 and r.born > fence) then return 'gone' end
  return 'taken'
end

-- ---- planning ----

local plan = {}
local function put(...) plan[#plan + 1] = {...} end

-- State and counters live as long as a grant is open, then 90 days (G7). Neither command is refused
-- when memory is full, so a verb that plans it first survives maxmemory (G2).
local function keep(key, r)
  if r.state == 'held' then put('PERSIST', key) else put('PEXPIRE', key, KEEP_MS) end
end

-- Plans to drop at most PURGE members dated at or before `limit`; returns how many.
local function purge(i, limit)
  local old = read(i, 'ZRANGEBYSCORE', '-inf', text(limit), 'LIMIT', '0', tostring(PURGE))
  if #old > 0 then put('ZREM', KEYS[i], unpack(old)) end
  return #old
end

-- Plans to date a member of sorted set i, and to keep the set for `life` at least.
local function enter(i, member, date, life)
  put('ZADD', KEYS[i], text(date), member)
  put('PEXPIRE', KEYS[i], text(math.max(math.ceil(life / 1000), read(i, 'PTTL'))))
end

local seen_purged = false
local function remember(claim, answer, now, ttl)
  local life = math.max(10 * MINUTE, 2 * ttl)
  if not seen_purged then purge(5, now) end
  seen_purged = true
  enter(5, claim .. ':' .. answer, now + life, life)
end

-- Plans to make `new` the record in place of `old`; one that was not there is born now. Returns the
-- index flag.
local function seat(old, new, now)
  new.born, new.day, new.slots = old.born or now, math.floor(now / DAY), 1
  local write = {'HSET', KEYS[1]}
  for i, name in ipairs(FIELDS) do
    local value = new[name]
    if value ~= old[name] or old.state == 'none' then
      write[#write + 1] = name
      write[#write + 1] = i > TEXTS and text(value) or value
    end
  end
  plan[#plan + 1] = write
  put('PERSIST', KEYS[1])
  if new.group ~= '' then
    purge(3, now - DAY)
    enter(3, new.group, now, DAY)
  end
  return new.day ~= old.day and '1' or '0'
end

-- What the verb counts, a field once at most, and by how much; a stamp is a field and a text.
local counted, growth, stamp = {}, {}, {}
local function count(job, name, by)
  counted[#counted + 1] = name .. '|' .. job
  growth[#counted] = by or 1
end

-- Plans to write the counters, all at once, and how long they live. Last before commit().
local function post(r)
  if #counted > 0 then
    local write = {'HSET', KEYS[2], unpack(stamp)}
    for i, before in ipairs(counters(counted)) do
      if before + growth[i] > MAX then poisoned(KEYS[2], counted[i]) end
      write[#write + 1] = counted[i]
      write[#write + 1] = text(before + growth[i])
    end
    plan[#plan + 1] = write
  else
    local kind = read(2, 'TYPE')['ok']
    if kind ~= 'none' and kind ~= 'hash' then poisoned(KEYS[2], 'type') end
  end
  keep(KEYS[2], r)
end

-- ---- writing ----

-- Command and key are all that an access list looks at here. The first command needs no leave: when
-- it is refused nothing is written yet.
local function commit()
  for i = 2, redis.acl_check_cmd and #plan or 0 do
    local command, key = plan[i][1], plan[i][2]
    if not redis.acl_check_cmd(command, key) then
      error({err = 'NOPERM this user may not run ' .. command .. ' on ' .. key})
    end
  end
  for i = 1, #plan do redis.call(unpack(plan[i])) end
end

-- Runs a verb. An error becomes the reply, its code in front: before 7.0 the place in the script
-- comes first, and before 7.2 a refusal inside a script has no code of its own.
local function run(verb)
  local fine, result = pcall(verb)
  if fine then return result end
  local said = type(result) == 'table' and result.err or tostring(result)
  said = string.gsub(said, '^@[^:]*: %d+: ', '')
  said = string.gsub(said, '^%-', '')
  said = string.gsub(said, '%s+$', '')
  if string.find(said, 'user executing the script', 1, true) then
    said = 'NOPERM ' .. string.gsub(said, '^ERR ', '')
  elseif not string.find(said, '^[%u_]+ ') then
    said = 'ERR cronlatch: ' .. said
  end
  return {err = said}
end
