-- star_residents_read: the residents of an environment.
--
-- KEYS: residents
-- Result: {OK, {agent, its entry, …}, now (ms)}

--@idempotent
--@include lib_now

return { RC_OK, redis.call('HGETALL', KEYS[1]), now }
