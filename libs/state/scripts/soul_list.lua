-- soul_list: a user's souls, oldest first.
--
-- KEYS: the user's souls
-- Result: {OK, {{fields as of soul_read, token}, …}}
-- Computed keys: the souls.  Those not of our format are left out.

--@idempotent

local souls = {}
for _, token in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local fields = redis.pcall('HMGET', KEY_SOUL_PRE .. token .. KEY_SOUL_POST,
    'u', 'name', 'mbti', 'model', 'created', 'v')
  if not fields.err and fields[6] == SOUL_FORMAT then
    fields[6] = token
    souls[#souls + 1] = fields
  end
end
return { RC_OK, souls }
