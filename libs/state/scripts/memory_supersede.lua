-- memory_supersede: another memory has replaced this one.
--
-- KEYS: as lib_memory
-- ARGV: id, made (ms), valid until (ms), JSON, how long the id stays forgotten
--       (ms), the most tombstones, the most superseded memories, 1: it must be
--       among the items
-- Result: OK, NOENT, CONFLICT if it was forgotten or superseded before

--@include lib_now
--@include lib_memory
--@include lib_memory_tombstone
--@include lib_memory_forgotten

if is_forgotten(ARGV[1], ARGV[2]) then return RC_CONFLICT end
-- A key of another type must fail before the first write.
call('ZCARD', KEYS[6])
local deleted = call('HDEL', KEYS[2], ARGV[1])
if deleted == 0 and ARGV[8] == '1' then return RC_NOENT end
call('ZREM', KEYS[3], ARGV[1])
call('HDEL', KEYS[5], ARGV[1])
call('ZADD', KEYS[6], ARGV[3], ARGV[1])
call('HSET', KEYS[7], ARGV[1], ARGV[4])
for _ = 1, call('ZCARD', KEYS[6]) - tonumber(ARGV[7]) do
  call('HDEL', KEYS[7], call('ZPOPMIN', KEYS[6])[1])
end
add_tombstone(ARGV[1], tonumber(ARGV[5]), tonumber(ARGV[6]))
bump_version()
return RC_OK
