-- lib_session_pending: what turns have left open in a session (field late).
--
-- set_pending(session, text): '-': leave it as it is, '': delete it.

local function set_pending(session, text)
  if text == '' then
    redis.call('HDEL', session, 'late')
  elseif text ~= '-' then
    redis.call('HSET', session, 'late', text)
  end
end
