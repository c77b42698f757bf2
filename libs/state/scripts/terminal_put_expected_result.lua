-- terminal_put_expected_result: store a result that is expected, if it is the
-- first.
--
-- KEYS: result, terminal
-- ARGV: format, JSON
-- Result: {OK, 1 if it is the first, else 0, note}, NOENT if none is expected

local stored = redis.call('GET', KEYS[1])
if not stored then return RC_NOENT end
if string.sub(stored, 1, 1) ~= RESULT_PENDING then
  return { RC_OK, 0, '' }
end
redis.call('HDEL', KEYS[2], 'ref:r')
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', RESULT_TTL_MS)
return { RC_OK, 1, string.sub(stored, 2) }
