-- star_home_leave: a soul lives nowhere any more.
--
-- KEYS: its home
-- Result: {OK, {as of star_home_read}}, {NOENT}

--@include lib_record

if not record(KEYS[1], STAR_FORMAT) then return { RC_NOENT } end
local fields = redis.call('HMGET', KEYS[1], 't', 'r', 'env', 'agent', 'term',
  'at')
redis.call('DEL', KEYS[1])
return { RC_OK, fields }
