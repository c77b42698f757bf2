-- memory_add_tombstone: an id, of a memory stored elsewhere, stays forgotten.
--
-- KEYS: as lib_memory
-- ARGV: id, for how long (ms), the most tombstones
-- Result: OK

--@include lib_now
--@include lib_memory
--@include lib_memory_tombstone

add_tombstone(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]))
return RC_OK
