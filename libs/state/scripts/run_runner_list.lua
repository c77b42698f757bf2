-- run_runner_list: the runners, and what they offer.
--
-- KEYS: runners, what they offer
-- Result: {OK, now (ms), {runner, until when it is alive (ms), …}, {what each
--         offers}}

--@idempotent
--@include lib_now

local all = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
local ids, offers = {}, {}
for i = 1, #all, 2 do ids[#ids + 1] = all[i] end
if #ids > 0 then offers = redis.call('HMGET', KEYS[2], unpack(ids)) end
return { RC_OK, now, all, offers }
