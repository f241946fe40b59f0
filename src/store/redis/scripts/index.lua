-- SPDX-License-Identifier: Apache-2.0
-- Index: enters a lock's name, and removes at most 100 names of locks whose state has expired. It is
-- not a verb: it does not contain the common files, and its reply is ignored.
-- KEYS: the index, a zset: lock -> when it was entered (us)
-- ARGV: 1 now  2 lock  3 names entered at or before this time are removed

redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[3], 'LIMIT', '0', '100')
if #old > 0 then redis.call('ZREM', KEYS[1], unpack(old)) end
