-- SPDX-License-Identifier: Apache-2.0
-- The option strict: no grant until the leases that a failover may have lost have ended (AQ7). A
-- server gets a new replication id when it is promoted, and when it starts. Only a strict request has
-- them; a lock that shares the key of another program is never strict:
-- KEYS: 9 epoch  hash of the prefix: replid (the last known id), since (us; 0: the first epoch)
-- ARGV: the last two: length of the quarantine (us), the most replicas that may be connected or ''

local EPOCH = 9

-- The replication id and the connected replicas of this server.
local function replication()
  local info = redis.pcall('INFO', 'replication')
  if type(info) == 'table' then refused('INFO', '', info) end
  local id = string.match(info, 'master_replid:(%x+)')
  local replicas = tonumber(string.match(info, 'connected_slaves:(%d+)'))
  if not id or not replicas then error({err = 'CRONLATCH_NO_COMMAND INFO'}) end
  return id, replicas
end

-- Returns how long the quarantine lasts (us), 0 without one. Plans to record a new epoch, which also
-- follows a backward step of the clock to before its start. A quarantine without its key is a new one.
local function quarantine(now)
  if PEER or not KEYS[EPOCH] then return 0 end
  local id, replicas = replication()
  local most = whole(ARGV[#ARGV])
  if most and replicas > most then
    error({err = 'CRONLATCH_REPLICAS ' .. replicas .. ' replicas are connected, min-replicas is ' .. most})
  end
  local known = read(EPOCH, 'HMGET', 'replid', 'since')
  local since = whole(known[2])
  if redis.acl_check_cmd then require_right('HSET', KEYS[EPOCH]) end
  if known[1] ~= id or not since or since > now then
    since = now
    put('HSET', KEYS[EPOCH], 'replid', id, 'since', text(since))
  end
  return math.max(0, since + argument(#ARGV - 1) - now)
end
