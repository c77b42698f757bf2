-- soul_state_swap_log: compare and set a soul's state, and log the change.
--
-- KEYS: state, log, and the record of a turn that is to say so (optional)
-- ARGV: the head it must have, new string, entry, the most entries, their
--       lifetime (ms)
-- Result: 1 if it was set, 2 if the turn's record says so, too; else the string
--         that is stored, or nil

-- One command trims the log: by age at each 16th version, else by length.

--@include lib_clock

local call = redis.call
local fields = KEYS[3] and call('HMGET', KEYS[3], 'v', 'end') or {}
local stored = call('GET', KEYS[1])
if not stored or string.sub(stored, 1, 9) ~= ARGV[1] then return stored end
call('SET', KEYS[1], ARGV[2])
local by, limit = 'MAXLEN', ARGV[4]
if string.byte(ARGV[1], 9) % 16 == 0 then
  by, limit = 'MINID', string.format('%d', clock() - tonumber(ARGV[5]))
end
call('XADD', KEYS[2], by, limit, '*', 'e', ARGV[3])
call('PEXPIRE', KEYS[2], ARGV[5])
if not fields[1] or fields[2] then return 1 end
call('HSET', KEYS[3], 'saved', '1')
return 2
