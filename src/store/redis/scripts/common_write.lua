-- SPDX-License-Identifier: Apache-2.0
-- Writing: the commands of the plan, and the errors of a verb.

-- True once the rights to everything that is planned have been checked.
local rights_checked = false

-- An access list checks only the command and the key here. The first command needs no check: when it
-- is refused, nothing is written yet.
local function commit()
  write_slots()
  if redis.acl_check_cmd and not rights_checked then
    for i = 2, #plan do require_right(plan[i][1], plan[i][2]) end
  end
  for i = 1, #plan do
    local answer = redis.pcall(unpack(plan[i]))
    if type(answer) == 'table' and answer.err then refused(plan[i][1], plan[i][2], answer) end
  end
end

-- Runs a verb. An error becomes the reply and starts with its code: before 7.0 the position in the
-- script is in front, and before 7.2 a refusal inside a script has no code. Valkey 9 names the function
-- server.acl_check_cmd().
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
  elseif string.find(said, '.acl_check_cmd()', 1, true) then
    said = 'CRONLATCH_NO_COMMAND ' .. required
  elseif not string.find(said, '^[%u_]+ ') then
    said = 'ERR cronlatch: ' .. said
  end
  return {err = said}
end
