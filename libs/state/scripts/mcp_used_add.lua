-- mcp_used_add: a session has used a tool.
--
-- KEYS: the user's used tools
-- ARGV: session, server and tool, the most entries, for how long they are
--       stored after the newest (ms)
-- Result: {OK}

--@include lib_now

local call = redis.call
call('ZADD', KEYS[1], now, ARGV[1])
call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[2]))
call('PEXPIRE', KEYS[1], ARGV[3])
return { RC_OK }
