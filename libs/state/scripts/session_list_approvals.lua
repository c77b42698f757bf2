-- session_list_approvals: the calls of a user that wait for an approval.
--
-- KEYS: the user's sessions
-- ARGV: user (token), how many at most
-- Result: {OK, {session, call, …}}, those of the latest sessions first
-- Computed keys: the sessions

--@idempotent
--@include lib_bucket
--@include lib_read

local found, max = {}, tonumber(ARGV[2])
for _, session in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1, 'REV')) do
  local ask = read('HGET',
    bucket_key(KEY_SESSION_PRE, ARGV[1] .. ':' .. session), 'ask')
  if type(ask) == 'string' then
    found[#found + 1], found[#found + 2] = session, ask
    if #found == 2 * max then break end
  end
end
return { RC_OK, found }
