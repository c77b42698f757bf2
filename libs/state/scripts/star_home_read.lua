-- star_home_read: where a soul lives.
--
-- KEYS: its home
-- Result: {OK, {tenant, room (tokens), environment, agent, terminal, at (ms)}},
--         {NOENT}

--@idempotent
--@include lib_record

if not record(KEYS[1], STAR_FORMAT) then return { RC_NOENT } end
return { RC_OK,
  redis.call('HMGET', KEYS[1], 't', 'r', 'env', 'agent', 'term', 'at') }
