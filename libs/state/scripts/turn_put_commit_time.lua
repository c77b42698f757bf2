-- turn_put_commit_time: how long it took to store the end of a turn.
--
-- KEYS: turn
-- ARGV: us
-- Result: OK, also if the record has expired

--@idempotent

if redis.call('HEXISTS', KEYS[1], 'end') == 1 then
  redis.call('HSET', KEYS[1], 'commit', ARGV[1])
end
return RC_OK
