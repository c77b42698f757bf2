-- memory_set_vectors: set the vectors of those memories that still exist.
--
-- KEYS: as lib_memory
-- ARGV: id, vector, …
-- Result: OK

--@include lib_memory

for i = 1, #ARGV, 2 do
  if call('HEXISTS', KEYS[2], ARGV[i]) == 1 then
    call('HSET', KEYS[5], ARGV[i], ARGV[i + 1])
  end
end
bump_version()
return RC_OK
