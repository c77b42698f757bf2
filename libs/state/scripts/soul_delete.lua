-- soul_delete: delete a soul and unbind its terminals.
--
-- KEYS: soul, its state, its terminals, the user's souls, their names, ticks,
--       its log
-- ARGV: user, soul (tokens)
-- Result: {OK, {tokens of unbound terminals}}, NOENT, DENIED
-- Computed keys: the terminals; see lib_terminal_unbind.

--@include lib_record
--@include lib_terminal_unbind

local call, soul = redis.call, ARGV[2]
if not record(KEYS[1], SOUL_FORMAT) then
  return RC_NOENT
end
local fields = call('HMGET', KEYS[1], 'u', 'name')
if fields[1] ~= ARGV[1] then return RC_DENIED end
local terminals, unbound = call('SMEMBERS', KEYS[3]), {}
call('ZREM', KEYS[6], soul)
call('ZREM', KEYS[4], soul)
if fields[2] and call('HGET', KEYS[5], fields[2]) == soul then
  call('HDEL', KEYS[5], fields[2])
end
for _, terminal in ipairs(terminals) do
  local key = KEY_TERMINAL_PRE .. terminal .. KEY_TERMINAL_POST
  if redis.pcall('HGET', key, 's') == soul then
    unbind(key, terminal)
    unbound[#unbound + 1] = terminal
  end
end
call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[7])
return { RC_OK, unbound }
