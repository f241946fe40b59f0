-- SPDX-License-Identifier: Apache-2.0
-- `cronlatch store init`: records the first epoch of a prefix, so that a new installation begins
-- without a quarantine. An epoch that exists is never changed.
-- KEYS: 1 epoch
-- Replies: created now 0
--          present now 0 known(0|1): whether it is the epoch of this server

local function init()
  local now, id = read_clock(), replication()
  local known = read(1, 'HMGET', 'replid', 'since')
  if known[1] or known[2] then return {'present', text(now), '0', known[1] == id and '1' or '0'} end
  put('HSET', KEYS[1], 'replid', id, 'since', '0')
  commit()
  return {'created', text(now), '0'}
end

return run(init)
