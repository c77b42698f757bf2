-- soul_state_swap_log: compare and set a soul's state, and log the change.
--
-- KEYS: state, log
-- ARGV: the head it must have, new string, entry, the most entries, their
--       lifetime (ms)
-- Result: 1 if it was set, else 0

--@include lib_clock

local call = redis.call
if call('GETRANGE', KEYS[1], 0, 8) ~= ARGV[1] then return 0 end
call('SET', KEYS[1], ARGV[2])
call('XADD', KEYS[2], 'MAXLEN', ARGV[4], '*', 'e', ARGV[3])
call('XTRIM', KEYS[2], 'MINID', now - tonumber(ARGV[5]))
call('PEXPIRE', KEYS[2], ARGV[5])
return 1
