-- credential_list: one page of identities.
--
-- KEYS: all credentials, or those of a tenant
-- ARGV: the token before the page ('': none), limit
-- Result: {OK, the page's last token or nil, {fields as of credential_read,
--         token}, …}
-- Computed keys: the credentials.  Those not of our format are left out.

--@idempotent

local from, limit = '-', tonumber(ARGV[2])
if ARGV[1] ~= '' then from = '(' .. ARGV[1] end
local tokens = redis.call('ZRANGEBYLEX', KEYS[1], from, '+', 'LIMIT', 0,
  limit + 1)
local result = { RC_OK, #tokens > limit and tokens[limit] or false }
for i = 1, math.min(#tokens, limit) do
  local fields = redis.pcall('HMGET',
    KEY_CREDENTIAL_PRE .. tokens[i] .. KEY_CREDENTIAL_POST,
    'ten', 'u', 'h', 'created', 'changed', 'gone', 'v')
  if not fields.err and fields[7] == CREDENTIAL_FORMAT then
    fields[7] = tokens[i]
    result[#result + 1] = fields
  end
end
return result
