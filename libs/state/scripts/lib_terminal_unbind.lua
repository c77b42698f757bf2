-- lib_terminal_unbind: remove the binding of a terminal.
--
-- unbind(key, terminal): the terminal's key and token.  A record that held
-- nothing but the binding is deleted.  Returns the user who had bound the
-- terminal (a token), or false.
--
-- Computed keys: the terminals of that user and of the soul.

local function unbind(key, terminal)
  local binding = redis.call('HMGET', key, 'u', 's')
  if binding[1] then
    redis.call('SREM', KEY_USER_TERMINALS_PRE .. binding[1]
      .. KEY_USER_TERMINALS_POST, terminal)
  end
  if binding[2] then
    redis.call('SREM', KEY_BODIES_PRE .. binding[2]
      .. KEY_BODIES_POST, terminal)
  end
  redis.call('HDEL', key, 'u', 's')
  if redis.call('HLEN', key) == 1 then redis.call('DEL', key) end
  return binding[1]
end
