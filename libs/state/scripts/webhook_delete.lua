-- webhook_delete: delete a webhook, and what waits for it.
--
-- KEYS: the user's webhooks, webhook, queue, dead, due
-- ARGV: its id, its member in due (tokens)
-- Result: {OK}, {NOENT}

local call = redis.call
local had = call('HDEL', KEYS[1], ARGV[1])
call('DEL', KEYS[2], KEYS[3], KEYS[4])
call('ZREM', KEYS[5], ARGV[2])
return { had == 1 and RC_OK or RC_NOENT }
