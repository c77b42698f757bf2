-- turn_detail_list: the summaries of a user's turns, the newest first.
--
-- KEYS: the user's list
-- ARGV: user (token), where the page before ended (ms, token) or '+inf', '';
--       how many at most
-- Result: {OK, {summary, …}, where this page ends (ms:token; '': no more)}
-- Computed keys: the turns' details.

--@idempotent
--@include lib_bucket
--@include lib_read

local ties = 16 -- turns that may have begun in one millisecond
local max, found, next = tonumber(ARGV[4]), {}, ''
local all = redis.call('ZRANGE', KEYS[1], ARGV[2], '-inf', 'BYSCORE', 'REV',
  'LIMIT', 0, max + ties + 1, 'WITHSCORES')
local seen, more = 0, false
for i = 1, #all, 2 do
  local turn, at = all[i], string.format('%.0f', tonumber(all[i + 1]))
  if at ~= ARGV[2] or turn < ARGV[3] then
    if seen == max then
      more = true
      break
    end
    seen = seen + 1
    next = at .. ':' .. turn
    local f = read('HMGET',
      bucket_key(KEY_TURN_DETAIL_PRE, ARGV[1] .. ':' .. turn), 'v', 's')
    if not f.err and f[1] == TURN_DETAIL_FORMAT then
      found[#found + 1] = f[2]
    end
  end
end
return { RC_OK, found, more and next or '' }
