-- turn_detail_list: the summaries of a user's turns, the newest first.
--
-- KEYS: the user's list
-- ARGV: user (token), where the page before ended (ms, token) or '+inf', '';
--       how many at most
-- Result: {OK, {summary, …}, where this page ends (ms:token; '': no more)}
-- Computed keys: the turns' details.

--@idempotent
--@include lib_bucket
--@include lib_newest
--@include lib_read

local found = {}
local next = newest_page(KEYS[1], ARGV[2], ARGV[3], tonumber(ARGV[4]),
  function(turn)
    local f = read('HMGET',
      bucket_key(KEY_TURN_DETAIL_PRE, ARGV[1] .. ':' .. turn), 'v', 's')
    if not f.err and f[1] == TURN_DETAIL_FORMAT then
      found[#found + 1] = f[2]
    end
  end)
return { RC_OK, found, next }
