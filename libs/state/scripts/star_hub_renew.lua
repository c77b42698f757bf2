-- star_hub_renew: a hub is alive, and which others are.
--
-- KEYS: hubs
-- ARGV: hub, how long it is alive (ms), whether it is new (0, 1), whether
--       others that have not renewed that are dead from now on (0, 1)
-- Result: {OK, {hub, time (ms) of its newest renewal or 0 if dead, …}},
--         CONFLICT if the hub is dead

--@include lib_now

local call, hubs, hub = redis.call, KEYS[1], ARGV[1]
local score = call('ZSCORE', hubs, hub)
if score == '0' or not score and ARGV[3] == '0' then return RC_CONFLICT end
call('ZADD', hubs, string.format('%d', now), hub)
local all = call('ZRANGE', hubs, 0, -1, 'WITHSCORES')
if ARGV[4] == '1' then
  for i = 2, #all, 2 do
    local at = tonumber(all[i])
    if at > 0 and at + ARGV[2] < now then
      call('ZADD', hubs, '0', all[i - 1])
      all[i] = '0'
    end
  end
end
return { RC_OK, all }
