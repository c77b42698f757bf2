-- credential_list: one page of the terminals that have an identity.
--
-- KEYS: all credentials, or those of a tenant
-- ARGV: the token before the page ('': none), limit
-- Result: {OK, the page's last token or nil, {token, …}}

--@idempotent

local from, limit = '-', tonumber(ARGV[2])
if ARGV[1] ~= '' then from = '(' .. ARGV[1] end
local tokens = redis.call('ZRANGEBYLEX', KEYS[1], from, '+', 'LIMIT', 0,
  limit + 1)
local last = #tokens > limit and tokens[limit] or false
if last then tokens[#tokens] = nil end
return { RC_OK, last, tokens }
