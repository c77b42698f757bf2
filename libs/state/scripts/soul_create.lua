-- soul_create: create a soul.
--
-- KEYS: soul, its state, the user's souls, their names, the user's deletions
-- ARGV: user, soul (tokens), name, mbti, model, created (ms), state, the most
--       souls
-- Result: OK, CONFLICT if its id or name is taken, AGAIN if there are too many

local call = redis.call
if call('EXISTS', KEYS[1], KEYS[2]) > 0
  or call('HEXISTS', KEYS[5], ARGV[2]) == 1 then
  return RC_CONFLICT
end
if call('HEXISTS', KEYS[4], ARGV[3]) == 1 then return RC_CONFLICT end
if call('ZCARD', KEYS[3]) >= tonumber(ARGV[8]) then
  return RC_RETRY
end
call('HSET', KEYS[1], 'v', SOUL_FORMAT, 'u', ARGV[1], 'name', ARGV[3],
  'mbti', ARGV[4], 'model', ARGV[5], 'created', ARGV[6])
call('SET', KEYS[2], ARGV[7])
call('ZADD', KEYS[3], ARGV[6], ARGV[2])
call('HSET', KEYS[4], ARGV[3], ARGV[2])
return RC_OK
