-- memory_read_items: memories by their ids.
--
-- KEYS: as lib_memory
-- ARGV: id, …
-- Result: {OK, {JSON or nil, …}, {vector or nil, …}}

--@idempotent
--@include lib_record

record(KEYS[1], MEMORY_FORMAT)
return { RC_OK, redis.call('HMGET', KEYS[2], unpack(ARGV)),
  redis.call('HMGET', KEYS[5], unpack(ARGV)) }
