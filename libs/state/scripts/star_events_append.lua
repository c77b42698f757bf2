-- star_events_append: append events of an environment.
--
-- KEYS: client (the environment), events
-- ARGV: hub, generation, seq of the first, the most events, JSON, …
-- Result: OK, CONFLICT if another claim has the environment

--@include lib_record

local call, client, events = redis.call, KEYS[1], KEYS[2]
if not record(client, STAR_FORMAT) then return RC_CONFLICT end
local fields = call('HMGET', client, 'hub', 'gen')
if fields[1] ~= ARGV[1] or fields[2] ~= ARGV[2] then return RC_CONFLICT end
local seq = tonumber(ARGV[3]) - 1
for i = 5, #ARGV do
  seq = seq + 1
  call('XADD', events, 'MAXLEN', '~', ARGV[4], string.format('0-%d', seq),
    'c', ARGV[2], 'e', ARGV[i])
end
call('PEXPIRE', events, "STAR_EVENTS_TTL_MS")
call('HSET', client, 'seq', string.format('%d', seq))
return RC_OK
