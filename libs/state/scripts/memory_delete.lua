-- memory_delete: delete a memory, current or superseded.
--
-- KEYS: as lib_memory
-- ARGV: id, how long it stays forgotten (ms; 0: not at all), the most
--       tombstones
-- Result: OK, NOENT

--@include lib_now
--@include lib_memory
--@include lib_memory_tombstone

local ttl = tonumber(ARGV[2])
-- Keys of another type must fail before the first write.
call('ZCARD', KEYS[3])
call('ZCARD', KEYS[4])
if call('HDEL', KEYS[2], ARGV[1]) + call('ZREM', KEYS[6], ARGV[1]) == 0 then
  return RC_NOENT
end
call('ZREM', KEYS[3], ARGV[1])
call('HDEL', KEYS[5], ARGV[1])
call('HDEL', KEYS[7], ARGV[1])
if ttl > 0 then add_tombstone(ARGV[1], ttl, tonumber(ARGV[3])) end
bump_version()
return RC_OK
