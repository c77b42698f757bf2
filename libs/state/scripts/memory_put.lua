-- memory_put: store a memory; one that is stored already does not change.
--
-- KEYS: as lib_memory
-- ARGV: id, JSON, the most items, made (ms), vector ('': none)
-- Result: OK, CONFLICT if it was forgotten since

--@include lib_memory
--@include lib_memory_forgotten

if call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return RC_OK end
if is_forgotten(ARGV[1], ARGV[4]) then return RC_CONFLICT end
local excess = call('ZCARD', KEYS[3]) + 1 - tonumber(ARGV[3])
call('ZADD', KEYS[3], call('HINCRBY', memory, 'seq', 1), ARGV[1])
call('HSET', KEYS[2], ARGV[1], ARGV[2])
if ARGV[5] ~= '' then call('HSET', KEYS[5], ARGV[1], ARGV[5]) end
for _ = 1, excess do
  local oldest = call('ZPOPMIN', KEYS[3])[1]
  call('HDEL', KEYS[2], oldest)
  call('HDEL', KEYS[5], oldest)
end
bump_version()
return RC_OK
