-- user_entry_put: set an entry of a user's hash, which has a limit of them.
--
-- KEYS: the hash
-- ARGV: field, value, the most fields
-- Result: {OK}, {RETRY} if there are too many

local call = redis.call
if call('HEXISTS', KEYS[1], ARGV[1]) == 0 and
    call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then
  return { RC_RETRY }
end
call('HSET', KEYS[1], ARGV[1], ARGV[2])
return { RC_OK }
