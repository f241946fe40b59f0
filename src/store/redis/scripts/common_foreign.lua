-- SPDX-License-Identifier: Apache-2.0
-- The key of another program that shares the lock (src/core/shared_key.h). The last of KEYS, when
-- KEYS[1] is "<prefix>{<key>}:<format>". Rights on it: GET SET DEL PTTL. The record's field `shared`
-- is the value that the last grant wrote: any other value belongs to the other program, and is never
-- overwritten while it excludes other runs.
--   cronlock  the time at which the key is free, in seconds since 1970, by the clock of a client.
--             The lock is free a minute later. A grant writes a time that is far ahead, so that the
--             clock of no client can reach it; the key expires with the lease.
--   redlock   a value that only its holder knows. A grant writes its fence, which authorizes nothing.

local FORMAT = string.match(KEYS[1], '}:(%l+)$')
local PEER = FORMAT and KEYS[#KEYS]
-- In seconds: cronlock's own default, and up to a day more, which depends on the fence. The same time
-- for every grant would be the value of a cronlock that writes the key in the same second.
local RELEASE, SPREAD = 86401, 86400
-- In seconds: as microseconds it is below 2^53.
local LATEST = 9000000000

-- state: absent, ours, past (of another program, no longer in effect), held (of another program)
-- left: how long it excludes other runs, at most; 0: unknown
-- is_no_string: the key has a type that no program writes
local peer = {state = 'absent', written = '', left = 0}

local function name_of_peer() return 'another program (' .. FORMAT .. ' key)' end
local function impossible() error({err = 'CRONLATCH_FOREIGN_KEY ' .. PEER}) end
local function is_peers() return peer.state == 'held' or peer.state == 'past' end

-- With `now` it also reads how long another program's value is in effect. `is_strict`: a value that
-- the other program cannot have written is an error.
local function read_peer(r, now, is_strict)
  if r.state ~= 'none' then peer.written = read(1, 'HMGET', 'shared')[1] or '' end
  local value = redis.pcall('GET', PEER)
  if type(value) == 'table' then
    if not string.find(value.err, 'WRONGTYPE', 1, true) then refused('GET', PEER, value) end
    if is_strict then impossible() end
    peer.state, peer.is_no_string = 'held', true
    return
  end
  if not value then return end
  peer.state = value == peer.written and value ~= '' and 'ours' or 'held'
  if peer.state == 'ours' or not now then return end
  local life = tonumber(read(#KEYS, 'PTTL')) * 1000
  peer.left = math.max(0, life)
  if FORMAT == 'redlock' then return end
  local ends = whole(value)
  if not ends then
    if is_strict then impossible() end
    return
  end
  local left = math.min(ends, LATEST) * 1000000 + MINUTE - now
  if left <= 0 then peer.state = 'past' end
  peer.left = math.max(0, life < 0 and left or math.min(left, life))
end

-- Plans to write the key for `life`; returns the value, for the record.
local function claim_peer(fence, now, life)
  local value = FORMAT == 'redlock' and 'cronlatch:' .. text(fence)
      or text(math.floor(now / 1000000) + RELEASE + fence % SPREAD)
  put('SET', PEER, value, 'PX', text(math.ceil(life / 1000)))
  return value
end

-- Plans to remove the key, or to keep it for the rest of a min-hold; only if no other program wrote
-- it.
local function release_peer(r, now, rest)
  local written = ''
  if rest > 0 and not is_peers() then
    written = FORMAT == 'redlock' and 'cronlatch:' .. text(r.fence)
        or text(math.floor((now + rest) / 1000000) + 1)
    put('SET', PEER, written, 'PX', text(math.ceil(rest / 1000)))
  elseif peer.state == 'ours' then
    put('DEL', PEER)
  end
  put('HSET', KEYS[1], 'shared', written)
end
