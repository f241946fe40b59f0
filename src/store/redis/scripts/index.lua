-- SPDX-License-Identifier: Apache-2.0
-- Index: enters a lock's name, and drops names of locks whose state has expired, at most 100 of
-- them. Not a verb: it has no part of common.lua and no reply that counts.
-- KEYS: the index, a zset: lock -> when it was entered (us)
-- ARGV: 1 now  2 lock  3 the newest time at which a dropped name was entered

redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[3], 'LIMIT', '0', '100')
if #old > 0 then redis.call('ZREM', KEYS[1], unpack(old)) end
