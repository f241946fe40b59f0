-- SPDX-License-Identifier: Apache-2.0
-- What the verbs share. The reference is src/store/rules*.cc: the scripts decide the same, and the
-- property test in tests/scripts compares both. Needs Redis 6.2 or newer. A user needs EVAL, EVALSHA
-- and TIME, and on the keys below the prefix: TYPE HMGET HSET ZMSCORE ZCARD ZRANGEBYSCORE ZADD ZREM
-- ZREMRANGEBYRANK PTTL PEXPIRE PERSIST. docs/operations.md has the same list.
--
-- KEYS of every verb except revoke (which has the first two):
--   1 record  hash: the last grant (fields below)
--   2 stats   hash: <counter>|<job> -> whole number
--   3 groups  zset: attempt group -> kept for a day after this time (us)
--   4 once    zset: run identity of the caller's job -> when it was finished (us)
--   5 seen    zset: <owner>:<attempt>:<answer> -> kept until (us)
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

-- Raises the error that the server returned for a command. The texts of 6.2, 7.0 and 7.2 differ, and
-- most do not name the command.
local function refused(command, key, answer)
  local said = answer.err
  local function says(part) return string.find(said, part, 1, true) end
  if says('WRONGTYPE') then poisoned(key, 'type') end
  if says('Unknown Redis command') then error({err = 'CRONLATCH_NO_COMMAND ' .. command}) end
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

-- The validated record; its state is 'none' when there is no record.
local loaded
local function load_record()
  local v = read(1, 'HMGET', unpack(FIELDS))
  if not v[1] and read(1, 'TYPE')['ok'] == 'none' then
    loaded = {state = 'none', fence = 0, ttl = 0}
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
  local state = r.state
  if state ~= 'free' and state ~= 'held' and state ~= 'revoked' and state ~= 'cooling' then
    poisoned(KEYS[1], 'state')
  end
  if r.slots ~= 1 then poisoned(KEYS[1], 'slots') end
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
-- field is "<fence>:<length>". A value with another fence was left by a version that does not know
-- the field, and is ignored.
local function crash_hold(r)
  local raw = read(1, 'HMGET', 'min_hold')[1]
  if not raw then return 0 end
  local fence, length = string.match(raw, '^(%d+):(%d+)$')
  fence, length = whole(fence), whole(length)
  if not fence or not length then poisoned(KEYS[1], 'min_hold') end
  return fence == r.fence and r.acquired + length or 0
end

-- Why a caller that is not the holder lost the lock.
local function why_not_ours(r, fence)
  if r.state == 'none' or r.fence < fence or (fence ~= 0 and r.born > fence) then return 'gone' end
  return 'taken'
end

-- ---- planning ----

local plan = {}
local function put(...) plan[#plan + 1] = {...} end

-- State and counters do not expire while a grant is open; then they are kept for 90 days (G7).
-- Neither command is refused when memory is full, so a verb that plans it first works at maxmemory
-- (G2).
local function keep(key, r)
  if r.state == 'held' then put('PERSIST', key) else put('PEXPIRE', key, KEEP_MS) end
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

-- Plans to replace the record `old` by `new`. A record that did not exist is born now. Returns the
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
  if new.min_hold > 0 then
    write[#write + 1] = 'min_hold'
    write[#write + 1] = text(new.fence) .. ':' .. text(new.min_hold)
  end
  plan[#plan + 1] = write
  put('PERSIST', KEYS[1])
  remember_group(new.group, false, now)
  local index = new.day ~= old.day and '1' or '0'
  old.day = new.day
  return index
end

-- The fields that the verb counts, each at most once, and by how much; a stamp is a field and a text.
local counted, growth, stamp = {}, {}, {}
local function count(job, name, by)
  counted[#counted + 1] = name .. '|' .. job
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

-- ---- writing ----

-- True once the rights to everything that is planned have been checked.
local rights_checked = false

-- An access list checks only the command and the key here. The first command needs no check: when it
-- is refused, nothing is written yet.
local function commit()
  if redis.acl_check_cmd and not rights_checked then
    for i = 2, #plan do require_right(plan[i][1], plan[i][2]) end
  end
  for i = 1, #plan do
    local answer = redis.pcall(unpack(plan[i]))
    if type(answer) == 'table' and answer.err then refused(plan[i][1], plan[i][2], answer) end
  end
end

-- Runs a verb. An error becomes the reply and starts with its code: before 7.0 the position in the
-- script is in front, and before 7.2 a refusal inside a script has no code.
local function run(verb)
  local fine, result = pcall(verb)
  if fine then
    if entered then result[3] = '1' end
    return result
  end
  local said = type(result) == 'table' and result.err or tostring(result)
  said = string.gsub(said, '^@[^:]*: %d+: ', '')
  said = string.gsub(said, '^%-', '')
  said = string.gsub(said, '%s+$', '')
  if string.find(said, 'user executing the script', 1, true) then
    said = 'NOPERM ' .. string.gsub(said, '^ERR ', '')
  elseif string.find(said, 'redis.acl_check_cmd()', 1, true) then
    said = 'CRONLATCH_NO_COMMAND ' .. required
  elseif not string.find(said, '^[%u_]+ ') then
    said = 'ERR cronlatch: ' .. said
  end
  return {err = said}
end
