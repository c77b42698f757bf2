-- credential_change_end: the change of an identity has ended.
--
-- KEYS: changing, version, sets of which the terminal is no member any more …
-- ARGV: terminal (token), when it began (µs), 1: it was changed, 0: it was not
-- Result: OK
--
-- A later change of the same terminal has an entry of its own.

local call, terminal = redis.call, ARGV[1]
for i = 3, #KEYS do call('ZREM', KEYS[i], terminal) end
if ARGV[3] == '1' then call('INCR', KEYS[2]) end
if tonumber(call('ZSCORE', KEYS[1], terminal) or '') == tonumber(ARGV[2]) then
  call('ZREM', KEYS[1], terminal)
end
return RC_OK
