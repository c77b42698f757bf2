-- memory_check_tombstone: whether a memory was forgotten since it was made.
--
-- KEYS: as lib_memory
-- ARGV: id, made (ms)
-- Result: OK, CONFLICT if it was

--@idempotent
--@include lib_memory
--@include lib_memory_forgotten

if is_forgotten(ARGV[1], ARGV[2]) then return RC_CONFLICT end
return RC_OK
