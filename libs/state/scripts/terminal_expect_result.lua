-- terminal_expect_result: expect a result, if the terminal is reachable.
--
-- KEYS: terminal, result
-- ARGV: ttl (ms), broker, note
-- Result: {OK, 1 if it is reachable, else 0}

--@include lib_terminal_reachable

if reachable then
  redis.call('SET', KEYS[2], RESULT_PENDING .. ARGV[3],
    'NX', 'PX', RESULT_TTL_MS)
end
return { RC_OK, reachable and 1 or 0 }
