-- credential_change_begin: record that an identity is about to change.
--
-- KEYS: changing, sets of which the terminal becomes a member …
-- ARGV: terminal (token)
-- Result: {OK, when it began (µs; no other change of this terminal has the
--         same), 1 if it is a new member, else 0, … of each set}

local call, terminal = redis.call, ARGV[1]
local time = call('TIME')
local us = tonumber(time[1]) * 1000000 + tonumber(time[2])
local before = tonumber(call('ZSCORE', KEYS[1], terminal) or '') or 0
us = math.max(us, before + 1)
-- Keys of another type must fail before the first write.
for i = 2, #KEYS do call('ZCARD', KEYS[i]) end
call('ZADD', KEYS[1], us, terminal)
local result = { RC_OK, us }
for i = 2, #KEYS do
  result[#result + 1] = call('ZADD', KEYS[i], 0, terminal)
end
return result
