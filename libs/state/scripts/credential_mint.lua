-- credential_mint: give a terminal an identity.
--
-- KEYS: credential, all credentials, version, terminal, those of the tenant
--       (if there is one)
-- ARGV: terminal, tenant, user (tokens; '': none), hash ('': none), created
--       (ms)
-- Result: {OK, the previous user or nil}, CONFLICT
-- Computed keys: the credentials of the previous tenant; see
--       lib_terminal_unbind.
--
-- A binding stays only when the terminal gets its first identity, and only if
-- it was made by the user the identity is for: a new identity has a new owner.

--@include lib_record
--@include lib_credential_unbind

local call, key, terminal = redis.call, KEYS[1], ARGV[1]
local existed = record(key, CREDENTIAL_FORMAT)
local previous = call('HMGET', key, 'gone', 'ten')
if existed and previous[1] ~= '1' then return RC_CONFLICT end
-- Keys of another type must fail before the first write.
call('ZCARD', KEYS[2])
if KEYS[5] then call('ZCARD', KEYS[5]) end
call('INCR', KEYS[3])
if previous[2] then
  call('ZREM', KEY_TENANT_TERMINALS_PRE .. previous[2]
    .. KEY_TENANT_TERMINALS_POST, terminal)
end
call('DEL', key)
call('HSET', key, 'v', CREDENTIAL_FORMAT, 'created', ARGV[5],
  'changed', ARGV[5])
for i, field in ipairs({ 'ten', 'u', 'h' }) do
  if ARGV[i + 1] ~= '' then call('HSET', key, field, ARGV[i + 1]) end
end
call('ZADD', KEYS[2], 0, terminal)
if KEYS[5] then call('ZADD', KEYS[5], 0, terminal) end
local bound_by = redis.pcall('HGET', KEYS[4], 'u')
redis.pcall('HDEL', KEYS[4], 'gone')
local from = false
if existed or (ARGV[3] ~= '' and bound_by ~= ARGV[3]) then
  from = unbind_safely(KEYS[4], terminal)
end
return { RC_OK, from }
