-- terminal_bind_end: record a terminal's binding in the bucket of its user.
--
-- KEYS: the user's terminals, soul, its terminals, ticks
-- ARGV: user, soul, terminal, the soul it was bound to before or '' (tokens),
--       until when it is present (ms; 0: it is not, -1: not known), as of
--       when (ms), broker
-- Result: {OK, 1 if the soul is the first of its bucket to tick, else 0},
--         NOENT if there is no such soul any more
-- Computed keys: the terminals of the soul before.

--@include lib_bucket
--@include lib_now
--@include lib_record
--@include lib_body

local call, user, soul, terminal = redis.call, ARGV[1], ARGV[2], ARGV[3]
local exists = record(KEYS[2], SOUL_FORMAT)
-- Keys of another type must fail before the first write.
call('HLEN', KEYS[1])
call('HLEN', KEYS[3])
call('ZCARD', KEYS[4])
if ARGV[4] ~= '' and ARGV[4] ~= soul then
  call('HDEL', bucket_key(KEY_BODIES_PRE, user .. ':' .. ARGV[4],
    KEY_BODIES_POST), terminal)
end
if not exists then return RC_NOENT end
call('HSET', KEYS[1], terminal, soul .. ' ' .. now)
return { RC_OK, put_body({ KEYS[3], KEYS[4] }, user .. ':' .. soul, terminal,
  { ARGV[5], ARGV[6], ARGV[7] }) }
