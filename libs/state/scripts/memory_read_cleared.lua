-- memory_read_cleared: when all memories were forgotten last.
--
-- KEYS: as lib_memory
-- Result: {OK, when (ms; 0: never)}

--@idempotent
--@include lib_record

record(KEYS[1], MEMORY_FORMAT)
return { RC_OK, redis.call('HGET', KEYS[1], 'cleared') or 0 }
