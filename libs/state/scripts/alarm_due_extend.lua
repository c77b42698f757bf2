-- alarm_due_extend: extend the claims of alarms and pushes that are being
-- delivered.
--
-- KEYS: due
-- ARGV: lease (ms), member, …: those that are due no more stay so
-- Result: {OK}

--@idempotent
--@include lib_now

local lease = string.format('%d', now + ARGV[1])
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', lease, ARGV[i]) end
return { RC_OK }
