-- memory_read_superseded: superseded memories, by the end of their validity.
--
-- KEYS: as lib_memory
-- Result: {OK, {id, …}, {JSON, …}}

--@idempotent
--@include lib_record

record(KEYS[1], MEMORY_FORMAT)
local ids = redis.call('ZRANGE', KEYS[6], 0, -1)
if #ids == 0 then return { RC_OK, {}, {} } end
return { RC_OK, ids, redis.call('HMGET', KEYS[7], unpack(ids)) }
