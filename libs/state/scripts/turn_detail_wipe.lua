-- turn_detail_wipe: delete what all turns of a user did.
--
-- KEYS: the user's list
-- ARGV: user (token)
-- Result: {OK}
-- Computed keys: the turns' details.

--@idempotent
--@include lib_bucket
--@include lib_read

local keys = {}
for i, turn in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  keys[i] = bucket_key(KEY_TURN_DETAIL_PRE, ARGV[1] .. ':' .. turn)
  read('EXISTS', keys[i])
end
for _, key in ipairs(keys) do redis.call('DEL', key) end
redis.call('DEL', KEYS[1])
return { RC_OK }
