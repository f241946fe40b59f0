-- SPDX-License-Identifier: Apache-2.0
-- What the verbs share: first this file, then common_{plan,slots,foreign,queue,write}.lua. The reference
-- is src/store/rules*.cc: the scripts decide the same, and the property test in tests/scripts
-- compares both. Needs Redis 6.2 or newer. A user needs EVAL, EVALSHA and TIME, and on the keys
-- below the prefix: TYPE HMGET HSET ZMSCORE ZCARD ZRANGEBYSCORE ZADD ZREM ZREMRANGEBYRANK PTTL
-- PEXPIRE PERSIST. docs/operations.md has the same list.
--
-- KEYS of every verb except revoke (which has the first two and `slots`):
--   1 record  hash: the last grant (fields below)
--   2 stats   hash: <counter>|<job> -> whole number
--   3 groups  zset: attempt group -> kept for a day after this time (us)
--   4 once    zset: run identity of the caller's job -> when it was finished (us)
--   5 seen    zset: <owner>:<attempt>:<answer> -> kept until (us)
--   6 queue   zset: owner of a run that waits -> its ticket (us)
--   7 asked   zset: the same owners -> their last request (us)
--   8 slots   hash: the other grants of a lock with several slots (common_slots.lua)
-- The last one of a lock that shares a key with another program: that key (common_foreign.lua).
--
-- Order of every verb: read the clock once, validate the stored data, decide, plan the writes, check
-- the rights to all of them, write. No step that can fail follows the first write, because Redis does
-- not roll back. So each key is read before it is written, at least for its type. A verb does not
-- touch a key that it does not need. A grant also checks what the renewals and the release of the
-- same run need (preflight). Before 7.0 a script cannot read its access list: the other verbs can
-- then write a part of a record when a right is revoked during a run.
-- Most of the server's cost of a lock is what the scripts allocate: few closures, tables and texts.
-- All times and lengths are microseconds below 2^53, which Lua's numbers represent exactly.
-- A reply is an array of strings: verdict, server's now, index (1: enter the lock in the index),
-- then the fields of the verdict.
-- Errors of the scripts: CRONLATCH_POISONED <key> <field>, CRONLATCH_NO_COMMAND <command>; NOPERM
-- names the command and the key.

if redis.replicate_commands then redis.replicate_commands() end

local MAX = 9007199254740991
local DAY = 86400000000
local MINUTE = 60000000
local KEEP_MS = '7776000000'
local PURGE = 100
-- In bytes. cronlatch stores no longer text: options have at most 200 bytes.
local LONGEST = 4096
-- The counters of a granted run can grow by at least this: the longest run in ms.
local ROOM = 1000000000000
local GROUPS = 10000
local ONCE = 128

-- The tests replace this line to make time virtual.
local function read_clock() local t = redis.call('TIME') return t[1] * 1000000 + t[2] end

-- Lua's tostring writes 16 digits as 1.76369e+15. %d needs a quarter of the time of %.0f, but is a C
-- long: too short on a 32-bit server.
local WHOLE = string.format('%d', MAX) == '9007199254740991' and '%d' or '%.0f'
local function text(n) return string.format(WHOLE, n) end

local function poisoned(key, field)
  error({err = 'CRONLATCH_POISONED ' .. key .. ' ' .. field})
end

-- The number of a text without sign and leading zero, or nil.
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

-- ---- access rights ----

local function forbidden(command, key)
  local where = key ~= '' and ' on ' .. key or ''
  error({err = 'NOPERM this user may not run ' .. command .. where})
end

-- Raises the error that the server returned for a command. The texts of 6.2, 7.0, 7.2 and Valkey 9
-- differ, and most do not name the command.
local function refused(command, key, answer)
  local said = answer.err
  local function says(part) return string.find(said, part, 1, true) end
  if says('WRONGTYPE') then poisoned(key, 'type') end
  if says('Unknown Redis command') or says('Unknown command') then
    error({err = 'CRONLATCH_NO_COMMAND ' .. command})
  end
  if says('user executing the script') or says('NOPERM') or says('ACL failure') then
    forbidden(command, key)
  end
  error(answer)
end

-- Requires that the user may run the command on the key. For a command that the server does not have,
-- Redis raises an error without the name: run() adds it.
local required
local function require_right(command, key, ...)
  required = command
  if not redis.acl_check_cmd(command, key, ...) then forbidden(command, key) end
end

-- ---- reading ----

-- The answer of the command on key i. The command checks the key's type.
local function read(i, command, ...)
  local answer = redis.pcall(command, KEYS[i], ...)
  if type(answer) == 'table' and answer.err then refused(command, KEYS[i], answer) end
  return answer
end

local FIELDS = {'state', 'owner', 'holder', 'job', 'group', 'once', 'attempt', 'fence', 'stole',
                'acquired', 'expires', 'ttl', 'born', 'day', 'slots'}
local TEXTS = 6
-- The first fields are of one grant, the others of the lock.
local OF_A_SLOT = 12

local function is_state(s) return s == 'held' or s == 'free' or s == 'cooling' or s == 'revoked' end

-- The validated record; its state is 'none' when there is no record.
local loaded
local function load_record()
  local v = read(1, 'HMGET', unpack(FIELDS))
  if not v[1] and read(1, 'TYPE')['ok'] == 'none' then
    loaded = {state = 'none', fence = 0, ttl = 0, slots = 1}
    return loaded
  end
  local r = {
    state = v[1], owner = v[2], holder = v[3], job = v[4], group = v[5], once = v[6],
    attempt = whole(v[7]), fence = whole(v[8]), stole = whole(v[9]), acquired = whole(v[10]),
    expires = whole(v[11]), ttl = whole(v[12]), born = whole(v[13]), day = whole(v[14]),
    slots = whole(v[15]),
  }
  for i = 1, #FIELDS do
    if not r[FIELDS[i]] or (i <= TEXTS and #v[i] > LONGEST) then poisoned(KEYS[1], FIELDS[i]) end
  end
  if not is_state(r.state) then poisoned(KEYS[1], 'state') end
  if r.slots < 1 or r.slots > 1000 then poisoned(KEYS[1], 'slots') end
  if r.fence < 1 or r.fence >= MAX then poisoned(KEYS[1], 'fence') end
  loaded = r
  return r
end

-- The dates of the members in sorted set i; 0 for a member that does not exist.
local function dates(i, ...)
  local found = read(i, 'ZMSCORE', ...)
  for at = 1, #found do
    local n = tonumber(found[at] or 0)
    if not n or n < 0 or n > MAX then poisoned(KEYS[i], (select(at, ...))) end
    found[at] = n
  end
  return unpack(found)
end

-- The counters of these fields; 0 for a field that does not exist.
local function counters(fields)
  local values = read(2, 'HMGET', unpack(fields))
  for i = 1, #fields do
    local raw = values[i]
    values[i] = raw and (whole(raw) or poisoned(KEYS[2], fields[i])) or 0
  end
  return values
end

-- L7: after a backward step of the clock no wait is longer than the recorded length.
local function clamp(r, now)
  if r.state == 'none' or r.state == 'free' then return end
  if r.expires > now + r.ttl then r.expires, r.clamped = now + r.ttl, true end
  if r.state == 'held' and r.acquired > now then r.acquired, r.clamped = now, true end
end

-- L0: the time until which the min-hold of a crashed holder keeps the lock closed; 0 without one. The
-- field is "<fence>:<length>". A value with another fence was left by an older version, and is
-- ignored.
local function crash_hold(r)
  if r.at then return r.acquired + r.min_hold end
  local raw = read(1, 'HMGET', 'min_hold')[1]
  if not raw then return 0 end
  local fence, length = string.match(raw, '^(%d+):(%d+)$')
  fence, length = whole(fence), whole(length)
  if not fence or not length then poisoned(KEYS[1], 'min_hold') end
  return fence == r.fence and r.acquired + length or 0
end
