-- SPDX-License-Identifier: Apache-2.0
-- Acquire, before a grant: the types, values and rights that the renewals and the release of this run
-- need, and the uptime of a server of a quorum.

-- The counters of a job that renew, restore and release of a run read, and those that revoke and the
-- next acquire change.
local COUNTERS = {
  'acquired', 'released', 'stolen', 'revoked', 'restored', 'lost', 'long', 'runs_succeeded',
  'runs_failed', 'runs_timed_out', 'runs_lost', 'runs_cannot_start', 'hold_ms', 'hold_0', 'hold_1',
  'hold_2', 'hold_3', 'hold_4', 'hold_5', 'hold_6', 'hold_7', 'hold_8', 'hold_9', 'hold_10',
  'hold_11', 'hold_12', 'hold_13',
}

local function require_rights(i, ...)
  for at = 1, select('#', ...) do require_right((select(at, ...)), KEYS[i]) end
end

-- Checks the server's access list (7.0 and newer). HMGET and ZMSCORE are not listed: each grant runs
-- them on all keys that it needs.
local function require_listed_rights(q)
  require_right('EVALSHA', '', '0')
  require_right('EVAL', '', '0')
  for i = 1, 2 do require_rights(i, 'TYPE', 'HSET', 'PERSIST', 'PEXPIRE') end
  for i = 3, 5 do
    if (i ~= 3 or q.group ~= '') and (i ~= 4 or q.once ~= '') then
      require_rights(i, 'ZRANGEBYSCORE', 'ZADD', 'ZREM', 'PTTL', 'PEXPIRE')
      if i ~= 5 then require_rights(i, 'ZCARD', 'ZREMRANGEBYRANK') end
    end
  end
  for i = 6, 7 do require_rights(i, 'ZRANGEBYSCORE', 'ZADD', 'ZREM', 'PEXPIRE') end
  if q.slots > 1 or loaded.slots > 1 then require_rights(SLOTS, 'HSET', 'PERSIST', 'PEXPIRE') end
  if PEER then require_rights(#KEYS, 'SET', 'DEL', 'PTTL') end
end

-- For servers whose access list a script cannot read: reads, and writes that change nothing. ZADD is
-- first, because only it is refused when memory is full. At the end `seen` expires when it did before.
local function try_commands(q)
  read(1, 'TYPE')
  read(5, 'ZRANGEBYSCORE', '0', '0', 'LIMIT', '0', '1')
  local life = tonumber(read(5, 'PTTL'))
  life = life > 0 and text(life) or KEEP_MS
  put('ZADD', KEYS[5], 'XX', '0', ':')
  put('ZREM', KEYS[5], ':')
  for i = 6, 7 do
    read(i, 'ZRANGEBYSCORE', '0', '0', 'LIMIT', '0', '1')
    put('ZADD', KEYS[i], 'XX', '0', ':')
    put('ZREM', KEYS[i], ':')
  end
  for i = 3, 4 do
    if (i == 3 and q.group or q.once) ~= '' then
      read(i, 'ZCARD')
      put('ZREMRANGEBYRANK', KEYS[i], '1', '0')
    end
  end
  put('PEXPIRE', KEYS[5], life)
  put('PERSIST', KEYS[5])
  put('PEXPIRE', KEYS[5], life)
  -- The key does not exist, or its value is no longer in effect: the grant writes it next.
  if PEER then
    read(#KEYS, 'PTTL')
    put('DEL', PEER)
  end
end

-- Runs before the first plan of a grant, so that a granted run can be renewed and released: the
-- counters are valid and can grow (post checks them), the keys have the right types, and the rights
-- are granted.
local function preflight(q, is_repeated)
  for i = 1, #COUNTERS do guarded[i] = COUNTERS[i] .. '|' .. q.job end
  if q.group ~= '' then dates(3, q.group) end
  read(6, 'ZCARD')
  read(7, 'ZCARD')
  crash_hold(loaded)
  if redis.acl_check_cmd then
    require_listed_rights(q)
    rights_checked = true
  elseif not is_repeated then
    try_commands(q)
  end
end

-- Of a server of a quorum; nil for others.
local function server_info(q)
  if q.min_uptime == 0 then return nil end
  local answer = redis.pcall('INFO', 'server')
  if type(answer) == 'table' and answer.err then refused('INFO', '', answer) end
  return answer
end

-- A server of a quorum that started recently may have lost the record. Only a record from before the
-- start proves that it has not. INFO counts whole seconds.
local function require_uptime(r, q, info, now)
  local uptime = tonumber(string.match(info, 'uptime_in_seconds:(%d+)'))
  if uptime and uptime >= q.min_uptime then return end
  if not uptime or r.state == 'none' or r.born > now - (uptime + 1) * 1000000 then
    error({err = 'CRONLATCH_RESTARTED ' .. q.min_uptime})
  end
end
