-- mind_link_put: store the newest suggestion to the next turns.
--
-- KEYS: nav, mind link
-- ARGV: cycle, mind_link (JSON)
-- Result: {OK}, {CONFLICT} if the cycle has ended, or its soul was deleted

--@idempotent

local call = redis.call
if call('HGET', KEYS[1], 'id') ~= ARGV[1] then return { RC_CONFLICT } end
call('HSET', KEYS[1], 'since', '0')
call('SET', KEYS[2], ARGV[2], 'PX', "MIND_LINK_TTL_MS")
return { RC_OK }
