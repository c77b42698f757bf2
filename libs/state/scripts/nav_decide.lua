-- nav_decide: store what a cycle has decided, and extend its claim.
--
-- KEYS: nav, due
-- ARGV: user:soul (tokens), cycle, lease (ms), output ('': extend only)
-- Result: {OK, the output that is stored or ''}, {CONFLICT} if the cycle has
--         ended
--
-- The first output counts, so that a cycle that is continued by another process
-- has the effects of one.

--@idempotent
--@include lib_now

local call = redis.call
local f = call('HMGET', KEYS[1], 'id', 'out')
if f[1] ~= ARGV[2] then return { RC_CONFLICT } end
call('ZADD', KEYS[2], 'XX', string.format('%d', now + ARGV[3]), ARGV[1])
if not f[2] and ARGV[4] ~= '' then call('HSET', KEYS[1], 'out', ARGV[4]) end
return { RC_OK, f[2] or ARGV[4] }
