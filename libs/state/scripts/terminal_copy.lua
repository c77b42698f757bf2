-- terminal_copy: until when a terminal is present, for the ticks of its soul.
--
-- KEYS: the soul's terminals, soul, ticks
-- ARGV: user:soul, terminal (tokens), until (ms; 0: it is not present), as of
--       when (ms), broker
-- Result: {OK, 1 if the soul is the first of its bucket to tick, else 0},
--         NOENT if the soul's bucket does not know of the binding

--@include lib_body

if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0
  or redis.call('EXISTS', KEYS[2]) == 0 then
  return RC_NOENT
end
return { RC_OK, put_body({ KEYS[1], KEYS[3] }, ARGV[1], ARGV[2],
  { ARGV[3], ARGV[4], ARGV[5] }) }
