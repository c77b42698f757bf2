-- soul_list: a user's souls, oldest first.
--
-- KEYS: the user's souls
-- ARGV: user (token)
-- Result: {OK, {{fields as of soul_read, token}, …}}
-- Computed keys: the souls.  Those not of our format are left out.

--@idempotent
--@include lib_bucket
--@include lib_read

local souls = {}
for _, token in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local fields = read('HMGET',
    bucket_key(KEY_SOUL_PRE, ARGV[1] .. ':' .. token),
    'u', 'name', 'mbti', 'model', 'created', 'v')
  if not fields.err and fields[6] == SOUL_FORMAT then
    fields[6] = token
    souls[#souls + 1] = fields
  end
end
return { RC_OK, souls }
