-- terminal_list: the terminals that a user has bound.
--
-- KEYS: the user's terminals
-- Result: {OK, {tokens}}

--@idempotent

local tokens = redis.call('SMEMBERS', KEYS[1])
return { RC_OK, tokens }
