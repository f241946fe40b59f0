-- SPDX-License-Identifier: Apache-2.0
-- Several slots (docs/decisions/0041-slots.md). A slot has at most one grant. The record is the first
-- slot. The others are the fields "2" to "<slots>" of KEYS[SLOTS], which exists, and is read, only while
-- the record's field `slots` is above 1. Version 0.1.0 refuses such a record. A slot without a field
-- was not granted yet: its state is 'none'. The text of a field is
--   <state> <attempt> <fence> <stole> <acquired> <expires> <ttl> <min_hold> <end of its reservation>
-- and the lengths of six texts, each followed by a space, then the texts: owner, holder, job, group,
-- once, owner of the reservation.
-- The first slot has no `at`. A changed slot is written by commit().

local SLOTS = KEYS[8] and 8 or 3
local PACKED = '^(%l+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) ()'

-- The slots of the lock. `slots`, also in records and requests, is their number.
local slot_list = {}

local function unpack_slot(at, raw)
  local w = {string.match(raw, PACKED)}
  local from, texts = w[16], {}
  if not from then poisoned(KEYS[SLOTS], at) end
  for i = 2, 15 do
    w[i] = whole(w[i])
    if not w[i] then poisoned(KEYS[SLOTS], at) end
  end
  for i = 1, 6 do
    local till = from + w[9 + i]
    texts[i], from = string.sub(raw, from, till - 1), till
    if w[9 + i] > LONGEST then poisoned(KEYS[SLOTS], at) end
  end
  local is_granted = w[1] ~= 'none'
  if from ~= #raw + 1 or is_granted and not is_state(w[1]) or is_granted ~= (w[3] > 0) or w[3] >= MAX then
    poisoned(KEYS[SLOTS], at)
  end
  return {
    at = at, state = w[1], attempt = w[2], fence = w[3], stole = w[4], acquired = w[5],
    expires = w[6], ttl = w[7], min_hold = w[8], owner = texts[1], holder = texts[2],
    job = texts[3], group = texts[4], once = texts[5],
    turn = w[9] > 0 and {till = w[9], owner = texts[6]} or false,
  }
end

local function pack_slot(s)
  local turn = s.turn or {till = 0, owner = ''}
  local words = {s.state, text(s.attempt), text(s.fence), text(s.stole), text(s.acquired),
                 text(s.expires), text(s.ttl), text(s.min_hold), text(turn.till)}
  local texts = {s.owner, s.holder, s.job, s.group, s.once, turn.owner}
  for i = 1, 6 do words[#words + 1] = tostring(#texts[i]) end
  return table.concat(words, ' ') .. ' ' .. table.concat(texts)
end

local function new_slot(at)
  return {
    at = at, state = 'none', attempt = 0, fence = 0, stole = 0, acquired = 0, expires = 0, ttl = 0,
    min_hold = 0, owner = '', holder = '', job = '', group = '', once = '', turn = false,
  }
end

-- The slots of the record; the first is the record itself.
local function load_slots(r)
  slot_list = {r}
  if r.state == 'none' or r.slots == 1 then return end
  local names = {}
  for at = 2, r.slots do names[at - 1] = tostring(at) end
  local found = read(SLOTS, 'HMGET', unpack(names))
  for at = 2, r.slots do
    local raw = found[at - 1]
    slot_list[at] = raw and unpack_slot(at, raw) or new_slot(at)
  end
end

-- Plans another number of slots: none but the first has a grant. Nothing that an earlier record
-- left is read again. PEXPIRE removes the key, because no user needs the right to DEL for it.
local function set_slots(first, slots)
  put('PEXPIRE', KEYS[SLOTS], '0')
  slot_list = {first}
  for at = 2, slots do slot_list[at] = new_slot(at) end
end

is_open = function(first)
  if first.state == 'held' then return true end
  for at = 2, #slot_list do
    if slot_list[at].state == 'held' then return true end
  end
  return false
end

-- Plans to write the changed slots.
local function write_slots()
  if #slot_list < 2 then return end
  local write = {'HSET', KEYS[SLOTS]}
  for at = 2, #slot_list do
    local s = slot_list[at]
    if s.changed or s.clamped then
      write[#write + 1] = tostring(at)
      write[#write + 1] = pack_slot(s)
    end
  end
  if #write > 2 then plan[#plan + 1] = write end
  if #plan > 0 then keep(KEYS[SLOTS], slot_list[1]) end
end
