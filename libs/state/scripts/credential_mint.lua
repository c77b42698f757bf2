-- credential_mint: give a terminal an identity.
--
-- KEYS: credential, terminal
-- ARGV: when it began (ms), tenant, user (tokens; '': none), hash ('': none),
--       created (ms)
-- Result: {OK, the previous user or nil, its soul or nil, now (ms), the
--         previous tenant or nil}, CONFLICT, AGAIN if it began too long ago
--
-- A binding stays only when the terminal gets its first identity, and only if
-- it was made by the user the identity is for: a new identity has a new owner.

--@include lib_now
--@include lib_record
--@include lib_credential_change

local call, key = redis.call, KEYS[1]
local existed = record(key, CREDENTIAL_FORMAT)
local previous = call('HMGET', key, 'gone', 'ten')
if existed and previous[1] ~= '1' then return RC_CONFLICT end
if is_late(ARGV[1]) then return RC_RETRY end
call('DEL', key)
call('HSET', key, 'v', CREDENTIAL_FORMAT, 'created', ARGV[5],
  'changed', ARGV[5])
for i, field in ipairs({ 'ten', 'u', 'h' }) do
  if ARGV[i + 1] ~= '' then call('HSET', key, field, ARGV[i + 1]) end
end
local bound_by = redis.pcall('HGET', KEYS[2], 'u')
redis.pcall('HDEL', KEYS[2], 'gone')
local user, soul = false, false
if existed or (ARGV[3] ~= '' and bound_by ~= ARGV[3]) then
  user, soul = unbind_safely(KEYS[2])
end
return { RC_OK, user, soul, now, previous[2] }
