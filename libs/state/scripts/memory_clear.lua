-- memory_clear: forget all memories.
--
-- KEYS: as lib_memory
-- Result: {OK, how many, not counting superseded ones}

--@include lib_now
--@include lib_memory

local n = call('HLEN', KEYS[2])
call('DEL', KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7])
if n > 0 then bump_version() end
call('HSET', memory, 'v', MEMORY_FORMAT, 'cleared', now)
return { RC_OK, n }
