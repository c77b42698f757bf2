-- turn_detail_read: read what a turn did.
--
-- KEYS: turn's details
-- Result: {OK, details}, {NOENT}

--@idempotent
--@include lib_record

if not record(KEYS[1], TURN_DETAIL_FORMAT) then return { RC_NOENT } end
return { RC_OK, redis.call('HGET', KEYS[1], 'd') }
