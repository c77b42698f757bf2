-- lease_release: release a lease, if the caller holds it.
--
-- KEYS: lease
-- ARGV: owner
-- Result: OK

if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
return RC_OK
