-- SPDX-License-Identifier: Apache-2.0
-- What the verbs share. The reference is src/store/rules*.cc: the scripts say the same, and the
-- property test in tests/scripts holds both together. Redis 6.2 or newer. A user needs, on the keys
-- below the prefix: EVAL TIME TYPE HMGET HGET HSET HINCRBY ZSCORE ZCARD ZRANGEBYSCORE ZADD ZREM
-- ZREMRANGEBYRANK PTTL PEXPIRE PERSIST.
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
-- does not roll back. (Before 7.0 a script cannot ask its ACL: there a user who lacks one of the
-- commands above can tear a record.)
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

-- Lua would print 16 digits as 1.76369e+15.
local function text(n) return string.format('%.0f', n) end

local function poisoned(key, field)
  error({err = 'CRONLATCH_POISONED ' .. key .. ' ' .. field})
end

-- A whole number as HINCRBY would accept it (no sign, no leading zero), or nil.
local function whole(s)
  if type(s) ~= 'string' or #s > 16 then return nil end
  if s ~= '0' and not string.find(s, '^[1-9]%d*$') then return nil end
  local n = tonumber(s)
  if n > MAX then return nil end
  return n
end

local function argument(i)
  local n = whole(ARGV[i])
  if not n then error({err = 'ERR cronlatch: argument ' .. i .. ' is no whole number'}) end
  return n
end

-- ---- reading ----

local function check_types()
  local expected = {'hash', 'hash', 'zset', 'zset', 'zset'}
  for i = 1, #KEYS do
    local kind = redis.call('TYPE', KEYS[i])['ok']
    if kind ~= 'none' and kind ~= expected[i] then poisoned(KEYS[i], 'type') end
  end
end

local TEXTS = {'state', 'owner', 'holder', 'job', 'group', 'once'}
local NUMBERS = {'attempt', 'fence', 'stole', 'acquired', 'expires', 'ttl', 'born', 'day',
                 'slots'}
local STATES = {free = true, held = true, revoked = true, cooling = true}

-- The record, validated; state 'none' when there is no record.
local function load_record()
  local absent = {state = 'none', fence = 0, ttl = 0}
  if redis.call('TYPE', KEYS[1])['ok'] == 'none' then return absent end
  local r = {}
  local values = redis.call('HMGET', KEYS[1], unpack(TEXTS))
  for i, name in ipairs(TEXTS) do
    if not values[i] then poisoned(KEYS[1], name) end
    r[name] = values[i]
  end
  values = redis.call('HMGET', KEYS[1], unpack(NUMBERS))
  for i, name in ipairs(NUMBERS) do
    r[name] = whole(values[i])
    if not r[name] then poisoned(KEYS[1], name) end
  end
  if not STATES[r.state] then poisoned(KEYS[1], 'state') end
  if r.slots ~= 1 then poisoned(KEYS[1], 'slots') end
  if r.fence < 1 or r.fence >= MAX then poisoned(KEYS[1], 'fence') end
  return r
end

local function score_of(key, member)
  local raw = redis.call('ZSCORE', key, member)
  if not raw then return nil end
  local n = tonumber(raw)
  if not n or n < 0 or n > MAX then poisoned(key, member) end
  return n
end

-- Was this final answer given to the claim (C2, R3)?
local function answered(owner, attempt, answer, now)
  local till = score_of(KEYS[5], owner .. ':' .. text(attempt) .. ':' .. answer)
  return till ~= nil and now < till
end

local function is_alive(r, now) return now < r.expires end

-- L7: after a backward step of the clock nothing waits longer than it was meant to.
local function clamp(r, now)
  if r.state == 'none' or r.state == 'free' then return end
  if r.expires > now + r.ttl then
    r.expires = now + r.ttl
    r.clamped = true
  end
end

-- Why a caller that is not the holder lost the lock.
local function why_not_ours(r, fence)
  if r.state == 'none' then return 'gone' end
  if fence ~= 0 and r.born > fence then return 'gone' end
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

local function live_at_least(key, ms)
  put('PEXPIRE', key, text(math.max(ms, redis.call('PTTL', key))))
end

local function counter(job, name)
  local field = name .. '|' .. job
  local raw = redis.call('HGET', KEYS[2], field)
  if not raw then return 0 end
  local n = whole(raw)
  if not n then poisoned(KEYS[2], field) end
  return n
end

local function count(job, name, by)
  by = by or 1
  if counter(job, name) + by > MAX then poisoned(KEYS[2], name .. '|' .. job) end
  put('HINCRBY', KEYS[2], name .. '|' .. job, text(by))
end

local function stamp(job, name, now) put('HSET', KEYS[2], name .. '|' .. job, text(now)) end

-- Plans to drop at most PURGE members dated at or before `limit`; returns how many.
local function purge(key, limit)
  local old = redis.call('ZRANGEBYSCORE', key, '-inf', text(limit), 'LIMIT', '0', tostring(PURGE))
  if #old > 0 then put('ZREM', key, unpack(old)) end
  return #old
end

local seen_purged = false
local function remember(owner, attempt, answer, now, ttl)
  local life = math.max(10 * MINUTE, 2 * ttl)
  if not seen_purged then purge(KEYS[5], now) end
  seen_purged = true
  put('ZADD', KEYS[5], text(now + life), owner .. ':' .. text(attempt) .. ':' .. answer)
  live_at_least(KEYS[5], math.ceil(life / 1000))
end

local function remember_group(group, now)
  if group == '' then return end
  purge(KEYS[3], now - DAY)
  put('ZADD', KEYS[3], text(now), group)
  live_at_least(KEYS[3], DAY / 1000)
end

-- Makes `r`, filled in by the caller, the record; a new one is born now. Returns the index flag.
local function seat(r, now)
  local today = math.floor(now / DAY)
  local index = today ~= r.day and '1' or '0'
  put('HSET', KEYS[1], 'state', r.state, 'owner', r.owner, 'attempt', text(r.attempt),
      'holder', r.holder, 'job', r.job, 'group', r.group, 'once', r.once,
      'fence', text(r.fence), 'stole', text(r.stole), 'acquired', text(r.acquired),
      'expires', text(r.expires), 'ttl', text(r.ttl), 'born', text(r.born or now),
      'day', text(today), 'slots', '1')
  put('PERSIST', KEYS[1])
  remember_group(r.group, now)
  return index
end

-- ---- writing ----

local function commit()
  if redis.acl_check_cmd then
    for _, command in ipairs(plan) do
      if not redis.acl_check_cmd(unpack(command)) then
        error({err = 'NOPERM this user may not run ' .. command[1] .. ' on ' .. command[2]})
      end
    end
  end
  for _, command in ipairs(plan) do redis.call(unpack(command)) end
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
